// SPDX-License-Identifier: Apache-2.0
//
// What a vendor states with a bundle: on what the results were found, and what they show.
#ifndef HALYARD_CONFORMANCE_BUNDLE_STATEMENT_H_
#define HALYARD_CONFORMANCE_BUNDLE_STATEMENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "conformance/result.h"

namespace halyard::conformance {

struct Statement {
  std::string product;  ///< by whose name it is sold
  std::string part;     ///< the chip
  std::string os;
  std::string kernel;
  std::string compiler;
  std::string memory;
  std::string suite;
  std::string level;    ///< LevelOf
  std::string waivers;  ///< how many cases are waived, by how many waivers
  std::string contact;
};

/// Fills in what is empty from the results and from this machine.
void Complete(const std::vector<RunResult>& runs, Statement* statement);

/// "key: value", a line each.
std::string StatementText(const Statement& statement);
/// Errors   INVALID_ARGUMENT: a line that is none, a key that is unknown, missing or there twice.
absl::StatusOr<Statement> ParseStatement(absl::string_view text);

inline constexpr char kNoLevel[] = "none";
/// What whole runs, one of each level, show: "Halyard HAL" if L0 holds, "Halyard Ops" if L1 holds as
/// well, else "none".
std::string LevelOf(const std::vector<RunResult>& runs);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_BUNDLE_STATEMENT_H_
