// SPDX-License-Identifier: Apache-2.0
#include "conformance/result.h"

namespace halyard::conformance {

absl::string_view VerdictName(Verdict verdict) {
  static constexpr absl::string_view names[kVerdictCount] = {"pass",
                                                             "fail",
                                                             "crash",
                                                             "timeout",
                                                             "weak",
                                                             "skip",
                                                             "waived",
                                                             "xpass",
                                                             "pass_fallback",
                                                             "fail_nondeterministic",
                                                             "memory_violation",
                                                             "abi_violation",
                                                             "not_supported",
                                                             "toolchain_fault",
                                                             "emulator_suspect"};
  return names[static_cast<int>(verdict)];
}

bool CountsAsFailed(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFail:
    case Verdict::kCrash:
    case Verdict::kTimeout:
    case Verdict::kXpass:
    case Verdict::kNondeterministic:
    case Verdict::kMemoryViolation:
    case Verdict::kAbiViolation:
    case Verdict::kToolchainFault:
      return true;
    default:
      return false;
  }
}

bool CountsAsPassed(Verdict verdict) {
  return verdict == Verdict::kPass || verdict == Verdict::kPassFallback;
}

bool CountsAsSkipped(Verdict verdict) {
  return verdict == Verdict::kSkip || verdict == Verdict::kNotSupported ||
         verdict == Verdict::kEmulatorSuspect;
}

const std::string* CaseResult::Fact(absl::string_view name) const {
  for (const auto& [key, value] : facts) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string RunResult::Fact(absl::string_view name) const {
  for (const auto& [key, value] : facts) {
    if (key == name) return value;
  }
  return "";
}

void SetFact(absl::string_view name, absl::string_view value, RunResult* run) {
  for (auto& [key, old] : run->facts) {
    if (key != name) continue;
    old = std::string(value);
    return;
  }
  run->facts.emplace_back(std::string(name), std::string(value));
}

Summary RunResult::Summarise() const {
  Summary summary;
  for (const CaseResult& one : cases) {
    if (CountsAsFailed(one.verdict)) ++summary.failed;
    if (CountsAsPassed(one.verdict)) ++summary.passed;
    if (one.verdict == Verdict::kPassFallback) ++summary.fallback;
    if (one.verdict == Verdict::kWeak) ++summary.weak;
    if (CountsAsSkipped(one.verdict)) ++summary.skipped;
    if (one.verdict == Verdict::kWaived) ++summary.waived;
  }
  return summary;
}

}  // namespace halyard::conformance
