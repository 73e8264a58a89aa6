// SPDX-License-Identifier: Apache-2.0
//
// Conversions and sums for kernel sources: static, plain loops that compilers turn into vector code
// at every ISA level, the same bits at each. C11 and C++20; no STL.
#ifndef HALYARD_BASE_SIMD_SCALAR_H_
#define HALYARD_BASE_SIMD_SCALAR_H_

#include <stdint.h>
#include <string.h>

#include "halyard/tensor.h"

static inline float hyk_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint32_t hyk_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float hyk_bf16_to_f32(uint16_t bits) { return hyk_from_bits((uint32_t)bits << 16); }

/// Nearest even; NaN stays NaN.
static inline uint16_t hyk_f32_to_bf16(float value) {
  const uint32_t bits = hyk_bits(value);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const uint32_t quiet = bits >> 16 | 0x40u;
  return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

// Choices below are made by masks: GCC makes branches of ?: on floats, and then does not vectorise.

/// Exact, subnormals included: the exponent is moved by a product with 2^112.
static inline float hyk_f16_to_f32(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  const uint32_t body = (uint32_t)(half & 0x7fffu) << 13;
  const uint32_t finite = hyk_bits(hyk_from_bits(body) * 0x1p112f);
  const uint32_t special = body | 0x7f800000u;
  const uint32_t is_special = 0u - (uint32_t)((int32_t)body >= 0x0f800000);
  return hyk_from_bits(sign | (finite & ~is_special) | (special & is_special));
}

/// Nearest even, subnormals included; overflow gives infinity; NaN stays NaN.
static inline uint16_t hyk_f32_to_f16(float value) {
  const uint32_t bits = hyk_bits(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t body = bits & 0x7fffffffu;
  // Whatever is capped rounds to infinity.
  const uint32_t capped = (int32_t)body < 0x47800000 ? body : 0x47800000u;
  const uint32_t normal = (capped + 0xc8000000u + 0xfffu + (capped >> 13 & 1u)) >> 13;
  // Adding 0.5 moves the last bit of a subnormal half to the last bit of the sum.
  const uint32_t small = hyk_bits(hyk_from_bits(body) + 0.5f) - 0x3f000000u;
  const uint32_t nan = 0x7e00u | (body >> 13 & 0x3ffu);
  const uint32_t is_small = 0u - (uint32_t)((int32_t)body < 0x38800000);
  const uint32_t is_nan = 0u - (uint32_t)((int32_t)body > 0x7f800000);
  const uint32_t half = (small & is_small) | (normal & ~is_small & ~is_nan) | (nan & is_nan);
  return (uint16_t)(sign | half);
}

/// `count` elements of a float type, from element `first` of a row, as f32.
static inline void hyk_load_f32(uint32_t type, const void* row, int64_t first, int64_t count,
                                float* out) {
  int64_t i;
  if (type == HY_TYPE_F32) {
    memcpy(out, (const float*)row + first, (size_t)count * sizeof(float));
  } else if (type == HY_TYPE_F16) {
    const uint16_t* in = (const uint16_t*)row + first;
    for (i = 0; i < count; ++i) out[i] = hyk_f16_to_f32(in[i]);
  } else {
    const uint16_t* in = (const uint16_t*)row + first;
    for (i = 0; i < count; ++i) out[i] = hyk_bf16_to_f32(in[i]);
  }
}

static inline void hyk_store_f32(uint32_t type, void* row, int64_t first, int64_t count,
                                 const float* in) {
  int64_t i;
  if (type == HY_TYPE_F32) {
    memcpy((float*)row + first, in, (size_t)count * sizeof(float));
  } else if (type == HY_TYPE_F16) {
    uint16_t* out = (uint16_t*)row + first;
    for (i = 0; i < count; ++i) out[i] = hyk_f32_to_f16(in[i]);
  } else {
    uint16_t* out = (uint16_t*)row + first;
    for (i = 0; i < count; ++i) out[i] = hyk_f32_to_bf16(in[i]);
  }
}

/// Lanes of sums: as wide as the widest vectors, so that strict floating point still vectorises and
/// every ISA level adds in the same order.
#define HYK_LANES 64

/// Sum of the lanes, pairwise.
static inline float hyk_sum_lanes(float lane[HYK_LANES]) {
  int width;
  int i;
  for (width = HYK_LANES / 2; width > 0; width /= 2) {
    for (i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

#endif  // HALYARD_BASE_SIMD_SCALAR_H_
