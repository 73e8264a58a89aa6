// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_GET_ROWS_CONTRACT_H_
#define HALYARD_OPS_GET_ROWS_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rows of a table, such as the embeddings of tokens:  y[t][c] = table[rows[t]][c]
/// Shapes   table [R, C]; rows [T]; y [T, C].
/// Types    table: f32 | f16 | bf16 or a weight format; rows: i32; y: f32 | f16 | bf16. The same float
///          type is moved bit for bit; else the value is rounded to f32, and from there to the type of
///          y, as `dequantize` and `cast` do.
/// Alias    none: y apart from all else.
/// Edge     T or C == 0 writes nothing. For an index that is not within 0..R-1 run returns OUT_OF_RANGE;
///          that row of y is zeros, all others are right. NaN and Inf are elements like others.
/// Budget   exact.
/// Source   formats: docs/formats.md.
typedef struct hy_get_rows_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor table;    ///< [R, C]
  hy_tensor rows;     ///< i32 [T]
  hy_tensor y;        ///< [T, C]
} hy_get_rows_args;

#define HY_GET_ROWS_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_GET_ROWS_CONTRACT_H_
