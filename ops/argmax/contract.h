// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_ARGMAX_CONTRACT_H_
#define HALYARD_OPS_ARGMAX_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Column of the largest element of each row: y[r] = the least c with x[r][c] = max_i x[r][i].
/// Shapes   x [rows, n]; y [rows].
/// Types    x: f32 | f16 | bf16; y: i32.
/// Alias    y apart from x.
/// Edge     no rows writes nothing; n == 0 gives -1. -0 and +0 are equal; a row of -Inf only gives 0.
///          For a row with a NaN run returns INVALID_ARGUMENT and gives -1; all others are right.
/// Budget   exact.
typedef struct hy_argmax_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor x;        ///< [rows, n]
  hy_tensor y;        ///< i32 [rows]
} hy_argmax_args;

#define HY_ARGMAX_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_ARGMAX_CONTRACT_H_
