// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/admin-guide/mm/hugetlbpage.rst.
#include "ports/linux/page_sizes.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace halyard::linux_port {

std::vector<uint64_t> PageSizes() {
  const long base = sysconf(_SC_PAGESIZE);
  const uint64_t base_bytes = base > 0 ? static_cast<uint64_t>(base) : 4096;
  std::vector<uint64_t> sizes;
  if (DIR* const folder = opendir("/sys/kernel/mm/hugepages"); folder != nullptr) {
    while (const dirent* entry = readdir(folder)) {
      uint64_t kib = 0;
      if (std::sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &kib) != 1) continue;
      if (kib * 1024 > base_bytes) sizes.push_back(kib * 1024);
    }
    closedir(folder);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.insert(sizes.begin(), base_bytes);
  return sizes;
}

}  // namespace halyard::linux_port
