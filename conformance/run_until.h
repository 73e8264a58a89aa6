// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_RUN_UNTIL_H_
#define HALYARD_CONFORMANCE_RUN_UNTIL_H_

#include "absl/status/statusor.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// As Run; with `until_failure` the cases after the first failure are left out of the result.
absl::StatusOr<RunResult> RunUntil(const RunRequest& request, bool until_failure,
                                   const std::function<void(const Progress&)>& on_progress = {},
                                   const std::function<void(const CaseResult&)>& on_case = {});

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_RUN_UNTIL_H_
