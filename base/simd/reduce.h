// SPDX-License-Identifier: Apache-2.0
//
// Sums for kernel sources: a row is given piece by piece, lengths a multiple of HYK_LANES but for the
// last, and gathers in lanes, in the same order at every ISA level. C11 and C++20; no STL.
#ifndef HALYARD_BASE_SIMD_REDUCE_H_
#define HALYARD_BASE_SIMD_REDUCE_H_

#include <stdint.h>

#include "base/simd/scalar.h"

/// Adds v[i] to the lanes.
static inline void hyk_add_values(const float* v, int64_t count, float lane[HYK_LANES]) {
  int64_t i = 0;
  int j;
  for (; i + HYK_LANES <= count; i += HYK_LANES) {
    for (j = 0; j < HYK_LANES; ++j) lane[j] += v[i + j];
  }
  for (j = 0; i < count; ++i, ++j) lane[j] += v[i];
}

/// Adds v[i]^2 to the lanes.
static inline void hyk_add_squares(const float* v, int64_t count, float lane[HYK_LANES]) {
  int64_t i = 0;
  int j;
  for (; i + HYK_LANES <= count; i += HYK_LANES) {
    for (j = 0; j < HYK_LANES; ++j) lane[j] += v[i + j] * v[i + j];
  }
  for (j = 0; i < count; ++i, ++j) lane[j] += v[i] * v[i];
}

#endif  // HALYARD_BASE_SIMD_REDUCE_H_
