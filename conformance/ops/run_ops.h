// SPDX-License-Identifier: Apache-2.0
//
// Levels L1 and L2 from the parent's side: what there is to run, which of it is wanted, and running it.
#ifndef HALYARD_CONFORMANCE_OPS_RUN_OPS_H_
#define HALYARD_CONFORMANCE_OPS_RUN_OPS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/ops/op_plan.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// "quick", "standard", "full".
absl::string_view TierName(ops::Tier tier);

/// The cases that a request means, over all shards, in the order in which they run.
/// Errors   INVALID_ARGUMENT: no case fits; those of UnderTest::Make.
absl::StatusOr<std::vector<ListedCase>> PlanOps(const RunRequest& request);

/// As ListCases.
absl::StatusOr<std::vector<CaseResult>> ListOps(const RunRequest& request);

/// As Run, for the levels ops and graph. With `until_failure` cases after the first failure are left out.
absl::StatusOr<RunResult> RunOps(const RunRequest& request, bool until_failure,
                                 const std::function<void(const Progress&)>& on_progress,
                                 const std::function<void(const CaseResult&)>& on_case);

/// The cases of the ids, which need be in no list; `closely`: with what a failure looks like from near.
/// Errors   INVALID_ARGUMENT: an id that is none.
absl::StatusOr<RunResult> RunOpIds(const std::vector<std::string>& ids, const RunRequest& base,
                                   const std::function<void(const Progress&)>& on_progress = {},
                                   bool closely = false);

/// One case of either level by its id, as lists have it or not; with what a failure looks like from near.
absl::StatusOr<RunResult> ReplayOp(const std::string& id, const RunRequest& base);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_RUN_OPS_H_
