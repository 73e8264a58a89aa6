// SPDX-License-Identifier: Apache-2.0
//
// The generic kernels of silu_mul and gelu_mul: piece by piece to f32, gated, stored. For kernel
// sources.
#ifndef HALYARD_OPS_GATED_KERNEL_H_
#define HALYARD_OPS_GATED_KERNEL_H_

#include "base/simd/pieces.h"
#include "base/simd/row_store.h"

namespace {

struct Gated {
  const hy_tensor* gate;
  const hy_tensor* up;
  const hy_tensor* y;
};

// Applied in place: values[i] = f(values[i]) * up[i].
using GateFunction = void (*)(float* values, const float* up, int64_t count);

inline void GatePiece(const Gated* op, const hyk_pieces* piece, GateFunction gate, float* values) {
  float up[HYK_PIECE];
  hyk_load_f32(op->gate->type, hy_tensor_row(op->gate, piece->row), piece->first, piece->count,
               values);
  hyk_load_f32(op->up->type, hy_tensor_row(op->up, piece->row), piece->first, piece->count, up);
  gate(values, up, piece->count);
}

// Rows of the worker, as a whole each.
inline void RunGatedRows(const Gated* op, const hy_kernel_context* context, GateFunction gate) {
  float values[HYK_PIECE];
  hyk_pieces piece = {0, 0, 0, 0, 0, 0, hy_tensor_cols(op->y)};
  int64_t end;
  hy_split(hy_tensor_rows(op->y), 1, context->index, context->count, &piece.row, &end);
  for (; piece.row < end && piece.cols > 0; ++piece.row) {
    for (piece.first = 0; piece.first < piece.cols; piece.first += HYK_PIECE) {
      piece.count = hyk_least(HYK_PIECE, piece.cols - piece.first);
      GatePiece(op, &piece, gate, values);
      hyk_store_piece(op->y, piece.row, piece.first, piece.count, values, context);
    }
    hyk_finish_row(op->y, piece.row, context);
  }
}

inline hy_status RunGated(const Gated* op, const hy_kernel_context* context, GateFunction gate) {
  if (hy_type_is_a8(op->y->type)) {
    RunGatedRows(op, context, gate);
    return HY_OK;
  }
  float values[HYK_PIECE];
  hyk_pieces piece = hyk_share(hy_tensor_rows(op->y), hy_tensor_cols(op->y), context);
  while (hyk_next(&piece)) {
    GatePiece(op, &piece, gate, values);
    hyk_store_piece(op->y, piece.row, piece.first, piece.count, values, context);
  }
  return HY_OK;
}

}  // namespace

#endif  // HALYARD_OPS_GATED_KERNEL_H_
