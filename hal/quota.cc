// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/scheduler/sched-bwc.rst and admin-guide/cgroup-v2.rst: a group gets
//          no more than each of its parents, so the least quota on the way up holds.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hal/cgroup.h"
#include "hal/topology.h"

namespace halyard::hal {
namespace {

constexpr uint64_t kDefaultPeriodUs = 100'000;

// "50000 100000", "max 100000"; 0: no limit.
uint64_t MillicpusV2(const SystemView& view, const std::string& folder) {
  const std::string text = view.Read(absl::StrCat(folder, "/cpu.max")).value_or("max");
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  uint64_t quota_us = 0;
  uint64_t period_us = kDefaultPeriodUs;
  if (words.empty() || !absl::SimpleAtoi(words[0], &quota_us)) return 0;
  if (words.size() > 1 && !absl::SimpleAtoi(words[1], &period_us)) return 0;
  if (period_us == 0 || quota_us > UINT64_MAX / 1000) return 0;
  return std::max<uint64_t>(1, quota_us * 1000 / period_us);
}

// A quota of -1 is no limit.
uint64_t MillicpusV1(const SystemView& view, const std::string& folder) {
  const std::optional<std::string> quota = view.Read(absl::StrCat(folder, "/cpu.cfs_quota_us"));
  const std::optional<std::string> period = view.Read(absl::StrCat(folder, "/cpu.cfs_period_us"));
  int64_t quota_us = -1;
  int64_t period_us = kDefaultPeriodUs;
  if (!quota.has_value() || !absl::SimpleAtoi(*quota, &quota_us)) return 0;
  if (period.has_value() && !absl::SimpleAtoi(*period, &period_us)) return 0;
  if (quota_us <= 0 || period_us <= 0 || quota_us > INT64_MAX / 1000) return 0;
  return static_cast<uint64_t>(std::max<int64_t>(1, quota_us * 1000 / period_us));
}

}  // namespace

uint64_t ReadQuotaMillicpus(const SystemView& view) {
  uint64_t least = 0;
  for (const CgroupPath& group : FindCgroups(view, "cpu")) {
    for (const std::string& folder : group.folders) {
      const uint64_t here =
          group.version == 2 ? MillicpusV2(view, folder) : MillicpusV1(view, folder);
      if (here != 0 && (least == 0 || here < least)) least = here;
    }
  }
  return least;
}

}  // namespace halyard::hal
