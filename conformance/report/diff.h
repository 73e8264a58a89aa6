// SPDX-License-Identifier: Apache-2.0
//
// What changed between two runs of the same level.
#ifndef HALYARD_CONFORMANCE_REPORT_DIFF_H_
#define HALYARD_CONFORMANCE_REPORT_DIFF_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/result.h"
#include "nlohmann/json.hpp"

namespace halyard::conformance {

/// A case whose verdict is another than it was.
struct CaseChange {
  std::string id;
  Verdict before;
  Verdict after;
  std::string reason;  ///< of what it is now
};

/// A kernel's largest err/T that moved by a quarter or more.
struct ErrorChange {
  std::string kernel;
  double before = 0;
  double after = 0;
};

struct RunDiff {
  std::string before_utc;          ///< when the former run was
  std::vector<CaseChange> worse;   ///< what passed or was waived before fails or is weak now
  std::vector<CaseChange> better;  ///< the other way round
  std::vector<CaseChange>
      other;           ///< neither: into or out of skipped, by a fallback, of another kind
  uint32_t added = 0;  ///< cases that only the latter run has
  uint32_t gone = 0;
  std::vector<ErrorChange> errors;
};

/// Errors   INVALID_ARGUMENT: runs of different levels.
absl::StatusOr<RunDiff> DiffRuns(const RunResult& before, const RunResult& after);

nlohmann::json DiffToJson(const RunDiff& diff);
std::string DiffToText(const RunDiff& diff);
std::string DiffToHtml(const RunDiff& diff);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_REPORT_DIFF_H_
