// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_OPS_ATTENTION_CONTRACT_H_
#define HALYARD_OPS_ATTENTION_CONTRACT_H_

#include "halyard/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Attention of ragged rows of several sequences to keys and values in pages:
///   s_j = scale * sum_d q[t][h][d] * k_j[d];  with soft_cap c > 0: s_j = c * tanh(s_j / c)
///   p_j = exp(s_j) / sum_i exp(s_i);  y[t][h][d] = sum_j p_j * v_j[d]  over the keys j that t sees
/// Rows     q_start[s] <= t < q_start[s + 1] are those of sequence s, in order; row i of n lies at
///          position kv_len[s] - n + i. Pieces of prompts and single rows may be mixed.
/// Keys     j = 0..kv_len[s] - 1 lie in page block_table[s][j / page], slot j % page, of KV head
///          h / (Hq / Hkv). The row at position p sees j <= p if causal, else all; with a window
///          w > 0, of these only p - w < j < p + w. Entries of the table and slots that no row sees
///          are not read: they may hold anything.
/// Shapes   q, y [T, Hq, D]; k_pages, v_pages [P, Hkv, page, D], Hq a multiple of Hkv;
///          block_table [S, max_pages]; q_start [S + 1]; kv_len [S].
/// Types    q: f32 | f16 | bf16; k_pages, v_pages: f32 | f16 | bf16 | q8_0, equal; y: that of q, or
///          f32; block_table, q_start, kv_len: i32. Scores, weights and sums are f32 or wider.
/// Alias    y apart from all else.
/// Edge     A row that sees no key (kv_len 0, position below 0), or scores of -Inf only, is zeros;
///          so is one that belongs to no sequence. A score of +Inf or NaN makes the row NaN, for
///          that head; NaN and Inf of values reach the rows that see them and no others. Weights
///          below 2^-100 may count as 0. Run returns OUT_OF_RANGE, and gives zeros for the rows
///          concerned and right results for all others: all rows, if not 0 <= q_start[0] <= .. <=
///          q_start[S] <= T; those of a sequence whose kv_len is negative or more than max_pages
///          pages hold; a row that sees a key on a page that is not within 0..P-1.
/// Budget   0.5 ulp_out + sum_j a_j g_j + min(sum_j a_j d_j, 4 sqrt(sum_j (a_j d_j)^2))
///          + 4 u sqrt(n) (2 |y| + 3 sqrt(sum_j (p_j v_j)^2)), of n keys, u = 2^-24, where
///          a_j = p_j |v_j - y|;  d_j, of the score: |scale| 4 u sqrt(D) (|q k_j| + 3 sqrt(sum_d
///          (q[d] k_j[d])^2)) + u |s_j|;  g_j, of the weight: u (2 |s_j - max s| + 8 + 4 sqrt(r)),
///          r = 1 + how often the largest score so far rises in order of keys, and 8 u |s_j| more
///          with a soft cap.
/// Source   Vaswani et al. 2017; grouped heads: Ainslie et al. 2023; pages: Kwon et al. 2023;
///          online softmax: Milakov & Gimelshein 2018. The budget is first order in errors of s.
typedef struct hy_attention_args {
  uint32_t struct_size;
  uint32_t causal;        ///< 0 or 1
  float scale;            ///< finite
  float soft_cap;         ///< finite, not negative; 0: none
  int32_t window;         ///< not negative; 0: none
  uint32_t reserved;      ///< 0
  hy_tensor q;            ///< [T, Hq, D]
  hy_tensor k_pages;      ///< [P, Hkv, page, D]
  hy_tensor v_pages;      ///< [P, Hkv, page, D]
  hy_tensor block_table;  ///< i32 [S, max_pages]: page ids
  hy_tensor q_start;      ///< i32 [S + 1]: first row of each sequence, and the end
  hy_tensor kv_len;       ///< i32 [S]: keys of each sequence, those of its rows in q included
  hy_tensor y;            ///< [T, Hq, D]
} hy_attention_args;

#define HY_ATTENTION_VERSION 1u

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_OPS_ATTENTION_CONTRACT_H_
