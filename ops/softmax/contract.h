// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_SOFTMAX_CONTRACT_H_
#define HALYARD_OPS_SOFTMAX_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Softmax over the last axis, of scores with a mask added:
///   t[r][c] = scale * x[r][c] + mask[r][c];  y[r][c] = exp(t[r][c]) / sum_c exp(t[r][c])
/// Shapes   x, y [rows, cols]; mask [rows, cols], or [1, cols] for all rows.
/// Types    x: f32 | f16 | bf16; mask: f32; y: the type of x, or f32. Scores, exponentials and sums are
///          f32 or wider.
/// Alias    y may be x; other overlap is refused.
/// Edge     no rows or no columns writes nothing. A score of -Inf (a masked one) gives 0; a row of
///          those only gives zeros. A score that is NaN or +Inf, or beyond f32, makes its row NaN, and
///          no other; so does a NaN that is masked, for NaN + -Inf is NaN.
/// Budget   relative: e_c + sum_i y_i e_i + u (8 + 4 sqrt(cols)), with
///          e_c = u (|scale x_c| + |t_c| + 2 |t_c - max t|), the first term where scale is not 1, the
///          second where there is a mask; u = 2^-24. + 2^-149 + 0.5 ulp of y's type.
/// Source   the maximum is taken off first, as everywhere; the budget is first order in the errors.
typedef struct hy_softmax_args {
  uint32_t struct_size;
  float scale;     ///< finite
  hy_tensor x;     ///< [rows, cols]
  hy_tensor mask;  ///< f32 [rows or 1, cols] or absent
  hy_tensor y;     ///< [rows, cols]
} hy_softmax_args;

#define HY_SOFTMAX_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_SOFTMAX_CONTRACT_H_
