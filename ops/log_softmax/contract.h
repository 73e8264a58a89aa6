// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_LOG_SOFTMAX_CONTRACT_H_
#define HALYARD_OPS_LOG_SOFTMAX_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Logarithm of softmax over the last axis, of all columns, or of those named:
///   l[r][c] = x[r][c] - log(sum_i exp(x[r][i]))
///   y[r][c] = l[r][c], or with ids y[r][j] = l[r][ids[r][j]]
/// Shapes   x [rows, n]; ids [rows, k]; y [rows, k] with ids, [rows, n] without.
/// Types    x: f32 | f16 | bf16; ids: i32; y: f32. Exponentials and sums are f32 or wider.
/// Alias    y may be x, if there are no ids; other overlap is refused.
/// Edge     no rows or no columns of y writes nothing. An x of -Inf gives -Inf. NaN or +Inf makes all l
///          of its row NaN, and so does a row of -Inf only. A negative id gives -Inf, as top_k leaves
///          them where there are too few columns. For an id from n on, run returns OUT_OF_RANGE and
///          gives -Inf; all others are right.
/// Budget   u (2 |x_c - m| + 2 |L| + 2 sum_i p_i |x_i - m| + 8 + 4 sqrt(n)), with m = max x,
///          L = log(sum_i exp(x_i - m)), p = softmax(x), u = 2^-24; + 0.5 ulp of f32.
/// Source   the maximum is taken off first; the budget is first order in the errors.
typedef struct hy_log_softmax_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor x;        ///< [rows, n]
  hy_tensor ids;      ///< i32 [rows, k] or absent
  hy_tensor y;        ///< f32 [rows, k or n]
} hy_log_softmax_args;

#define HY_LOG_SOFTMAX_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_LOG_SOFTMAX_CONTRACT_H_
