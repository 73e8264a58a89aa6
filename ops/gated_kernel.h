// SPDX-License-Identifier: Apache-2.0
//
// The generic kernels of silu_mul and gelu_mul: piece by piece to f32, gated, stored; rows that become
// a8_token are gated as a whole into scratch, since they have one scale. For kernel sources.
#ifndef HALYARD_OPS_GATED_KERNEL_H_
#define HALYARD_OPS_GATED_KERNEL_H_

#include "base/simd/a8.h"
#include "base/simd/pieces.h"
#include "base/simd/scalar.h"

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

// Rows of the worker, each gated into `row`, then quantised.
inline void RunGatedRows(const Gated* op, const hy_kernel_context* context, GateFunction gate,
                         float* row) {
  hyk_pieces piece = {0, 0, 0, 0, 0, 0, hy_tensor_cols(op->y)};
  int64_t end;
  hy_split(hy_tensor_rows(op->y), 1, context->index, context->count, &piece.row, &end);
  const hyk_a8_source source = {row, HY_TYPE_F32, 0, piece.cols};
  for (; piece.row < end && piece.cols > 0; ++piece.row) {
    for (piece.first = 0; piece.first < piece.cols; piece.first += HYK_PIECE) {
      piece.count = hyk_least(HYK_PIECE, piece.cols - piece.first);
      GatePiece(op, &piece, gate, row + piece.first);
    }
    hyk_a8_write(op->y->type, 0, &source, hy_tensor_row(op->y, piece.row));
  }
}

inline uint64_t RowBytesOfScratch(const hy_tensor* y) {
  return hy_type_is_a8(y->type) ? hy_round_up((uint64_t)hy_tensor_cols(y) * 4u, 64) : 0;
}

inline hy_status RunGated(const Gated* op, const hy_kernel_context* context, GateFunction gate) {
  if (hy_type_is_a8(op->y->type)) {
    RunGatedRows(op, context, gate,
                 reinterpret_cast<float*>(static_cast<unsigned char*>(context->scratch) +
                                          context->index * RowBytesOfScratch(op->y)));
    return HY_OK;
  }
  float values[HYK_PIECE];
  hyk_pieces piece = hyk_share(hy_tensor_rows(op->y), hy_tensor_cols(op->y), context);
  while (hyk_next(&piece)) {
    GatePiece(op, &piece, gate, values);
    hyk_store_f32(op->y->type, hy_tensor_row(op->y, piece.row), piece.first, piece.count, values);
  }
  return HY_OK;
}

}  // namespace

#endif  // HALYARD_OPS_GATED_KERNEL_H_
