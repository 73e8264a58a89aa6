// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_TOP_K_CONTRACT_H_
#define HALYARD_OPS_TOP_K_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The k largest elements of each row, in order: values[r][0] >= values[r][1] >= ..., of equal ones
/// that of the least column first; ids[r][j] is the column of values[r][j].
/// Shapes   x [rows, n]; values, ids [rows, k].
/// Types    x: f32 | f16 | bf16; values: f32; ids: i32.
/// Alias    all apart.
/// Edge     no rows or k == 0 writes nothing. Where k > n, what is left over is -Inf and -1. -0 and +0 are
///          equal. For a row with a NaN run returns INVALID_ARGUMENT and gives NaN and -1; all others
///          are right.
/// Budget   exact.
typedef struct hy_top_k_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor x;        ///< [rows, n]
  hy_tensor values;   ///< f32 [rows, k]
  hy_tensor ids;      ///< i32 [rows, k]
} hy_top_k_args;

#define HY_TOP_K_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_TOP_K_CONTRACT_H_
