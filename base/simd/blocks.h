// SPDX-License-Identifier: Apache-2.0
//
// Blocks of weight formats taken apart in kernel sources: codes as int8 in the order of elements, and
// what they are multiplied with, in f32. All products of scales are exact in f32. Plain loops over the
// bytes of a plane, which compilers turn into vector code; C11 and C++20; no STL. The bytes are laid
// down in docs/formats.md.
#ifndef HALYARD_BASE_SIMD_BLOCKS_H_
#define HALYARD_BASE_SIMD_BLOCKS_H_

#include <stdint.h>
#include <string.h>

#include "base/simd/scalar.h"
#include "halyard/tensor.h"

/// One block. Element i has the value scale[i / sub] * code[i] + min[i / sub], rounded once: min is
/// -0 in formats without one, and adding that changes nothing.
typedef struct hyk_block {
  int8_t code[256];
  float scale[16];
  float min[16];
  int32_t size;  ///< elements
  int32_t sub;   ///< elements that share a scale
} hyk_block;

static inline float hyk_le_f16(const uint8_t* at) {
  return hyk_f16_to_f32((uint16_t)(at[0] | at[1] << 8));
}
static inline float hyk_le_f32(const uint8_t* at) {
  return hyk_from_bits(at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                       (uint32_t)at[3] << 24);
}

static inline void hyk_one_scale(hyk_block* b, int32_t size, float scale, float min) {
  b->size = size;
  b->sub = size;
  b->scale[0] = scale;
  b->min[0] = min;
}

// -------------------------------------------------------------------------------- blocks of 32 ---

/// Nibbles of 32 elements, `less` subtracted.
static inline void hyk_nibbles32(const uint8_t* in, int less, int8_t* code) {
  int j;
  for (j = 0; j < 16; ++j) code[j] = (int8_t)((in[j] & 15) - less);
  for (j = 0; j < 16; ++j) code[16 + j] = (int8_t)((in[j] >> 4) - less);
}

/// Adds bit i of a little-endian word, worth 16, to code i.
static inline void hyk_fifth_bits32(const uint8_t* word, int8_t* code) {
  int i;
  for (i = 0; i < 32; ++i) code[i] = (int8_t)(code[i] + ((word[i / 8] >> (i % 8) & 1) << 4));
}

static inline void hyk_unpack_q8_0(const uint8_t* in, hyk_block* b) {
  hyk_one_scale(b, 32, hyk_le_f16(in), -0.0f);
  memcpy(b->code, in + 2, 32);
}
static inline void hyk_unpack_q4_0(const uint8_t* in, hyk_block* b) {
  hyk_one_scale(b, 32, hyk_le_f16(in), -0.0f);
  hyk_nibbles32(in + 2, 8, b->code);
}
static inline void hyk_unpack_q4_1(const uint8_t* in, hyk_block* b) {
  hyk_one_scale(b, 32, hyk_le_f16(in), hyk_le_f16(in + 2));
  hyk_nibbles32(in + 4, 0, b->code);
}
static inline void hyk_unpack_q5_0(const uint8_t* in, hyk_block* b) {
  hyk_one_scale(b, 32, hyk_le_f16(in), -0.0f);
  hyk_nibbles32(in + 6, 16, b->code);
  hyk_fifth_bits32(in + 2, b->code);
}
static inline void hyk_unpack_q5_1(const uint8_t* in, hyk_block* b) {
  hyk_one_scale(b, 32, hyk_le_f16(in), hyk_le_f16(in + 2));
  hyk_nibbles32(in + 8, 0, b->code);
  hyk_fifth_bits32(in + 4, b->code);
}
static inline void hyk_unpack_w4a8(const uint8_t* in, hyk_block* b) {
  int run;
  hyk_one_scale(b, 128, hyk_le_f32(in), -0.0f);
  for (run = 0; run < 4; ++run) hyk_nibbles32(in + 4 + 16 * run, 8, b->code + 32 * run);
}

// ------------------------------------------------------------------------------- blocks of 256 ---

/// Two bits of each of 256 elements, from 64 bytes.
static inline void hyk_pairs256(const uint8_t* in, int8_t* code) {
  int run;
  int l;
  for (run = 0; run < 8; ++run) {
    for (l = 0; l < 32; ++l)
      code[32 * run + l] = (int8_t)(in[run / 4 * 32 + l] >> (run % 4 * 2) & 3);
  }
}

/// Adds one bit of each of 256 elements, from 32 bytes, shifted by `shift`, less `less`.
static inline void hyk_bits256(const uint8_t* in, int shift, int less, int8_t* code) {
  int run;
  int l;
  for (run = 0; run < 8; ++run) {
    for (l = 0; l < 32; ++l) {
      int8_t* c = &code[32 * run + l];
      *c = (int8_t)(*c + ((in[l] >> run & 1) << shift) - less);
    }
  }
}

/// Nibbles of 256 elements, from 128 bytes: `run` bytes hold the elements of twice as many.
static inline void hyk_nibbles256(const uint8_t* in, int run, int8_t* code) {
  int first;
  int l;
  for (first = 0; first < 128; first += run) {
    for (l = 0; l < run; ++l) code[2 * first + l] = (int8_t)(in[first + l] & 15);
    for (l = 0; l < run; ++l) code[2 * first + run + l] = (int8_t)(in[first + l] >> 4);
  }
}

/// Eight scales and minimums of 6 bits from 12 bytes.
static inline void hyk_six_bits(const uint8_t* in, float d, float dmin, hyk_block* b) {
  int j;
  b->size = 256;
  b->sub = 32;
  for (j = 0; j < 4; ++j) {
    b->scale[j] = d * (float)(in[j] & 63);
    b->min[j] = -dmin * (float)(in[j + 4] & 63);
    b->scale[j + 4] = d * (float)((in[j + 8] & 15) | in[j] >> 6 << 4);
    b->min[j + 4] = -dmin * (float)(in[j + 8] >> 4 | in[j + 4] >> 6 << 4);
  }
}

/// Sixteen scales of 6 bits, 32 subtracted, from 12 bytes.
static inline void hyk_signed_six_bits(const uint8_t* in, int8_t* scale) {
  int j;
  for (j = 0; j < 16; ++j) {
    const int low = in[j % 8] >> (j / 8 * 4) & 15;
    const int high = in[8 + j % 4] >> (j / 4 * 2) & 3;
    scale[j] = (int8_t)((low | high << 4) - 32);
  }
}

static inline void hyk_sixteen_scales(const int8_t* scale, float d, hyk_block* b) {
  int s;
  b->size = 256;
  b->sub = 16;
  for (s = 0; s < 16; ++s) {
    b->scale[s] = d * (float)scale[s];
    b->min[s] = -0.0f;
  }
}

static inline void hyk_unpack_q2_k(const uint8_t* in, hyk_block* b) {
  const float d = hyk_le_f16(in + 80);
  const float dmin = hyk_le_f16(in + 82);
  int s;
  b->size = 256;
  b->sub = 16;
  for (s = 0; s < 16; ++s) {
    b->scale[s] = d * (float)(in[s] & 15);
    b->min[s] = -dmin * (float)(in[s] >> 4);
  }
  hyk_pairs256(in + 16, b->code);
}
static inline void hyk_unpack_q3_k(const uint8_t* in, hyk_block* b) {
  int8_t scale[16];
  hyk_signed_six_bits(in + 96, scale);
  hyk_sixteen_scales(scale, hyk_le_f16(in + 108), b);
  hyk_pairs256(in + 32, b->code);
  hyk_bits256(in, 2, 4, b->code);
}
static inline void hyk_unpack_q4_k(const uint8_t* in, hyk_block* b) {
  hyk_six_bits(in + 4, hyk_le_f16(in), hyk_le_f16(in + 2), b);
  hyk_nibbles256(in + 16, 32, b->code);
}
static inline void hyk_unpack_q5_k(const uint8_t* in, hyk_block* b) {
  hyk_six_bits(in + 4, hyk_le_f16(in), hyk_le_f16(in + 2), b);
  hyk_nibbles256(in + 48, 32, b->code);
  hyk_bits256(in + 16, 4, 0, b->code);
}
static inline void hyk_unpack_q6_k(const uint8_t* in, hyk_block* b) {
  int8_t upper[256];
  int i;
  hyk_sixteen_scales((const int8_t*)in + 192, hyk_le_f16(in + 208), b);
  hyk_nibbles256(in, 64, b->code);
  hyk_pairs256(in + 128, upper);
  for (i = 0; i < 256; ++i) b->code[i] = (int8_t)((b->code[i] | upper[i] << 4) - 32);
}

/// One block of any weight format but w8a8.
static inline void hyk_unpack_block(uint32_t type, const uint8_t* in, hyk_block* b) {
  switch (type) {
    case HY_TYPE_Q8_0:
      hyk_unpack_q8_0(in, b);
      break;
    case HY_TYPE_Q4_0:
      hyk_unpack_q4_0(in, b);
      break;
    case HY_TYPE_Q4_1:
      hyk_unpack_q4_1(in, b);
      break;
    case HY_TYPE_Q5_0:
      hyk_unpack_q5_0(in, b);
      break;
    case HY_TYPE_Q5_1:
      hyk_unpack_q5_1(in, b);
      break;
    case HY_TYPE_Q2_K:
      hyk_unpack_q2_k(in, b);
      break;
    case HY_TYPE_Q3_K:
      hyk_unpack_q3_k(in, b);
      break;
    case HY_TYPE_Q4_K:
      hyk_unpack_q4_k(in, b);
      break;
    case HY_TYPE_Q5_K:
      hyk_unpack_q5_k(in, b);
      break;
    case HY_TYPE_Q6_K:
      hyk_unpack_q6_k(in, b);
      break;
    default:
      hyk_unpack_w4a8(in, b);
      break;
  }
}

// ------------------------------------------------------------------------------------- values ---

static inline void hyk_block_values(const hyk_block* b, float* out) {
  int first;
  int i;
  for (first = 0; first < b->size; first += b->sub) {
    const float scale = b->scale[first / b->sub];
    const float min = b->min[first / b->sub];
    for (i = first; i < first + b->sub; ++i) out[i] = scale * (float)b->code[i] + min;
  }
}

static inline void hyk_scaled_codes(const int8_t* code, int64_t count, float scale, int32_t zero,
                                    float* out) {
  int64_t i;
  for (i = 0; i < count; ++i) out[i] = scale * (float)(code[i] - zero);
}

/// Elements [first, first + count) of a row record of activations of `k` elements.
static inline void hyk_a8_values(uint32_t type, const void* row, int64_t k, int64_t first,
                                 int64_t count, float* out) {
  const uint8_t* scales = (const uint8_t*)row + hy_a8_scale_offset(type, k);
  const int8_t* code = (const int8_t*)row + first;
  const int64_t block = type == HY_TYPE_A8_TOKEN ? count : type == HY_TYPE_A8_B32 ? 32 : 256;
  float scale;
  int32_t zero = 0;
  int64_t at;
  if (type == HY_TYPE_A8_TOKEN) memcpy(&zero, scales + 4, sizeof zero);
  for (at = 0; at < count; at += block) {
    memcpy(&scale, scales + (type == HY_TYPE_A8_TOKEN ? 0 : (first + at) / block * 4), 4);
    hyk_scaled_codes(code + at, block, scale, zero, out + at);
  }
}

/// Elements [first, first + count) of a row of `k` elements of any type but i8 and i32, as f32: the
/// same bits as quant::DecodeRowF32. `first` and `count` are whole blocks.
static inline void hyk_values(uint32_t type, const void* row, int64_t k, int64_t first,
                              int64_t count, float* out) {
  const uint8_t* in = (const uint8_t*)row;
  hyk_block b;
  if (hy_type_is_float(type)) {
    hyk_load_f32(type, row, first, count, out);
  } else if (type == HY_TYPE_W8A8) {
    hyk_scaled_codes((const int8_t*)in + 4 + first, count, hyk_le_f32(in), 0, out);
  } else if (hy_type_is_a8(type)) {
    hyk_a8_values(type, row, k, first, count, out);
  } else {
    const hy_type_info* facts = hy_type_facts(type);
    const int64_t size = facts->block;
    const int64_t end = first + count;
    for (in += first / size * facts->block_bytes; first < end; first += size) {
      hyk_unpack_block(type, in, &b);
      hyk_block_values(&b, out);
      in += facts->block_bytes;
      out += size;
    }
  }
}

#endif  // HALYARD_BASE_SIMD_BLOCKS_H_
