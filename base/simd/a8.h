// SPDX-License-Identifier: Apache-2.0
//
// Codes of activations for kernel sources: the same bits as quant::QuantizeActivations at every ISA
// level. Static, plain loops that compilers turn into vector code; C11 and C++20; no STL.
//
// Largest values are found among the bits as integers: that order is the floats' own, a NaN comes out
// on top of Inf, and integer maxima vectorise without leave to reorder floats. Rounding to nearest even
// is the addition of 1.5 * 2^23, whose last bit is worth 1.
#ifndef HALYARD_BASE_SIMD_A8_H_
#define HALYARD_BASE_SIMD_A8_H_

#include <stdint.h>
#include <string.h>

#include "base/simd/scalar.h"
#include "halyard/tensor.h"

/// Elements that are converted and coded at a time: whole blocks of every a8 type.
#define HYK_A8_PIECE 256

/// How numbers become codes: code = round(x * inverse) + zero; value = scale * (code - zero).
/// inverse 0: all codes are 0.
typedef struct hyk_a8_scaling {
  float scale;
  float inverse;
  int32_t zero;
} hyk_a8_scaling;

/// Magnitudes seen so far, as bits of floats without their sign; 0 at first. At least 0x7f800000:
/// an Inf or NaN was among them.
typedef struct hyk_a8_range {
  int32_t positive;  ///< of numbers without the sign bit
  int32_t negative;  ///< of numbers with it
} hyk_a8_range;

static inline void hyk_a8_extend(const float* x, int64_t count, hyk_a8_range* range) {
  int32_t positive = range->positive;
  int32_t negative = range->negative;
  int64_t i;
  for (i = 0; i < count; ++i) {
    // The sign bit makes either number negative, and so less than 0.
    const int32_t bits = (int32_t)hyk_bits(x[i]);
    const int32_t flipped = (int32_t)(hyk_bits(x[i]) ^ 0x80000000u);
    positive = bits > positive ? bits : positive;
    negative = flipped > negative ? flipped : negative;
  }
  range->positive = positive;
  range->negative = negative;
}

static inline int hyk_a8_is_broken(hyk_a8_range range) {
  return range.positive >= 0x7f800000 || range.negative >= 0x7f800000;
}

/// Scaling of codes that span `width` in `steps`, without a zero point; `broken`: an Inf or NaN is
/// there.
static inline hyk_a8_scaling hyk_a8_span(float width, float steps, int broken) {
  hyk_a8_scaling s = {0.0f, 0.0f, 0};
  if (broken || !(width < hyk_from_bits(0x7f800000u))) {
    s.scale = hyk_from_bits(0x7fc00000u);
  } else if (width >= 0x1p-120f) {
    s.scale = width / steps;
    s.inverse = steps / width;
  }
  return s;
}

/// Bits of the largest magnitude of `count` numbers and of `top`.
static inline int32_t hyk_a8_top(const float* x, int64_t count, int32_t top) {
  int64_t i;
  for (i = 0; i < count; ++i) {
    const int32_t bits = (int32_t)(hyk_bits(x[i]) & 0x7fffffffu);
    top = bits > top ? bits : top;
  }
  return top;
}

static inline hyk_a8_scaling hyk_a8_symmetric(int32_t top) {
  return hyk_a8_span(hyk_from_bits((uint32_t)top), 127.0f, top >= 0x7f800000);
}

/// `x` rounded to nearest even, for |x| < 2^22.
static inline int32_t hyk_a8_round(float x) {
  return (int32_t)hyk_bits(x + 0x1.8p23f) - 0x4b400000;
}

static inline hyk_a8_scaling hyk_a8_asymmetric(hyk_a8_range range) {
  const float high = hyk_from_bits((uint32_t)range.positive);
  const float low = -hyk_from_bits((uint32_t)range.negative);
  hyk_a8_scaling s = hyk_a8_span(high - low, 255.0f, hyk_a8_is_broken(range));
  if (s.inverse != 0.0f) {
    const int32_t zero = -128 - hyk_a8_round(low * s.inverse);
    s.zero = zero < -128 ? -128 : zero > 127 ? 127 : zero;
  }
  return s;
}

/// Codes for a scaling without a zero point: they lie in -127..127 by themselves.
static inline void hyk_a8_codes(const float* x, int64_t count, hyk_a8_scaling s, int8_t* codes) {
  int64_t i;
  if (s.inverse == 0.0f) {
    memset(codes, 0, (size_t)count);
    return;
  }
  for (i = 0; i < count; ++i) codes[i] = (int8_t)hyk_a8_round(x[i] * s.inverse);
}

static inline void hyk_a8_codes_asymmetric(const float* x, int64_t count, hyk_a8_scaling s,
                                           int8_t* codes) {
  int64_t i;
  if (s.inverse == 0.0f) {
    memset(codes, 0, (size_t)count);
    return;
  }
  for (i = 0; i < count; ++i) {
    int32_t code = hyk_a8_round(x[i] * s.inverse) + s.zero;
    code = code < -128 ? -128 : code;
    code = code > 127 ? 127 : code;
    codes[i] = (int8_t)code;
  }
}

static inline int32_t hyk_a8_sum(const int8_t* codes, int64_t count) {
  int32_t sum = 0;
  int64_t i;
  for (i = 0; i < count; ++i) sum += codes[i];
  return sum;
}

/// Codes of one block of 32, its scale and the sum of its codes.
static inline void hyk_a8_block32(const float* x, int8_t* codes, float* scale, int16_t* sum) {
  const hyk_a8_scaling s = hyk_a8_symmetric(hyk_a8_top(x, 32, 0));
  hyk_a8_codes(x, 32, s, codes);
  *scale = s.scale;
  *sum = (int16_t)hyk_a8_sum(codes, 32);
}

/// Codes of one block of 256, its scale and the sums of each 16 codes.
static inline void hyk_a8_block256(const float* x, int8_t* codes, float* scale, int16_t* sums) {
  const hyk_a8_scaling s = hyk_a8_symmetric(hyk_a8_top(x, 256, 0));
  int i;
  hyk_a8_codes(x, 256, s, codes);
  *scale = s.scale;
  for (i = 0; i < 16; ++i) sums[i] = (int16_t)hyk_a8_sum(codes + 16 * i, 16);
}

/// A row to be coded: `k` numbers of a float type.
typedef struct hyk_a8_source {
  const void* x;
  uint32_t type;  ///< HY_TYPE_F32, _F16 or _BF16
  uint32_t reserved;
  int64_t k;
} hyk_a8_source;

/// Elements [first, first + count) of the row as f32: where they lie, or in `buffer`.
static inline const float* hyk_a8_piece(const hyk_a8_source* source, int64_t first, int64_t count,
                                        float* buffer) {
  if (source->type == HY_TYPE_F32) return (const float*)source->x + first;
  hyk_load_f32(source->type, source->x, first, count, buffer);
  return buffer;
}

/// Writes blocks [begin, end) of 32 of the row's a8_b32 record. Workers may share a row by blocks.
static inline void hyk_a8_write_b32(const hyk_a8_source* source, int64_t begin, int64_t end,
                                    void* record) {
  uint8_t* row = (uint8_t*)record;
  uint8_t* scales = row + hy_a8_scale_offset(HY_TYPE_A8_B32, source->k);
  uint8_t* sums = row + hy_a8_sum_offset(HY_TYPE_A8_B32, source->k);
  float buffer[32];
  float scale;
  int16_t sum;
  int64_t b;
  for (b = begin; b < end; ++b) {
    hyk_a8_block32(hyk_a8_piece(source, b * 32, 32, buffer), (int8_t*)row + b * 32, &scale, &sum);
    memcpy(scales + b * 4, &scale, sizeof scale);
    memcpy(sums + b * 2, &sum, sizeof sum);
  }
}

/// Writes blocks [begin, end) of 256 of the row's a8_b256 record.
static inline void hyk_a8_write_b256(const hyk_a8_source* source, int64_t begin, int64_t end,
                                     void* record) {
  uint8_t* row = (uint8_t*)record;
  uint8_t* scales = row + hy_a8_scale_offset(HY_TYPE_A8_B256, source->k);
  uint8_t* sums = row + hy_a8_sum_offset(HY_TYPE_A8_B256, source->k);
  float buffer[256];
  float scale;
  int16_t sum[16];
  int64_t b;
  for (b = begin; b < end; ++b) {
    hyk_a8_block256(hyk_a8_piece(source, b * 256, 256, buffer), (int8_t*)row + b * 256, &scale,
                    sum);
    memcpy(scales + b * 4, &scale, sizeof scale);
    memcpy(sums + b * 32, sum, sizeof sum);
  }
}

/// Scaling of a whole row.
static inline hyk_a8_scaling hyk_a8_row_scaling(const hyk_a8_source* source, int asymmetric) {
  hyk_a8_range range = {0, 0};
  int32_t top = 0;
  float buffer[HYK_A8_PIECE];
  int64_t at;
  for (at = 0; at < source->k; at += HYK_A8_PIECE) {
    const int64_t count = source->k - at < HYK_A8_PIECE ? source->k - at : HYK_A8_PIECE;
    const float* x = hyk_a8_piece(source, at, count, buffer);
    if (asymmetric) {
      hyk_a8_extend(x, count, &range);
    } else {
      top = hyk_a8_top(x, count, top);
    }
  }
  return asymmetric ? hyk_a8_asymmetric(range) : hyk_a8_symmetric(top);
}

/// Writes the row's whole a8_token record, padding of the codes included.
static inline void hyk_a8_write_token(const hyk_a8_source* source, int asymmetric, void* record) {
  uint8_t* row = (uint8_t*)record;
  uint8_t* tail = row + hy_a8_scale_offset(HY_TYPE_A8_TOKEN, source->k);
  const hyk_a8_scaling s = hyk_a8_row_scaling(source, asymmetric);
  float buffer[HYK_A8_PIECE];
  int32_t sum = 0;
  int64_t at;
  for (at = 0; at < source->k; at += HYK_A8_PIECE) {
    const int64_t count = source->k - at < HYK_A8_PIECE ? source->k - at : HYK_A8_PIECE;
    const float* x = hyk_a8_piece(source, at, count, buffer);
    if (asymmetric) {
      hyk_a8_codes_asymmetric(x, count, s, (int8_t*)row + at);
    } else {
      hyk_a8_codes(x, count, s, (int8_t*)row + at);
    }
    sum += hyk_a8_sum((const int8_t*)row + at, count);
  }
  memset(row + source->k, 0, (size_t)(tail - row - source->k));
  memcpy(tail, &s.scale, sizeof s.scale);
  memcpy(tail + 4, &s.zero, sizeof s.zero);
  memcpy(tail + 8, &sum, sizeof sum);
}

/// Bytes of a record that carry something; what follows, up to hy_type_row_bytes, is zeros in
/// records that leave a kernel.
static inline uint64_t hyk_a8_used_bytes(uint32_t a8_type, int64_t k) {
  const uint64_t sums = hy_a8_sum_offset(a8_type, k);
  if (a8_type == HY_TYPE_A8_TOKEN) return sums + 8u;
  return sums + (uint64_t)k / (a8_type == HY_TYPE_A8_B32 ? 32u : 16u) * 2u;
}

/// Writes a whole record, bit for bit as quant::QuantizeActivations does.
static inline void hyk_a8_write(uint32_t a8_type, int asymmetric, const hyk_a8_source* source,
                                void* record) {
  const uint64_t used = hyk_a8_used_bytes(a8_type, source->k);
  if (source->k == 0) return;
  if (a8_type == HY_TYPE_A8_B32) {
    hyk_a8_write_b32(source, 0, source->k / 32, record);
  } else if (a8_type == HY_TYPE_A8_B256) {
    hyk_a8_write_b256(source, 0, source->k / 256, record);
  } else {
    hyk_a8_write_token(source, asymmetric, record);
  }
  memset((uint8_t*)record + used, 0, (size_t)(hy_type_row_bytes(a8_type, source->k) - used));
}

#endif  // HALYARD_BASE_SIMD_A8_H_
