// SPDX-License-Identifier: Apache-2.0
//
// What a conformance run finds, whatever its level: cases, verdicts, and where they go.
#ifndef HALYARD_CONFORMANCE_RESULT_H_
#define HALYARD_CONFORMANCE_RESULT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace halyard::conformance {

enum class Verdict {
  kPass,
  kFail,
  kCrash,    ///< the child died by a signal; counts as failed
  kTimeout,  ///< the deadline passed; counts as failed
  kWeak,     ///< it ran but could not have seen the fault; does not count as passed
  kSkip,     ///< cannot be told here; the reason says why
  kWaived,   ///< failed, and an unexpired waiver covers it
  kXpass,    ///< passed although a waiver or expectation says it fails; counts as failed
};
absl::string_view VerdictName(Verdict verdict);
bool CountsAsFailed(Verdict verdict);

/// One finding inside a case: what was expected and what was seen.
struct Finding {
  std::string message;
  std::string file;  ///< of the test, relative to the source tree
  int line = 0;
};

struct CaseResult {
  std::string id;     ///< complete: a replay starts from it alone
  std::string level;  ///< "L0"
  std::string duty;   ///< "HAL-MEM-03"
  std::string title;  ///< the duty in words
  std::string mode;   ///< "bare", "validate", "fault"
  Verdict verdict = Verdict::kSkip;
  std::string reason;  ///< empty only for a pass
  std::vector<Finding> findings;
  double seconds = 0;
  std::vector<std::pair<std::string, std::string>> facts;  ///< measured values, for the reader
};

struct Summary {
  uint32_t passed = 0;
  uint32_t failed = 0;
  uint32_t weak = 0;
  uint32_t skipped = 0;
  uint32_t waived = 0;
};

struct RunResult {
  std::string level;
  std::string port;
  std::string port_origin;
  std::string port_version;
  std::string device;
  std::string device_name;
  std::string started_utc;  ///< ISO 8601
  double seconds = 0;
  uint32_t shard = 1;
  uint32_t shards = 1;
  std::vector<std::pair<std::string, std::string>> facts;  ///< machine, kernel, compiler, emulated
  std::vector<CaseResult> cases;

  Summary Summarise() const;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_RESULT_H_
