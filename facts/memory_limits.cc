// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst, proc(5),
//          Documentation/mm/overcommit-accounting.rst.
#include "facts/memory_limits.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hal/cgroup.h"
#include "hal/memory_limit.h"
#include "hal/topology_parts.h"

namespace halyard::facts {
namespace {

uint64_t LeastGroupLimit(const hal::SystemView& view) {
  uint64_t least = UINT64_MAX;
  for (const hal::CgroupPath& group : hal::FindCgroups(view, "memory")) {
    const char* const name = group.version == 2 ? "memory.max" : "memory.limit_in_bytes";
    for (const std::string& folder : group.folders) {
      const auto limit = hal::ReadNumber(view, absl::StrCat(folder, "/", name));
      least = std::min(least, limit.value_or(UINT64_MAX));
    }
  }
  return least;
}

/// "Max address space   unlimited   unlimited   bytes": the soft limit.
std::optional<uint64_t> AddressSpace(absl::string_view limits_text) {
  constexpr absl::string_view kName = "Max address space";
  for (const absl::string_view line : absl::StrSplit(limits_text, '\n')) {
    if (!absl::StartsWith(line, kName)) continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line.substr(kName.size()), ' ', absl::SkipEmpty());
    uint64_t bytes = 0;
    if (!words.empty() && absl::SimpleAtoi(words[0], &bytes)) return bytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> MeminfoBytes(absl::string_view text, absl::string_view key) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() > 2 && words[0] == "Node") words.erase(words.begin(), words.begin() + 2);
    uint64_t kib = 0;
    if (words.size() >= 2 && words[0] == absl::StrCat(key, ":") &&
        absl::SimpleAtoi(words[1], &kib) && kib < (uint64_t{1} << 53)) {
      return kib * 1024;
    }
  }
  return std::nullopt;
}

MemoryLimits ReadMemoryLimits(const hal::SystemView& view) {
  MemoryLimits limits;
  const std::string meminfo = view.Read("proc/meminfo").value_or("");
  limits.total = MeminfoBytes(meminfo, "MemTotal");
  limits.available = MeminfoBytes(meminfo, "MemAvailable");
  if (!limits.available) limits.available = MeminfoBytes(meminfo, "MemFree");
  const auto swap_total = MeminfoBytes(meminfo, "SwapTotal");
  const auto swap_free = MeminfoBytes(meminfo, "SwapFree");
  if (swap_total && swap_free && *swap_total >= *swap_free) {
    limits.swap_used = *swap_total - *swap_free;
  }
  const auto commit_limit = MeminfoBytes(meminfo, "CommitLimit");
  const auto committed = MeminfoBytes(meminfo, "Committed_AS");
  if (hal::ReadNumber(view, "proc/sys/vm/overcommit_memory") == uint64_t{2} && commit_limit &&
      committed) {
    limits.commit_left = *commit_limit > *committed ? *commit_limit - *committed : 0;
  }
  const uint64_t group = LeastGroupLimit(view);
  if (group < limits.total.value_or(uint64_t{1} << 60)) limits.cgroup = group;
  const uint64_t fillable = std::min(hal::FillableBytes(view), group);
  if (fillable != UINT64_MAX) {
    limits.fillable = std::min(fillable, limits.available.value_or(fillable));
  }
  limits.address_space = AddressSpace(view.Read("proc/self/limits").value_or(""));
  return limits;
}

}  // namespace halyard::facts
