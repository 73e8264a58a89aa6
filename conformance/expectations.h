// SPDX-License-Identifier: Apache-2.0
//
// What a port says of itself: duties that do not apply to it, and failures that are known.
//
//   unsupported:
//     - test: "HAL-MEM-09*"
//       reason: "the card has one page size"
//   expected_failures:
//     - test: "L0/HAL-TIM-02/*"
//       reason: "the counter stops in deep sleep"
//       issue: "https://example.com/issues/12"
//       since: "2026-01-31"
#ifndef HALYARD_CONFORMANCE_EXPECTATIONS_H_
#define HALYARD_CONFORMANCE_EXPECTATIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "conformance/result.h"

namespace halyard::conformance {

struct Expectation {
  std::string test;  ///< glob on duty, test name or id
  std::string reason;
  std::string issue;  ///< expected failures only
  std::string since;
};

struct Expectations {
  std::vector<Expectation> unsupported;
  std::vector<Expectation> expected_failures;

  /// The entry that says that a case does not apply; nullptr if none does.
  const Expectation* FindUnsupported(const CaseResult& one, absl::string_view test) const;

  /// Turns a known failure into waived, and a pass that should have failed into xpass. A crash or
  /// time-out is never waived: it is not a failure that anybody can have measured.
  void Apply(absl::string_view test, CaseResult* inout_case) const;
};

/// Errors   INVALID_ARGUMENT: no YAML, an unknown key, or a missing test, reason, issue or since.
absl::StatusOr<Expectations> ParseExpectations(absl::string_view yaml);

/// Errors   also NOT_FOUND.
absl::StatusOr<Expectations> ReadExpectations(const std::string& path);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_EXPECTATIONS_H_
