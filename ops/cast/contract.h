// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_CAST_CONTRACT_H_
#define HALYARD_OPS_CAST_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Another float type:  y = x, element by element.
/// Shapes   x, y: equal, of rank 1 to 4.
/// Types    x, y: f32 | f16 | bf16, in any pair. The same type is moved bit for bit.
/// Alias    y may be x, which then does nothing; other overlap is refused.
/// Edge     no elements writes nothing. Rounds once, to nearest even; beyond the largest number to
///          infinity. Subnormal numbers are kept. A NaN stays one, of any payload.
/// Budget   exact.
/// Source   IEEE 754-2019; bfloat16 is the upper half of binary32.
typedef struct hy_cast_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor x;
  hy_tensor y;
} hy_cast_args;

#define HY_CAST_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_CAST_CONTRACT_H_
