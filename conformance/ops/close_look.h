// SPDX-License-Identifier: Apache-2.0
//
// A failure from near: which elements are wrong, where they lie, who wrote them, what they have in
// common.
#ifndef HALYARD_CONFORMANCE_OPS_CLOSE_LOOK_H_
#define HALYARD_CONFORMANCE_OPS_CLOSE_LOOK_H_

#include <cstdint>
#include <functional>

#include "conformance/ops/judge.h"
#include "conformance/ops/op_case_run.h"
#include "conformance/result.h"

namespace halyard::conformance {

/// Outputs of an op as a kernel left them.
struct Sight {
  using AfterWorkerFn = std::function<void(uint32_t worker, uint32_t phase)>;
  const hy_op_desc* op = nullptr;
  const hy_kernel_desc* kernel = nullptr;
  const void* args = nullptr;
  uint32_t workers = 1;
  /// Makes the outputs as before the run, and runs the kernel once more. Empty: who wrote what stays
  /// unknown.
  std::function<void()> restore;
  std::function<void(const AfterWorkerFn&)> run_again;
};

/// Adds a finding for each wrong element that the judgement kept, and what they have in common.
void TellBadElements(const Sight& sight, const Judgement& judgement,
                     const reference::Expected& expected, CaseResult* inout_result);

/// Adds findings and facts to the result of a run that failed by its values, and digests of its
/// inputs to any. Runs the kernel once more to see which worker writes what.
void LookClosely(const OpCaseRun& run, CaseResult* inout_result);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_CLOSE_LOOK_H_
