// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_MATMUL_ID_CONTRACT_H_
#define HALYARD_OPS_MATMUL_ID_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Matrix product with experts: each row of y takes the weights that its id names,
///   y[t][u][n] = sum_k x[t][u or 0][k] * w[ids[t][u]][n][k]
/// Shapes   x [T, K] (one row for all U choices of a token) or [T, U, K]; w [E, N, K]; ids [T, U];
///          y [T, U, N].
/// Types    x: f32 | f16 | bf16 | a8_b32 | a8_b256 | a8_token; y: f32 | f16 | bf16; ids: i32;
///          w: f32 | f16 | bf16 or a weight format; w may have a packed layout.
/// Numerics as matmul: `activation` says how x may be rounded before the product (HY_QA_*).
/// Alias    none: y apart from all else.
/// Edge     an id below 0 makes its row of y zeros. An id of E or more makes it zeros and the run
///          return OUT_OF_RANGE; all other rows are right. T, U, N or E == 0: as such; K == 0 gives
///          zeros. A NaN or Inf in a row of x, or of an expert, reaches no other row.
/// Budget   as matmul, for each row.
/// Source   conformance levels and the derivation of the budget: docs/conformance.md.
typedef struct hy_matmul_id_args {
  uint32_t struct_size;
  uint32_t activation;  ///< HY_QA_*
  hy_tensor x;
  hy_tensor w;    ///< [E, N, K]
  hy_tensor ids;  ///< [T, U]
  hy_tensor y;    ///< [T, U, N]
} hy_matmul_id_args;

#define HY_MATMUL_ID_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_MATMUL_ID_CONTRACT_H_
