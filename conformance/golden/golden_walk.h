// SPDX-License-Identifier: Apache-2.0
//
// Goes through cases and computes what a run of them would expect.
#ifndef HALYARD_CONFORMANCE_GOLDEN_GOLDEN_WALK_H_
#define HALYARD_CONFORMANCE_GOLDEN_GOLDEN_WALK_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "conformance/golden/golden_codec.h"
#include "conformance/golden/golden_key.h"
#include "conformance/ops/op_plan.h"
#include "conformance/ops/under_test.h"
#include "ops/case.h"

namespace halyard::conformance {

/// Cases that differ in the layout of memory alone, and so expect the same.
using GoldenGroup = std::vector<ops::Case>;

/// The cases of a plan, each once, whichever kernels it is for; without those that expect nothing.
/// Errors   INVALID_ARGUMENT: an id that is none.
absl::StatusOr<std::vector<GoldenGroup>> GroupsOf(const std::vector<ListedCase>& plan);

/// What is expected for one set of args.
struct GoldenArgs {
  std::string case_text;  ///< of the first case that has them
  GoldenKey key{};
  std::vector<GoldenExpectation> all;  ///< as packs have it, bytes in little-endian
};

/// By numerics, each once: packs are the same whatever machine and however many processes write them.
void SortExpectations(std::vector<GoldenExpectation>* inout);

/// Computes for a group, and for other data of the same shape where a run would ask for it. Cases that
/// cannot be built here are left out. In a child: loads no kernel, but asks kernels what they support.
std::vector<GoldenArgs> WalkGroup(const UnderTest& under_test, const GoldenGroup& group);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_GOLDEN_WALK_H_
