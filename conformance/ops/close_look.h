// SPDX-License-Identifier: Apache-2.0
//
// A failure from near: which elements are wrong, where they lie, who wrote them, what they have in
// common.
#ifndef HALYARD_CONFORMANCE_OPS_CLOSE_LOOK_H_
#define HALYARD_CONFORMANCE_OPS_CLOSE_LOOK_H_

#include "conformance/ops/op_case_run.h"
#include "conformance/result.h"

namespace halyard::conformance {

/// Adds findings and facts to the result of a run that failed by its values, and digests of its
/// inputs to any. Runs the kernel once more to see which worker writes what.
void LookClosely(const OpCaseRun& run, CaseResult* inout_result);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_CLOSE_LOOK_H_
