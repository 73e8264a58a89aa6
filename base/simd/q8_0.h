// SPDX-License-Identifier: Apache-2.0
//
// Blocks of q8_0 for kernel sources: the same bytes as quant::EncodeRow at every ISA level. In f64,
// as there: the scale is rounded once, to f16, and codes are those of the scale as it is stored.
// C11 and C++20; no STL.
#ifndef HALYARD_BASE_SIMD_Q8_0_H_
#define HALYARD_BASE_SIMD_Q8_0_H_

#include <stdint.h>
#include <string.h>

#include "base/simd/scalar.h"

#define HYK_Q8_0_BLOCK 32
#define HYK_Q8_0_BYTES 34

/// Rounds a double of 0..65504 to f16, nearest even.
static inline uint16_t hyk_f64_to_f16(double value) {
  uint64_t bits;
  // Below 2^-14 halves are multiples of 2^-24, which adding 2^28 rounds to.
  const double fixed = value + 0x1p28;
  if (value < 0x1p-14) return (uint16_t)((fixed - 0x1p28) * 0x1p24);
  memcpy(&bits, &value, sizeof bits);
  bits += (UINT64_C(1) << 41) - 1 + (bits >> 42 & 1);
  return (uint16_t)((bits >> 42) - ((1023 - 15) << 10));
}

static inline void hyk_store_q8_0_scale(uint8_t* block, uint16_t half) {
  block[0] = (uint8_t)half;
  block[1] = (uint8_t)(half >> 8);
}

static inline float hyk_load_q8_0_scale(const uint8_t* block) {
  return hyk_f16_to_f32((uint16_t)(block[0] | block[1] << 8));
}

/// Encodes one block.
static inline void hyk_encode_q8_0(const float* x, uint8_t* block) {
  const double magic = 0x1.8p52;  // adding it rounds to an integer, nearest even
  int8_t* codes = (int8_t*)block + 2;
  uint32_t top = 0;
  uint16_t half;
  double scale;
  int i;
  for (i = 0; i < HYK_Q8_0_BLOCK; ++i) {
    const uint32_t size = hyk_bits(x[i]) & 0x7fffffffu;
    top = size > top ? size : top;
  }
  // Infinities and NaNs are above all numbers.
  if (top >= 0x7f800000u) {
    half = 0x7e00;
  } else {
    scale = (double)hyk_from_bits(top) / 127.0;
    half = hyk_f64_to_f16(scale < 65504.0 ? scale : 65504.0);
  }
  hyk_store_q8_0_scale(block, half);
  if (top >= 0x7f800000u || half == 0) {
    memset(codes, 0, HYK_Q8_0_BLOCK);
    return;
  }
  scale = (double)hyk_f16_to_f32(half);
  for (i = 0; i < HYK_Q8_0_BLOCK; ++i) {
    double code = (double)x[i] / scale;
    code = code > 127.0 ? 127.0 : code;
    code = code < -127.0 ? -127.0 : code;
    codes[i] = (int8_t)((code + magic) - magic);
  }
}

/// Values of one block, exact.
static inline void hyk_decode_q8_0(const uint8_t* block, float* out) {
  const float scale = hyk_load_q8_0_scale(block);
  const int8_t* codes = (const int8_t*)block + 2;
  int i;
  for (i = 0; i < HYK_Q8_0_BLOCK; ++i) out[i] = scale * (float)codes[i];
}

#endif  // HALYARD_BASE_SIMD_Q8_0_H_
