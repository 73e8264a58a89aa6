// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst, proc(5).
#include "hal/memory_limit.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hal/cgroup.h"

namespace halyard::hal {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
// Version 1 writes "no limit" as the largest number of whole pages.
constexpr uint64_t kNoLimit = UINT64_C(1) << 62;

std::optional<uint64_t> ReadNumber(const SystemView& view, const std::string& path) {
  const std::optional<std::string> text = view.Read(path);
  uint64_t value = 0;
  if (!text.has_value() || !absl::SimpleAtoi(*text, &value)) return std::nullopt;
  return value;
}

// The number after `key` at the beginning of a line; 0 if there is none.
uint64_t FieldOf(const std::string& text, absl::string_view key) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    uint64_t value = 0;
    if (words.size() >= 2 && words[0] == key && absl::SimpleAtoi(words[1], &value)) return value;
  }
  return 0;
}

uint64_t AvailableInMachine(const SystemView& view) {
  const std::string text = view.Read("proc/meminfo").value_or("");
  const uint64_t kib = FieldOf(text, "MemAvailable:") + FieldOf(text, "SwapFree:");
  return kib == 0 ? kUnknown : kib * 1'024;
}

uint64_t AvailableInGroup(const SystemView& view, const std::string& folder, int version) {
  const bool v2 = version == 2;
  const auto file = [&](const char* of_v1, const char* of_v2) {
    return absl::StrCat(folder, "/", v2 ? of_v2 : of_v1);
  };
  const std::optional<uint64_t> limit =
      ReadNumber(view, file("memory.limit_in_bytes", "memory.max"));
  const std::optional<uint64_t> used =
      ReadNumber(view, file("memory.usage_in_bytes", "memory.current"));
  if (!limit.has_value() || !used.has_value() || *limit >= kNoLimit) return kUnknown;
  const std::string stat = view.Read(file("memory.stat", "memory.stat")).value_or("");
  const uint64_t cached = FieldOf(stat, v2 ? "file" : "total_cache");
  const uint64_t shared = FieldOf(stat, v2 ? "shmem" : "total_shmem");  // file, but not reclaimable
  const uint64_t reclaimable = cached > shared ? cached - shared : 0;
  const uint64_t held = *used > reclaimable ? *used - reclaimable : 0;
  return *limit > held ? *limit - held : 0;
}

}  // namespace

uint64_t FillableBytes(const SystemView& view) {
  uint64_t fillable = AvailableInMachine(view);
  for (const CgroupPath& group : FindCgroups(view, "memory")) {
    for (const std::string& folder : group.folders) {
      fillable = std::min(fillable, AvailableInGroup(view, folder, group.version));
    }
  }
  return fillable;
}

}  // namespace halyard::hal
