// SPDX-License-Identifier: Apache-2.0
//
// Cases of level L1 that are not a run of a kernel: what contracts and predicates must refuse, what
// layouts must give back. Their ids are L1/OP/check=NAME/kern=WHOM, WHOM being a kernel, a layout or
// "none".
#ifndef HALYARD_CONFORMANCE_OPS_OP_CHECK_H_
#define HALYARD_CONFORMANCE_OPS_OP_CHECK_H_

#include <string>
#include <vector>

#include "conformance/ops/op_plan.h"
#include "conformance/ops/under_test.h"
#include "conformance/result.h"

namespace halyard::conformance {

bool IsOpCheckId(absl::string_view id);

/// All checks of all ops, in order.
std::vector<ListedCase> ListOpChecks(const UnderTest& under_test);

/// Runs the check of out->id and fills in the result.
void RunOpCheck(const UnderTest& under_test, CaseResult* out);

/// X33: every kind of wrong args must be refused with a reason. Gives what was taken.
std::vector<std::string> TakenWrongArgs(const TestedOp& op);

/// X34: a target that lacks any instruction set that the kernel needs must be refused, and a kernel
/// whose name says an ISA level must need what that level needs. Gives what is wrong.
std::vector<std::string> IsaFaults(const UnderTest& under_test, const TestedOp& op,
                                   const registry::Kernel& kernel);

/// X14: packing loses nothing, for any count of workers, and writes all that it says and no more.
/// Gives what is wrong.
std::vector<std::string> LayoutFaults(const hy_layout_desc& layout);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_OP_CHECK_H_
