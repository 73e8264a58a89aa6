// SPDX-License-Identifier: Apache-2.0
#include "reference/ranking.h"

#include <algorithm>
#include <cmath>

namespace halyard::reference {

bool RankColumns(const double* values, int64_t n, int64_t* columns) {
  for (int64_t c = 0; c < n; ++c) {
    if (std::isnan(values[c])) return false;
    columns[c] = c;
  }
  std::sort(columns, columns + n, [values](int64_t a, int64_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  return true;
}

}  // namespace halyard::reference
