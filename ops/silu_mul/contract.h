// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_SILU_MUL_CONTRACT_H_
#define HALYARD_OPS_SILU_MUL_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// SwiGLU's gate, element by element: y = silu(gate) * up, silu(g) = g / (1 + e^-g).
/// Shapes   gate, up, y: equal, of rank 1 to 4.
/// Types    gate, up: f32 | f16 | bf16, equal; y: their type, f32, or a8_b32 | a8_b256 | a8_token, which
///          is y in f32 put through `quantize`.
/// Alias    y may be gate or up; other overlap is refused.
/// Edge     no elements writes nothing. silu(-Inf) is 0, its limit; else NaN and Inf propagate. No
///          finite gate and up give NaN.
/// Budget   8 ulp of f32 at y, + 2^-149 |up| for where silu(gate) underflows, + 0.5 ulp of y's type.
/// Source   Shazeer 2020; silu: Elfwing et al. 2017.
typedef struct hy_silu_mul_args {
  uint32_t struct_size;
  uint32_t reserved;  ///< 0
  hy_tensor gate;
  hy_tensor up;
  hy_tensor y;
} hy_silu_mul_args;

#define HY_SILU_MUL_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_SILU_MUL_CONTRACT_H_
