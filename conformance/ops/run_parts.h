// SPDX-License-Identifier: Apache-2.0
//
// A run of level L1 in several processes at once, each with a part of the cases.
#ifndef HALYARD_CONFORMANCE_OPS_RUN_PARTS_H_
#define HALYARD_CONFORMANCE_OPS_RUN_PARTS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// As RunOps with the same request: the same cases and verdicts, sorted by id. request.ops.jobs
/// processes divide them as shards do.
absl::StatusOr<RunResult> RunOpsInParts(const RunRequest& request,
                                        const std::function<void(const Progress&)>& on_progress);

/// Processes that are worth while here: the processors that this process may use; one under an
/// emulator, whose memory and time are short.
uint32_t DefaultJobs();

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_RUN_PARTS_H_
