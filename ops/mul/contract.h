// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_MUL_CONTRACT_H_
#define HALYARD_OPS_MUL_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Product, element by element: y = a * b in f32, rounded once more to the type of y.
/// Shapes   a, y: equal, of rank 1 to 4; b: of that rank, each axis as that of a, or of size 1 and then
///          repeated.
/// Types    a: f32 | f16 | bf16; b, y: the type of a, or f32.
/// Alias    y may be a, and b where b is not repeated; other overlap is refused.
/// Edge     no elements writes nothing. NaN, Inf and the signs of zeros are as IEEE 754 says.
/// Budget   exact: nearest even to f32, then nearest even to the type of y.
/// Source   IEEE 754-2019.
typedef struct hy_mul_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor a;
  hy_tensor b;  ///< axes of size 1 are repeated
  hy_tensor y;
} hy_mul_args;

#define HY_MUL_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_MUL_CONTRACT_H_
