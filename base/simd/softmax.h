// SPDX-License-Identifier: Apache-2.0
//
// The reductions of softmax for kernel sources: a row is given piece by piece, lengths a multiple of
// HYK_LANES but for the last, and gathers in lanes. C11 and C++20; no STL.
#ifndef HALYARD_BASE_SIMD_SOFTMAX_H_
#define HALYARD_BASE_SIMD_SOFTMAX_H_

#include <stdint.h>

#include "base/simd/math.h"
#include "base/simd/scalar.h"

/// -Inf.
static inline float hyk_lowest(void) { return hyk_from_bits(0xff800000u); }

/// Begins a maximum. NaNs are passed over.
static inline void hyk_max_begin(float lane[HYK_LANES]) {
  int j;
  for (j = 0; j < HYK_LANES; ++j) lane[j] = hyk_lowest();
}

static inline void hyk_max_add(const float* v, int64_t count, float lane[HYK_LANES]) {
  int64_t i = 0;
  int j;
  for (; i + HYK_LANES <= count; i += HYK_LANES) {
    for (j = 0; j < HYK_LANES; ++j) lane[j] = v[i + j] > lane[j] ? v[i + j] : lane[j];
  }
  for (j = 0; i < count; ++i, ++j) lane[j] = v[i] > lane[j] ? v[i] : lane[j];
}

static inline float hyk_max_end(float lane[HYK_LANES]) {
  int width;
  int j;
  for (width = HYK_LANES / 2; width > 0; width /= 2) {
    for (j = 0; j < width; ++j) lane[j] = lane[j + width] > lane[j] ? lane[j + width] : lane[j];
  }
  return lane[0];
}

/// Largest of some numbers, NaNs passed over; -Inf if there are none.
static inline float hyk_max_of(const float* v, int64_t count) {
  float lane[HYK_LANES];
  hyk_max_begin(lane);
  hyk_max_add(v, count, lane);
  return hyk_max_end(lane);
}

/// out[i] = e^(v[i] - most), and adds them to the lanes. `out` may be `v`.
static inline void hyk_exp_add(const float* v, int64_t count, float most, float* out,
                               float lane[HYK_LANES]) {
  int64_t i = 0;
  int j;
  for (; i + HYK_LANES <= count; i += HYK_LANES) {
    for (j = 0; j < HYK_LANES; ++j) {
      out[i + j] = hyk_exp(v[i + j] - most);
      lane[j] += out[i + j];
    }
  }
  for (j = 0; i < count; ++i, ++j) {
    out[i] = hyk_exp(v[i] - most);
    lane[j] += out[i];
  }
}

/// Whether a NaN is among the numbers.
static inline int hyk_has_nan(const float* v, int64_t count) {
  uint32_t found = 0;
  int64_t i;
  for (i = 0; i < count; ++i) found |= (hyk_bits(v[i]) & 0x7fffffffu) > 0x7f800000u ? 1u : 0u;
  return found != 0;
}

#endif  // HALYARD_BASE_SIMD_SOFTMAX_H_
