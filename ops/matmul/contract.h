// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_MATMUL_CONTRACT_H_
#define HALYARD_OPS_MATMUL_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Matrix product with the transpose of weights:
///   y[b][m][n] = sum_k x[b][m][k] * w[b][n][k] + bias[n]
/// Shapes   rank 2: x [M, K], w [N, K], y [M, N]; rank 3: x [B, M, K], w [B, N, K] or [1, N, K],
///          y [B, M, N]; bias [N]. Weights are of the rank of x, or of rank 2 for all of B.
/// Types    x: f32 | f16 | bf16 | a8_b32 | a8_b256 | a8_token; y: f32 | f16 | bf16; bias: f32;
///          w: f32 | f16 | bf16 or a weight format; w may have a packed layout.
/// Numerics `activation` says how x may be rounded before the product (HY_QA_*): ANY leaves it to the
///          kernel, which declares its class; the codes are those that `quantize` gives, bit for bit.
///          With x of an a8 type, activation is ANY.
/// Alias    none: y apart from all else.
/// Edge     M, N or B == 0 writes nothing; K == 0 gives the bias, or 0. NaN and Inf of a row of x
///          reach that row of y only; of a row of w, that column only. What y held is never read.
///          A row (or block) of x that is quantised and holds a NaN or Inf makes its row of y NaN.
/// Budget   with S2 = sqrt(sum (x w)^2): 0.5 ulp_out + 4 u sqrt(n) (|y| + 3 S2), n the length of the
///          floating-point sum (K; blocks for I32_F32), and 2 u |y| for each level of scale; exact
///          where all partial sums are (conformance mode E).
/// Source   conformance levels and the derivation of the budget: docs/conformance.md.
typedef struct hy_matmul_args {
  uint32_t struct_size;
  uint32_t activation;  ///< HY_QA_*
  hy_tensor x;
  hy_tensor w;
  hy_tensor bias;  ///< [N] or absent
  hy_tensor y;
} hy_matmul_args;

#define HY_MATMUL_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_MATMUL_CONTRACT_H_
