// SPDX-License-Identifier: Apache-2.0
//
// Source   proc(5) for /proc/stat and /proc/loadavg, Linux Documentation/scheduler/sched-bwc.rst
//          for cpu.stat.
#include "facts/activity.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/monotonic_clock.h"
#include "hal/cgroup.h"

namespace halyard::facts {
namespace {

/// Shares of the machine's CPU time above which a measurement is not to be trusted.
constexpr double kMuchStolen = 0.02;
constexpr double kMuchOther = 0.05;
/// A load of this many CPUs is what a quiet system has by itself.
constexpr double kQuietLoad = 0.5;

void Add(uint64_t value, std::optional<uint64_t>* sum) { *sum = sum->value_or(0) + value; }

/// "nr_throttled 3", "throttled_usec 1200" (v2) or "throttled_time 1200000" in ns (v1).
void AddThrottling(absl::string_view text, Activity* activity) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    uint64_t value = 0;
    if (words.size() != 2 || !absl::SimpleAtoi(words[1], &value)) continue;
    if (words[0] == "nr_throttled") Add(value, &activity->throttled_times);
    if (words[0] == "throttled_usec") Add(value, &activity->throttled_us);
    if (words[0] == "throttled_time") Add(value / 1000, &activity->throttled_us);
  }
}

/// "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks. Guests are in
/// user already.
void ReadStat(absl::string_view text, uint64_t ns_per_tick, Activity* activity) {
  constexpr size_t kIdle = 4;
  constexpr size_t kWait = 5;
  constexpr size_t kSteal = 8;
  constexpr size_t kLast = 8;
  const absl::string_view line = text.substr(0, text.find('\n'));
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (words.size() <= kWait || words[0] != "cpu") return;
  uint64_t busy = 0;
  for (size_t i = 1; i <= std::min(kLast, words.size() - 1); ++i) {
    uint64_t ticks = 0;
    if (!absl::SimpleAtoi(words[i], &ticks)) return;
    if (i == kSteal) {
      activity->stolen_ns = ticks * ns_per_tick;
    } else if (i != kIdle && i != kWait) {
      busy += ticks;
    }
  }
  activity->busy_ns = busy * ns_per_tick;
}

/// Growth of a counter; 0 if it is not known at both times, or ran backwards (some do).
uint64_t Growth(const std::optional<uint64_t>& before, const std::optional<uint64_t>& after) {
  return before && after && *after > *before ? *after - *before : 0;
}

}  // namespace

Activity ReadActivity(const hal::SystemView& view) {
  Activity activity;
  activity.at_ns = MonotonicNs();
  activity.own_ns = ClockNs(CLOCK_PROCESS_CPUTIME_ID);
  const long ticks_per_s = sysconf(_SC_CLK_TCK);
  const uint64_t ns_per_tick =
      1'000'000'000u / static_cast<uint64_t>(ticks_per_s > 0 ? ticks_per_s : 100);
  ReadStat(view.Read("proc/stat").value_or(""), ns_per_tick, &activity);
  for (const hal::CgroupPath& group : hal::FindCgroups(view, "cpu")) {
    for (const std::string& folder : group.folders) {
      AddThrottling(view.Read(absl::StrCat(folder, "/cpu.stat")).value_or(""), &activity);
    }
  }
  return activity;
}

std::vector<Finding> LookAtLoad(const hal::SystemView& view, const hal::Topology& whole) {
  const std::string text = view.Read("proc/loadavg").value_or("");
  double load = 0;
  if (!absl::SimpleAtod(text.substr(0, text.find(' ')), &load)) return {};
  const auto cpus = static_cast<double>(whole.pus.size());
  const bool busy = load > std::max(kQuietLoad, kMuchOther * cpus);
  return {{"load.start", busy ? Severity::kWarning : Severity::kInfo,
           absl::StrFormat("load of the last minute: %.2f on %u CPUs", load,
                           static_cast<unsigned>(whole.pus.size())),
           busy ? "Other work slows this down and makes figures move: end it, or wait" : ""}};
}

std::vector<Finding> LookAtActivity(const Activity& before, const Activity& after, uint32_t cpus) {
  std::vector<Finding> findings;
  if (after.at_ns <= before.at_ns) return findings;
  const auto span_ns = static_cast<double>(after.at_ns - before.at_ns);
  const uint64_t throttled = Growth(before.throttled_times, after.throttled_times);
  if (throttled > 0) {
    const uint64_t us = Growth(before.throttled_us, after.throttled_us);
    findings.push_back({"load.throttled", Severity::kWarning,
                        absl::StrFormat("the CPU quota stopped this process %u times, %.2f s in "
                                        "all, while memory was measured",
                                        throttled, static_cast<double>(us) / 1e6),
                        "The figures are too low. Give whole CPUs by a cpuset, without a quota"});
  }
  const double stolen = static_cast<double>(Growth(before.stolen_ns, after.stolen_ns)) / span_ns;
  if (stolen > kMuchStolen * cpus) {
    findings.push_back({"load.steal", Severity::kWarning,
                        absl::StrFormat("the hypervisor gave %.2f of %u CPUs to other machines "
                                        "while memory was measured",
                                        stolen, cpus),
                        "The host is overcommitted: repeat the measurement, or move"});
  }
  const double busy = static_cast<double>(Growth(before.busy_ns, after.busy_ns));
  const double own = static_cast<double>(after.own_ns - before.own_ns);
  const double other = (busy - own) / span_ns;
  if (other > std::max(kQuietLoad / 2, kMuchOther * cpus)) {
    findings.push_back({"load.other", Severity::kWarning,
                        absl::StrFormat("other processes used %.2f of %u CPUs while memory was "
                                        "measured",
                                        other, cpus),
                        "The figures are too low: end the other work, and repeat"});
  }
  if (findings.empty() && after.busy_ns) {
    findings.push_back(
        {"load.quiet", Severity::kInfo, "nothing else disturbed the measurement", ""});
  }
  return findings;
}

}  // namespace halyard::facts
