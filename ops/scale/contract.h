// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_SCALE_CONTRACT_H_
#define HALYARD_OPS_SCALE_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Product with one number, element by element: y = x * factor in f32, rounded once more to the type
/// of y.
/// Shapes   x, y: equal, of rank 1 to 4.
/// Types    x: f32 | f16 | bf16; y: the type of x, or f32.
/// Alias    y may be x; other overlap is refused.
/// Edge     no elements writes nothing. NaN, Inf and the signs of zeros are as IEEE 754 says: a factor
///          of 0 leaves NaN of NaN and Inf.
/// Budget   exact: nearest even to f32, then nearest even to the type of y.
/// Source   IEEE 754-2019.
typedef struct hy_scale_args {
  uint32_t struct_size;
  float factor;  ///< finite
  hy_tensor x;
  hy_tensor y;
} hy_scale_args;

#define HY_SCALE_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_SCALE_CONTRACT_H_
