// SPDX-License-Identifier: Apache-2.0
//
// Level L1 from a child's side: kernels are loaded here and nowhere else.
#ifndef HALYARD_CONFORMANCE_OPS_OP_CHILD_H_
#define HALYARD_CONFORMANCE_OPS_OP_CHILD_H_

#include <string>

#include "absl/status/statusor.h"
#include "conformance/ops/under_test.h"
#include "conformance/result.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// ListOpCases as text. Errors   those of UnderTest::Make.
absl::StatusOr<std::string> ListInChild(const RunRequest& request);

/// What this process tests, loaded once; nullptr, with a verdict, if it cannot be.
const UnderTest* LoadedHere(const RunRequest& request, CaseResult* inout_result);

/// Turns a failure of kernels that need these instruction sets into a suspicion, where an emulator is
/// known to get them wrong.
void SuspectEmulator(const RunRequest& request, const uint64_t isa[2], CaseResult* inout_result);

/// Runs the case of inout_result->id. `closely`: a failure is told element by element.
void RunOpCaseInChild(const RunRequest& request, bool closely, CaseResult* inout_result);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_OP_CHILD_H_
