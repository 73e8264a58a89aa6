// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_DEQUANTIZE_CONTRACT_H_
#define HALYARD_OPS_DEQUANTIZE_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Values of blocks:  y[r][c] = the value of x[r][c], by the format of x.
/// Shapes   x, y [rows, cols].
/// Types    x: a weight format, or a8_b32 | a8_b256 | a8_token; y: f32 | f16 | bf16. The value is
///          rounded to f32, and from there to the type of y.
/// Alias    none: y apart from x.
/// Edge     no rows or no columns writes nothing. A NaN scale gives NaNs, an infinite one infinities, and
///          NaN for codes of 0.
/// Budget   exact.
/// Source   formats: docs/formats.md.
typedef struct hy_dequantize_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor x;        ///< [rows, cols]
  hy_tensor y;        ///< [rows, cols]
} hy_dequantize_args;

#define HY_DEQUANTIZE_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_DEQUANTIZE_CONTRACT_H_
