// SPDX-License-Identifier: Apache-2.0
#include "conformance/waivers.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "conformance/filter.h"
#include "conformance/ops/coverage.h"
#include "conformance/ops/op_facts.h"

namespace halyard::conformance {
namespace {

bool FitsDevice(const Waiver& waiver, const RunResult& run) {
  return waiver.device.empty() || GlobMatches(waiver.device, run.device_name) ||
         GlobMatches(waiver.device, run.device) || GlobMatches(waiver.device, run.Fact("machine"));
}

// False also if a date cannot be read, which ParseWaivers has refused before.
bool IsOver(const Waiver& waiver, const RunResult& run) {
  const absl::StatusOr<int64_t> last = DayOf(waiver.expires);
  const absl::StatusOr<int64_t> today = DayOf(run.started_utc);
  return last.ok() && today.ok() && *last < *today;
}

void ApplyTo(const Waiver& waiver, const RunResult& run, CaseResult* one) {
  if (CountsAsPassed(one->verdict)) {
    one->verdict = Verdict::kXpass;
    one->reason = absl::StrCat("passes although waiver ", waiver.id, " speaks of it; narrow its ",
                               "glob or remove it");
  } else if (!CountsAsFailed(one->verdict) || !Covers(waiver, *one)) {
    return;
  } else if (IsOver(waiver, run)) {
    one->reason =
        absl::StrCat("waiver ", waiver.id, " is over since ", waiver.expires, "; ", one->reason);
  } else {
    one->verdict = Verdict::kWaived;
    one->reason = absl::StrCat(waiver.id, " until ", waiver.expires, ": ", waiver.reason, " (",
                               waiver.issue, "); ", one->reason);
  }
  one->facts.emplace_back(kWaiverFact, waiver.id);
}

}  // namespace

bool Speaks(const Waiver& waiver, const CaseResult& one, const RunResult& run) {
  const std::string* const ran = one.Fact("ran");
  const bool kernel =
      GlobMatches(waiver.kernel, one.mode) || (ran != nullptr && GlobMatches(waiver.kernel, *ran));
  return kernel && GlobMatches(waiver.cases, one.id) && FitsDevice(waiver, run);
}

bool Covers(const Waiver& waiver, const CaseResult& one) {
  const bool wrong = one.verdict == Verdict::kFail || one.verdict == Verdict::kWaived;
  return wrong && one.Fact(kOffByNumbersFact) != nullptr &&
         FactNumber(one, kErrorFact) <= waiver.max_error;
}

void ApplyWaivers(RunResult* run) {
  for (CaseResult& one : run->cases) {
    for (const Waiver& waiver : run->waivers) {
      if (!Speaks(waiver, one, *run)) continue;
      ApplyTo(waiver, *run, &one);
      break;
    }
  }
}

std::vector<std::string> WaiverTroubles(const RunResult& run) {
  std::set<std::string> used;
  std::set<std::string> passing;
  for (const CaseResult& one : run.cases) {
    const std::string* const id = one.Fact(kWaiverFact);
    if (id == nullptr) continue;
    used.insert(*id);
    if (one.verdict == Verdict::kXpass) passing.insert(*id);
  }
  const bool whole = run.shards == 1 && run.Fact(kScopeFact) == kWholeList;
  std::vector<std::string> lines;
  for (const Waiver& waiver : run.waivers) {
    if (IsOver(waiver, run)) {
      lines.push_back(absl::StrCat(waiver.id, " is over since ", waiver.expires));
    } else if (passing.count(waiver.id) != 0) {
      lines.push_back(absl::StrCat(waiver.id, " speaks of cases that pass"));
    } else if (whole && used.count(waiver.id) == 0) {
      lines.push_back(absl::StrCat(waiver.id, " covers nothing that fails"));
    }
  }
  return lines;
}

bool FailsByWaiversAlone(const RunResult& run) {
  if (WaiverTroubles(run).empty()) return false;
  RunResult rest = run;
  const auto by_waiver = [](const CaseResult& one) {
    return CountsAsFailed(one.verdict) && one.Fact(kWaiverFact) != nullptr;
  };
  rest.cases.erase(std::remove_if(rest.cases.begin(), rest.cases.end(), by_waiver),
                   rest.cases.end());
  return rest.Summarise().failed == 0 && Unshown(run).empty();
}

}  // namespace halyard::conformance
