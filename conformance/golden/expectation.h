// SPDX-License-Identifier: Apache-2.0
//
// Where expectations come from: the op's reference, or a golden pack. Both give the same bits.
#ifndef HALYARD_CONFORMANCE_GOLDEN_EXPECTATION_H_
#define HALYARD_CONFORMANCE_GOLDEN_EXPECTATION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "conformance/golden/golden_pack.h"
#include "conformance/ops/under_test.h"
#include "reference/reference.h"

namespace halyard::conformance {

/// What of a kernel's declaration its results are judged by: not its promises of invariance.
reference::Numerics NumericsOf(const hy_kernel_desc& kernel);
bool SameNumerics(const reference::Numerics& a, const reference::Numerics& b);

/// By the reference. `args` are canonical and as before a run. Bounds are rounded up to 16 significant
/// bits, by less than one part in 30,000, so that they take little room in packs; all NaNs are the same one.
/// Errors   as ReferenceOp::expect.
absl::StatusOr<reference::Expected> ComputeExpectation(const TestedOp& op, const void* args,
                                                       const reference::Numerics& numerics);

/// All that a pack has for these args; empty if it has nothing.
/// Errors   INVALID_ARGUMENT: an entry that does not fit the op.
absl::StatusOr<std::vector<GoldenExpectation>> ReadExpectations(const GoldenPack& pack,
                                                                const TestedOp& op,
                                                                const void* args);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_EXPECTATION_H_
