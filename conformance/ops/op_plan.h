// SPDX-License-Identifier: Apache-2.0
//
// Which cases of level L1 there are: every case of every op, on every kernel that this machine can
// run, and what is derived from an op's own list so that no op goes without.
#ifndef HALYARD_CONFORMANCE_OPS_OP_PLAN_H_
#define HALYARD_CONFORMANCE_OPS_OP_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/ops/op_case_id.h"
#include "conformance/ops/under_test.h"
#include "ops/case.h"

namespace halyard::conformance {

/// A case as a plan lists it.
struct ListedCase {
  std::string id;
  std::string op;
  std::string types;   ///< "f32.q4_k.f32"
  std::string kernel;  ///< id, or "auto"
  std::string edges;   ///< with spaces between
  uint64_t work = 0;   ///< arithmetic operations
};

/// What of it all to list. Globs; empty: all.
struct ListFilter {
  ops::Tier tier = ops::Tier::kQuick;
  std::string op;
  std::string kernel;
};

/// In the order in which they run: cases of one text together.
std::vector<ListedCase> ListOpCases(const UnderTest& under_test, const ListFilter& filter);

/// As text, one case a line, and back: how a child that has the kernels tells its parent.
std::string ListedCasesToText(const std::vector<ListedCase>& cases);
absl::StatusOr<std::vector<ListedCase>> ListedCasesFromText(absl::string_view text);

/// "f32.q4_k.f32".
std::string TypesText(const ops::Case& c);

/// Cases that an op's list has for a tier, and those derived from it.
std::vector<ops::Case> CasesOf(const TestedOp& op, ops::Tier tier);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_OP_PLAN_H_
