// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_SAMPLE_CONTRACT_H_
#define HALYARD_OPS_SAMPLE_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Draws one column of each row of logits l, by the row's own settings. With the columns in order of
/// falling logit, equal ones by rising column, c_1, c_2, ..., c_n:
///   w_i = exp((l[c_i] - l[c_1]) / temperature)
///   top_k  leaves the first k = top_k; top_k <= 0 or > n leaves all
///   top_p  leaves of those the first p >= 1, the least number with w_1 + .. + w_p >= top_p W, W the sum
///          of the k that top_k left; top_p >= 1 leaves all. So the one that crosses top_p stays.
///   min_p  leaves of those the ones with w_i >= min_p (w_1 is 1); min_p <= 0 leaves all, > 1 counts as 1
///   id     is c_j, the least j with w_1 + .. + w_j > u (the sum of those left); u >= 1 counts as just
///          below 1. temperature 0: id is c_1, whatever the others say.
/// Shapes   logits [rows, n]; all others [rows].
/// Types    logits: f32 | f16 | bf16; temperature, top_p, min_p, u: f32; top_k, id: i32.
/// Alias    id apart from all else.
/// Edge     no rows writes nothing. A logit of -Inf is never drawn. If l[c_1] is +Inf, id is c_1. Run
///          returns INVALID_ARGUMENT, gives -1 for the rows concerned and the right id for all others:
///          a logit, temperature, top_p, min_p or u that is NaN; temperature negative or Inf; u negative;
///          n == 0, or no logit above -Inf.
/// Budget   exact, but where a sum lies within s (the sum of those left) of what it is compared with:
///          then the next column to either side will do. s = 2 u_f (4 sqrt(n) + mean e), u_f = 2^-24,
///          e_i = 4 + 2 |l[c_i] - l[c_1]| / temperature, the mean weighted by w.
/// Source   top_p: Holtzman et al. 2019; min_p: Nguyen et al. 2024; the order is that of vLLM.
typedef struct hy_sample_args {
  uint32_t struct_size;
  uint32_t reserved;      ///< 0
  hy_tensor logits;       ///< [rows, n]
  hy_tensor temperature;  ///< f32 [rows]
  hy_tensor u;            ///< f32 [rows]: a uniform random number within 0..1
  hy_tensor top_k;        ///< i32 [rows] or absent
  hy_tensor top_p;        ///< f32 [rows] or absent
  hy_tensor min_p;        ///< f32 [rows] or absent
  hy_tensor id;           ///< i32 [rows]
} hy_sample_args;

#define HY_SAMPLE_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_SAMPLE_CONTRACT_H_
