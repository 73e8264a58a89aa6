// SPDX-License-Identifier: Apache-2.0
//
// How a kernel stores a row that it makes piece by piece in f32, whatever the output's type is: rows
// that become quantised activations gather in scratch first. C11 and C++20; no STL.
#ifndef HALYARD_BASE_SIMD_ROW_STORE_H_
#define HALYARD_BASE_SIMD_ROW_STORE_H_

#include <stdint.h>
#include <string.h>

#include "base/simd/a8.h"
#include "base/simd/scalar.h"
#include "halyard/kernel.h"

/// Scratch that each worker needs to store rows of `y`, in bytes.
static inline uint64_t hyk_row_scratch(const hy_tensor* y) {
  return hy_type_is_a8(y->type) ? hy_round_up((uint64_t)hy_tensor_cols(y) * sizeof(float), 64) : 0;
}

/// Stores elements [first, first + count) of row `row` of y.
static inline void hyk_store_piece(const hy_tensor* y, int64_t row, int64_t first, int64_t count,
                                   const float* values, const hy_kernel_context* context) {
  if (hy_type_is_a8(y->type)) {
    uint8_t* scratch = (uint8_t*)context->scratch + context->index * hyk_row_scratch(y);
    memcpy(scratch + (uint64_t)first * sizeof(float), values, (size_t)count * sizeof(float));
  } else {
    hyk_store_f32(y->type, hy_tensor_row(y, row), first, count, values);
  }
}

/// After the last piece of a row.
static inline void hyk_finish_row(const hy_tensor* y, int64_t row,
                                  const hy_kernel_context* context) {
  hyk_a8_source source;
  if (!hy_type_is_a8(y->type)) return;
  source.x = (const uint8_t*)context->scratch + context->index * hyk_row_scratch(y);
  source.type = HY_TYPE_F32;
  source.reserved = 0;
  source.k = hy_tensor_cols(y);
  hyk_a8_write(y->type, 0, &source, hy_tensor_row(y, row));
}

#endif  // HALYARD_BASE_SIMD_ROW_STORE_H_
