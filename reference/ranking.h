// SPDX-License-Identifier: Apache-2.0
//
// Columns of a row in order of falling value, equal ones by rising column: what top_k and sample go by.
#ifndef HALYARD_REFERENCE_RANKING_H_
#define HALYARD_REFERENCE_RANKING_H_

#include <cstdint>

namespace halyard::reference {

/// Fills `columns` with 0..n-1 in that order, without allocating. false, and any order, if a value is
/// NaN.
bool RankColumns(const double* values, int64_t n, int64_t* columns);

}  // namespace halyard::reference

#endif  // HALYARD_REFERENCE_RANKING_H_
