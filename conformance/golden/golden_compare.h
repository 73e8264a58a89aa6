// SPDX-License-Identifier: Apache-2.0
//
// Whether two machines, compilers or sources expect the same.
#ifndef HALYARD_CONFORMANCE_GOLDEN_GOLDEN_COMPARE_H_
#define HALYARD_CONFORMANCE_GOLDEN_GOLDEN_COMPARE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "conformance/golden/golden_walk.h"
#include "conformance/golden/make_golden.h"

namespace halyard::conformance {

/// Counts each expectation that was computed here against what a pack has of the same args.
void CompareExpectations(const GoldenArgs& computed, const std::vector<GoldenExpectation>& pack,
                         GoldenCheck* inout);

/// How parts of a check tell: texts may be put behind each other.
std::string GoldenCheckToText(const GoldenCheck& check);
absl::StatusOr<GoldenCheck> GoldenCheckFromText(absl::string_view text);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_GOLDEN_COMPARE_H_
