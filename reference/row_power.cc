// SPDX-License-Identifier: Apache-2.0
#include "reference/row_power.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halyard::reference {

double LeastRelativeBound(const ExpectedOutput& output, size_t first, size_t cols) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = first; i < first + cols; ++i) {
    const double value = std::abs(output.value[i]);
    if (std::isfinite(value) && value > 0) least = std::min(least, output.bound[i] / value);
  }
  return least;
}

}  // namespace halyard::reference
