// SPDX-License-Identifier: Apache-2.0
//
// Element types, block formats and tensors, as ops and kernels see them. C11 and C++20.
//
// The bytes of every block format are laid down in docs/formats.md and base/quant; fields of weight
// formats are little-endian on every host, so a mapped file can be used as it is.
#ifndef HALYARD_TENSOR_H_
#define HALYARD_TENSOR_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "halyard/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Types of tensors. Numbers are never reused. Block formats cut each row into blocks of
/// hy_type_block elements that carry their own scales.
enum {
  HY_TYPE_NONE = 0,
  HY_TYPE_F32 = 1,
  HY_TYPE_F16 = 2,   ///< IEEE binary16
  HY_TYPE_BF16 = 3,  ///< upper half of binary32
  HY_TYPE_I8 = 4,
  HY_TYPE_I32 = 5,

  // Weight formats. Q*: as in GGUF files.
  HY_TYPE_Q8_0 = 16,
  HY_TYPE_Q4_0 = 17,
  HY_TYPE_Q4_1 = 18,
  HY_TYPE_Q5_0 = 19,
  HY_TYPE_Q5_1 = 20,
  HY_TYPE_Q2_K = 21,
  HY_TYPE_Q3_K = 22,
  HY_TYPE_Q4_K = 23,
  HY_TYPE_Q5_K = 24,
  HY_TYPE_Q6_K = 25,
  /// A row is one block: f32 scale, then one int8 code an element. value = scale * code.
  HY_TYPE_W8A8 = 26,
  /// Blocks of 128: f32 scale, then 64 bytes: four runs of 16 bytes, run r byte j holds element
  /// 32 r + j in its low nibble and 32 r + j + 16 in its high one. value = scale * (nibble - 8).
  HY_TYPE_W4A8_G128 = 27,

  // Quantised activations, made by the op `quantize` and never stored in files; host byte order.
  // A row is one record of hy_type_row_bytes, 64-byte granular; see hy_a8_* below.
  HY_TYPE_A8_B32 = 48,    ///< int8 codes, an f32 scale for each 32
  HY_TYPE_A8_B256 = 49,   ///< int8 codes, an f32 scale for each 256
  HY_TYPE_A8_TOKEN = 50,  ///< int8 codes, one f32 scale and one zero point for the row

  HY_TYPE_COUNT = 64
};

/// Facts of a type. `block` 0: the type does not exist; UINT32_MAX: a row is one block.
typedef struct hy_type_info {
  const char* name;      ///< as in ids and on the command line: "f32", "q4_k"
  uint32_t block;        ///< elements that share a scale; the row length must be a multiple
  uint32_t block_bytes;  ///< bytes of such a block; 0 where a row is one record
} hy_type_info;

#define HY_BLOCK_ROW UINT32_MAX

/// Facts of a type; those of HY_TYPE_NONE for a number that is no type. Never NULL.
static inline const hy_type_info* hy_type_facts(uint32_t type) {
  static const hy_type_info none = {"none", 0, 0};
  static const hy_type_info plain[] = {{"none", 0, 0}, {"f32", 1, 4}, {"f16", 1, 2},
                                       {"bf16", 1, 2}, {"i8", 1, 1},  {"i32", 1, 4}};
  static const hy_type_info weights[] = {
      {"q8_0", 32, 34},   {"q4_0", 32, 18},   {"q4_1", 32, 20},          {"q5_0", 32, 22},
      {"q5_1", 32, 24},   {"q2_k", 256, 84},  {"q3_k", 256, 110},        {"q4_k", 256, 144},
      {"q5_k", 256, 176}, {"q6_k", 256, 210}, {"w8a8", HY_BLOCK_ROW, 0}, {"w4a8_g128", 128, 68}};
  static const hy_type_info acts[] = {{"a8_b32", 32, 0}, {"a8_b256", 256, 0}, {"a8_token", 1, 0}};
  if (type <= HY_TYPE_I32) return &plain[type];
  if (type >= HY_TYPE_Q8_0 && type <= HY_TYPE_W4A8_G128) return &weights[type - HY_TYPE_Q8_0];
  if (type >= HY_TYPE_A8_B32 && type <= HY_TYPE_A8_TOKEN) return &acts[type - HY_TYPE_A8_B32];
  return &none;
}

static inline const char* hy_type_name(uint32_t type) { return hy_type_facts(type)->name; }

static inline int hy_type_is_float(uint32_t type) {
  return type == HY_TYPE_F32 || type == HY_TYPE_F16 || type == HY_TYPE_BF16;
}
static inline int hy_type_is_weights(uint32_t type) {
  return type >= HY_TYPE_Q8_0 && type <= HY_TYPE_W4A8_G128;
}
static inline int hy_type_is_a8(uint32_t type) {
  return type >= HY_TYPE_A8_B32 && type <= HY_TYPE_A8_TOKEN;
}

// Record of one row of quantised activations, `k` elements:
//   a8_b32    int8 code[k]; f32 scale[k/32]; int16 sum[k/32], the sum of the codes of each 32
//   a8_b256   int8 code[k]; f32 scale[k/256]; int16 sum[k/16], the sum of the codes of each 16
//   a8_token  int8 code[k], padded to 16; f32 scale; int32 zero; int32 sum of all codes
// value = scale * (code - zero), zero being 0 but for a8_token.

static inline uint64_t hy_round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1u) / multiple * multiple;
}
/// Offset in bytes of the scales in a row record of `k` elements.
static inline uint64_t hy_a8_scale_offset(uint32_t type, int64_t k) {
  return type == HY_TYPE_A8_TOKEN ? hy_round_up((uint64_t)k, 16) : (uint64_t)k;
}
/// Offset in bytes of the sums in a row record; of the zero point, which the sum follows, for
/// a8_token.
static inline uint64_t hy_a8_sum_offset(uint32_t type, int64_t k) {
  if (type == HY_TYPE_A8_TOKEN) return hy_a8_scale_offset(type, k) + 4u;
  return (uint64_t)k + (uint64_t)k / hy_type_facts(type)->block * 4u;
}

/// Bytes of a row of `elements`, which must be a multiple of the type's block. 0 for no type, and for
/// no elements: then there is no scale either.
static inline uint64_t hy_type_row_bytes(uint32_t type, int64_t elements) {
  const hy_type_info* facts = hy_type_facts(type);
  const uint64_t k = (uint64_t)elements;
  if (k == 0) return 0;
  if (type == HY_TYPE_W8A8) return k + 4u;
  if (type == HY_TYPE_A8_TOKEN) return hy_round_up(hy_a8_sum_offset(type, elements) + 8u, 64);
  if (type == HY_TYPE_A8_B32)
    return hy_round_up(hy_a8_sum_offset(type, elements) + k / 32u * 2u, 64);
  if (type == HY_TYPE_A8_B256)
    return hy_round_up(hy_a8_sum_offset(type, elements) + k / 16u * 2u, 64);
  return facts->block == 0 ? 0 : k / facts->block * facts->block_bytes;
}

#define HY_MAX_RANK 4
/// Layout of a tensor whose bytes are as its type says.
#define HY_LAYOUT_CANONICAL 0u

/// A view of memory. Never grows, so it can be embedded. Axes are counted from the outermost; along
/// the last one elements (or blocks) are contiguous, and `shape` counts elements. A row is what lies
/// along the last axis. Neighbours along axis i lie stride[i] bytes apart; strides are not negative;
/// stride[rank - 1] is not looked at.
/// A tensor with a packed layout (hy_layout_desc) keeps the shape and type of what was packed; its
/// strides are not looked at.
typedef struct hy_tensor {
  void* data;     ///< borrowed; aligned to the element size, 1 for block formats
  uint32_t type;  ///< HY_TYPE_*; NONE: the operand is absent
  uint32_t rank;  ///< 1..HY_MAX_RANK; 0 if absent
  int64_t shape[HY_MAX_RANK];
  int64_t stride[HY_MAX_RANK];  ///< bytes
  uint32_t layout;              ///< HY_LAYOUT_CANONICAL, or that of a hy_layout_desc
  uint32_t reserved;
} hy_tensor;

static inline int hy_tensor_present(const hy_tensor* t) { return t->type != HY_TYPE_NONE; }

/// Elements along the last axis.
static inline int64_t hy_tensor_cols(const hy_tensor* t) {
  return t->rank == 0 ? 0 : t->shape[t->rank - 1];
}

/// Rows: the product of all axes but the last.
static inline int64_t hy_tensor_rows(const hy_tensor* t) {
  int64_t rows = 1;
  uint32_t i;
  for (i = 0; i + 1 < t->rank; ++i) rows *= t->shape[i];
  return t->rank == 0 ? 0 : rows;
}

/// Address of row `row`, counted over all axes but the last.
static inline void* hy_tensor_row(const hy_tensor* t, int64_t row) {
  unsigned char* at = (unsigned char*)t->data;
  uint32_t i = t->rank;
  if (i < 2) return at;
  if (i == 2) return at + row * t->stride[0];
  for (--i; i > 0; --i) {
    at += row % t->shape[i - 1] * t->stride[i - 1];
    row /= t->shape[i - 1];
  }
  return at;
}

/// A dense tensor: rows as close as the type allows, axes nested.
static inline hy_tensor hy_tensor_dense(void* data, uint32_t type, uint32_t rank,
                                        const int64_t* shape) {
  hy_tensor t;
  uint32_t i;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.type = type;
  t.rank = rank;
  for (i = 0; i < rank && i < HY_MAX_RANK; ++i) t.shape[i] = shape[i];
  if (rank == 0 || rank > HY_MAX_RANK) return t;
  t.stride[rank - 1] = (int64_t)hy_type_facts(type)->block_bytes;
  if (rank > 1) t.stride[rank - 2] = (int64_t)hy_type_row_bytes(type, shape[rank - 1]);
  for (i = rank - 1; i-- > 1;) t.stride[i - 1] = t.stride[i] * t.shape[i];
  return t;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_TENSOR_H_
