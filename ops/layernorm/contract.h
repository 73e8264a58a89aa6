// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_LAYERNORM_CONTRACT_H_
#define HALYARD_OPS_LAYERNORM_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// LayerNorm over the last axis:
///   m = mean_c x[r][c];  d[c] = x[r][c] - m;  s = 1 / sqrt(mean_c d[c]^2 + eps)
///   y[r][c] = d[c] * s * w[c] + b[c]
/// Shapes   x, y [rows, cols]; w, b [cols].
/// Types    x: f32 | f16 | bf16; w, b: f32; y: the type of x, f32, or a8_b32 | a8_b256 | a8_token, which
///          is y in f32 put through `quantize`. Accumulates in f32 or wider.
/// Alias    y may be x; other overlap is refused.
/// Edge     no rows or no columns writes nothing. NaN and Inf make their row NaN. eps may be 0. Rows
///          whose sum of squares leaves the range of f32 may come out as if it were 0 or Inf.
/// Budget   |w| s e (1 + e |d| s^2 / 2) + u (2 sqrt(n) + 8) |w d s| + u |y| + 0.5 ulp of y's type, with
///          u = 2^-24, n = cols, and e = u (4 (|sum x| + 3 sqrt(sum x^2)) / sqrt(n) + 2 |m|), the error of
///          the mean. The deviations are summed after the mean is known: sum x^2 - n m^2 cancels.
/// Source   Ba et al. 2016; eps inside the root as in PyTorch.
typedef struct hy_layernorm_args {
  uint32_t struct_size;
  float eps;    ///< not negative, finite
  hy_tensor x;  ///< [rows, cols]
  hy_tensor w;  ///< [cols] or absent: all ones
  hy_tensor b;  ///< [cols] or absent: all zeros
  hy_tensor y;  ///< [rows, cols]
} hy_layernorm_args;

#define HY_LAYERNORM_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_LAYERNORM_CONTRACT_H_
