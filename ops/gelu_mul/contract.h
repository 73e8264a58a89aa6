// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_GELU_MUL_CONTRACT_H_
#define HALYARD_OPS_GELU_MUL_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which gelu: as PyTorch's `approximate`.
enum {
  HY_GELU_NONE = 0,  ///< g Phi(g), Phi the normal distribution
  HY_GELU_TANH = 1   ///< g (1 + tanh(sqrt(2/pi) (g + 0.044715 g^3))) / 2
};

/// GeGLU's gate, element by element: y = gelu(gate) * up.
/// Shapes   gate, up, y: equal, of rank 1 to 4.
/// Types    gate, up: f32 | f16 | bf16, equal; y: their type, f32, or a8_b32 | a8_b256 | a8_token, which
///          is y in f32 put through `quantize`.
/// Alias    y may be gate or up; other overlap is refused.
/// Edge     no elements writes nothing. gelu(-Inf) is 0, its limit; else NaN and Inf propagate. No
///          finite gate and up give NaN.
/// Budget   8 ulp of f32 at y, + 6 u t |y| for a negative gate, + 2^-149 |up| for where gelu(gate)
///          underflows, + 0.5 ulp of y's type; u = 2^-24, t what the exponential is taken of: g^2 / 2,
///          or twice the argument of tanh. 1 + tanh as it stands does not keep it: it cancels.
/// Source   Hendrycks & Gimpel 2016; Shazeer 2020.
typedef struct hy_gelu_mul_args {
  uint32_t struct_size;
  uint32_t approximation;  ///< HY_GELU_*
  hy_tensor gate;
  hy_tensor up;
  hy_tensor y;
} hy_gelu_mul_args;

#define HY_GELU_MUL_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_GELU_MUL_CONTRACT_H_
