// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_ROPE_CONTRACT_H_
#define HALYARD_OPS_ROPE_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which elements of a head form pair i of R/2.
enum {
  HY_ROPE_INTERLEAVED = 0,  ///< 2 i and 2 i + 1, as in Llama's own checkpoints
  HY_ROPE_SPLIT = 1         ///< i and i + R/2, as in GPT-NeoX and most converted checkpoints
};

/// Rotary position embedding: turns each pair (a, b) of the first R elements of a head by an angle that
/// the caller's table gives as cosine and sine, row by position, column by pair:
///   c = table[positions[t]][i][0], s = table[positions[t]][i][1]
///   y[t][h][a] = x[t][h][a] * c - x[t][h][b] * s
///   y[t][h][b] = x[t][h][a] * s + x[t][h][b] * c
/// Elements from R on are copied.
/// Shapes   x, y [T, H, D]; table [P, R/2, 2] with R <= D; positions [T].
/// Types    x, y: f32 | f16 | bf16, equal; table: f32; positions: i32. The table is to be computed in
///          double: angles in f32 are wrong by 1e-2 at position 10^5.
/// Alias    y may be x; other overlap is refused.
/// Edge     T, H or D == 0 writes nothing; R == 0 copies. NaN and Inf reach their own pair only. For a
///          position that is not within 0..P-1 run returns OUT_OF_RANGE; the rows of that token are
///          copied as they are, all others are right.
/// Budget   4 u (|x_a| |c| + |x_b| |s|) for a, with c and s exchanged for b, u = 2^-24; + 0.5 ulp of
///          y's type. Copied elements are exact.
/// Source   Su et al. 2021.
typedef struct hy_rope_args {
  uint32_t struct_size;
  uint32_t mode;        ///< HY_ROPE_*
  hy_tensor x;          ///< [T, H, D]
  hy_tensor table;      ///< f32 [P, R/2, 2]: cosine, sine
  hy_tensor positions;  ///< i32 [T]
  hy_tensor y;          ///< [T, H, D]
} hy_rope_args;

#define HY_ROPE_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_ROPE_CONTRACT_H_
