// SPDX-License-Identifier: Apache-2.0
#include "hal/smaps.h"

#include <cinttypes>
#include <cstdlib>
#include <cstring>

namespace halyard::hal {
namespace {

constexpr uint64_t kKib = 1'024;

bool ParseHeader(const char* line, SmapsArea* area) {
  *area = {};
  char colon_or_permission = 0;
  return std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &area->begin, &area->end,
                     &colon_or_permission) == 3 &&
         (colon_or_permission == 'r' || colon_or_permission == '-');
}

void ParseField(const char* line, SmapsArea* area) {
  char key[32];
  uint64_t kib = 0;
  if (std::sscanf(line, "%31[^:]: %" SCNu64 " kB", key, &kib) == 2) {
    const auto is = [&key](const char* name) { return std::strcmp(key, name) == 0; };
    if (is("KernelPageSize")) area->page_bytes = kib * kKib;
    if (is("Rss") || is("Private_Hugetlb") || is("Shared_Hugetlb")) {
      area->present_bytes += kib * kKib;
    }
    if (is("AnonHugePages") || is("ShmemPmdMapped") || is("FilePmdMapped")) {
      area->transparent_bytes += kib * kKib;
    }
  } else if (std::strncmp(line, "VmFlags:", 8) == 0) {
    area->huge_advised = std::strstr(line, " hg") != nullptr;
  }
}

}  // namespace

std::vector<SmapsArea> ReadSmaps(std::FILE* file, uint64_t begin, uint64_t end) {
  std::vector<SmapsArea> areas;
  SmapsArea area;
  bool inside = false;  // the fields that follow belong to areas.back()
  char* line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
    if (ParseHeader(line, &area)) {
      if (area.begin >= end) break;  // areas ascend
      inside = area.end > begin;
      if (inside) areas.push_back(area);
    } else if (inside) {
      ParseField(line, &areas.back());
    }
  }
  std::free(line);
  return areas;
}

std::vector<SmapsArea> ReadOwnSmaps(uint64_t begin, uint64_t end) {
  std::FILE* file = std::fopen("/proc/self/smaps", "re");
  if (file == nullptr) return {};
  std::vector<SmapsArea> areas = ReadSmaps(file, begin, end);
  std::fclose(file);
  return areas;
}

}  // namespace halyard::hal
