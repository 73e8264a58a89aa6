// SPDX-License-Identifier: Apache-2.0
//
// Power of cases whose outputs are scaled by a sum over their row: leaving out one term moves all of
// them by one factor.
#ifndef HALYARD_REFERENCE_ROW_POWER_H_
#define HALYARD_REFERENCE_ROW_POWER_H_

#include <cmath>
#include <cstddef>

#include "reference/reference.h"

namespace halyard::reference {

/// The least bound of the row of `cols` outputs from `first` on, relative to its value: what moves
/// the row by twice that is seen. Infinite where no output is finite and not 0.
double LeastRelativeBound(const ExpectedOutput& output, size_t first, size_t cols);

/// Counts one term that moves its row by `relative`. One that is 0, or of a row that is not finite,
/// cannot be missed.
inline void CountTerm(double relative, double least_bound, Expected* out) {
  if (!std::isfinite(relative) || relative == 0 || !std::isfinite(least_bound)) return;
  ++out->terms_sampled;
  if (!(relative <= 2 * least_bound)) ++out->terms_visible;
}

}  // namespace halyard::reference

#endif  // HALYARD_REFERENCE_ROW_POWER_H_
