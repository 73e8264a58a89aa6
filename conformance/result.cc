// SPDX-License-Identifier: Apache-2.0
#include "conformance/result.h"

namespace halyard::conformance {

absl::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kCrash:
      return "crash";
    case Verdict::kTimeout:
      return "timeout";
    case Verdict::kWeak:
      return "weak";
    case Verdict::kSkip:
      return "skip";
    case Verdict::kWaived:
      return "waived";
    case Verdict::kXpass:
      return "xpass";
  }
  return "unknown";
}

bool CountsAsFailed(Verdict verdict) {
  return verdict == Verdict::kFail || verdict == Verdict::kCrash || verdict == Verdict::kTimeout ||
         verdict == Verdict::kXpass;
}

Summary RunResult::Summarise() const {
  Summary summary;
  for (const CaseResult& one : cases) {
    if (CountsAsFailed(one.verdict)) ++summary.failed;
    if (one.verdict == Verdict::kPass) ++summary.passed;
    if (one.verdict == Verdict::kWeak) ++summary.weak;
    if (one.verdict == Verdict::kSkip) ++summary.skipped;
    if (one.verdict == Verdict::kWaived) ++summary.waived;
  }
  return summary;
}

}  // namespace halyard::conformance
