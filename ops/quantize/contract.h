// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_QUANTIZE_CONTRACT_H_
#define HALYARD_OPS_QUANTIZE_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Codes and scales of rows:  y[r] = x[r] by the rule of the type of y (docs/formats.md), all bytes of
/// the row, or row record, written.
/// Shapes   x, y [rows, cols]; cols in whole blocks of the type of y.
/// Types    x: f32 | f16 | bf16; y: a8_b32 | a8_b256 | a8_token | q8_0. Halves are widened to f32 first.
/// Options  asymmetric: 1 gives rows of a8_token a zero point; 0 for other types.
/// Alias    none: y apart from x.
/// Edge     no rows or no columns writes nothing.
///          Blocks (rows of a8_token) that are all zeros or too small have scale 0; those with a NaN or
///          Inf have a NaN scale; others are not touched by either.
/// Budget   exact: the same bytes everywhere. Matmul kernels with a class of activations make the same
///          codes.
/// Source   docs/formats.md.
typedef struct hy_quantize_args {
  uint32_t struct_size;
  uint32_t asymmetric;  ///< 0 or 1
  hy_tensor x;          ///< [rows, cols]
  hy_tensor y;          ///< [rows, cols]
} hy_quantize_args;

#define HY_QUANTIZE_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_QUANTIZE_CONTRACT_H_
