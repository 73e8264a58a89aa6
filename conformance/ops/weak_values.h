// SPDX-License-Identifier: Apache-2.0
//
// Whether the values that a case expects can tell a right kernel from one that does nothing much.
//
// An element that the op must give whatever the data is (a masked weight, a sum of no terms, the only
// candidate) is fixed: what it is for other data of the same case tells. Fixed elements are compared
// like all others, but a case of nothing else is an edge case: it passes, and shows nothing of values.
// A case is weak if the elements that could differ do not: all the same, or most of them zero.
#ifndef HALYARD_CONFORMANCE_OPS_WEAK_VALUES_H_
#define HALYARD_CONFORMANCE_OPS_WEAK_VALUES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "halyard/kernel.h"
#include "reference/reference.h"

namespace halyard::conformance {

struct ValueStrength {
  std::string weak;       ///< why a pass says little; empty if it does not
  std::string edge;       ///< why it is an edge case alone; empty if it is not
  bool all_same = false;  ///< weak since all elements are the same, not since most are zero
  bool speaks() const { return weak.empty() && edge.empty(); }
};

/// `other`: what the op must give for other data of the same shape; nullptr takes every element for
/// one that could differ, which errs towards weak.
ValueStrength StrengthOf(const hy_op_desc& op, const reference::Expected& expected,
                         const reference::Expected* other);

/// True for distributions whose values are meant to tell kernels apart. Cases of others are there for
/// an edge, and are never weak.
bool IsPlainDistribution(absl::string_view dist);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_WEAK_VALUES_H_
