// SPDX-License-Identifier: Apache-2.0
//
// The generic kernels of add and mul: piece by piece to f32, combined, stored. For kernel sources.
#ifndef HALYARD_OPS_BINARY_KERNEL_H_
#define HALYARD_OPS_BINARY_KERNEL_H_

#include "base/simd/pieces.h"
#include "base/simd/scalar.h"

namespace {

// `b` with the shape of y: neighbours along repeated axes lie 0 bytes apart. The last axis keeps its
// size.
inline hy_tensor Repeat(const hy_tensor* b, const hy_tensor* y) {
  hy_tensor repeated = *b;
  for (uint32_t i = 0; i + 1 < y->rank; ++i) {
    if (b->shape[i] == 1) repeated.stride[i] = 0;
    repeated.shape[i] = y->shape[i];
  }
  return repeated;
}

inline void LoadRepeated(const hy_tensor* b, const hyk_pieces* piece, float* out) {
  const void* row = hy_tensor_row(b, piece->row);
  if (hy_tensor_cols(b) == piece->cols)
    return hyk_load_f32(b->type, row, piece->first, piece->count, out);
  float value;
  hyk_load_f32(b->type, row, 0, 1, &value);
  for (int64_t i = 0; i < piece->count; ++i) out[i] = value;
}

template <typename Combine>
inline hy_status RunBinary(const hy_tensor* a, const hy_tensor* b, const hy_tensor* y,
                           const hy_kernel_context* context, Combine combine) {
  const hy_tensor repeated = Repeat(b, y);
  float values[HYK_PIECE];
  float others[HYK_PIECE];
  hyk_pieces piece = hyk_share(hy_tensor_rows(y), hy_tensor_cols(y), context);
  while (hyk_next(&piece)) {
    hyk_load_f32(a->type, hy_tensor_row(a, piece.row), piece.first, piece.count, values);
    LoadRepeated(&repeated, &piece, others);
    combine(values, others, piece.count);
    hyk_store_f32(y->type, hy_tensor_row(y, piece.row), piece.first, piece.count, values);
  }
  return HY_OK;
}

}  // namespace

#endif  // HALYARD_OPS_BINARY_KERNEL_H_
