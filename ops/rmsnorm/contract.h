// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_RMSNORM_CONTRACT_H_
#define HALYARD_OPS_RMSNORM_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// RMSNorm over the last axis, of x or of a residual sum:
///   s[r][c] = x[r][c] + add[r][c], rounded to the type of `sum` if that is there (else s = x, or
///             the sum in f32 or wider)
///   y[r][c] = s[r][c] * w[c] / sqrt(mean_c s[r][c]^2 + eps)
/// Shapes   x, add, sum, y [rows, cols]; w [cols].
/// Types    x, add, sum: f32 | f16 | bf16, equal; w: f32; y: the type of x, f32, or a8_b32 | a8_b256 |
///          a8_token, which is y in f32 put through `quantize`. Accumulates in f32 or wider.
/// Alias    y may be x; sum may be x or add; other overlap is refused.
/// Edge     no rows or no columns writes nothing. NaN and Inf propagate. eps may be 0. Rows whose sum of
///          squares leaves the range of f32 may come out as if it were 0 or Inf.
/// Budget   relative: u_out + u (2 sqrt(n) + 4) + u, u = 2^-24, u_out that of y's type, n = cols.
/// Source   Zhang & Sennrich 2019; eps inside the root as in the Llama checkpoints.
typedef struct hy_rmsnorm_args {
  uint32_t struct_size;
  float eps;      ///< not negative, finite
  hy_tensor x;    ///< [rows, cols]
  hy_tensor add;  ///< [rows, cols] or absent: the residual
  hy_tensor w;    ///< [cols] or absent: all ones
  hy_tensor y;    ///< [rows, cols]
  hy_tensor sum;  ///< [rows, cols] or absent; needs add
} hy_rmsnorm_args;

#define HY_RMSNORM_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_RMSNORM_CONTRACT_H_
