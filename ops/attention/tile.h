// SPDX-License-Identifier: Apache-2.0
//
// Softmax as the keys come by: largest score so far, sum of weights relative to it, weighted sum of
// values. Included by kernel sources only.
#ifndef HALYARD_OPS_ATTENTION_TILE_H_
#define HALYARD_OPS_ATTENTION_TILE_H_

#include "base/simd/math.h"
#include "ops/attention/problem.h"

namespace {

constexpr float kMinusInfinity = -__builtin_inff();
constexpr float kBadData = -1;  // a sum of weights that says so
constexpr int kLanes16 = 16;

// Of rows m = token * group + head of a block.
struct State {
  float* top;  // largest score
  float* sum;  // of exp(score - top); 0: no key yet; kBadData
  float* acc;  // [m][pad], the same sum times values
};

inline State StateAt(const Problem& p, float* at, int64_t tokens) {
  const int64_t rows = RoundUp(tokens * p.group, 16);
  return {at, at + rows, at + 2 * rows};
}

inline void ClearRow(const Problem& p, State st, int64_t m) {
  st.top[m] = kMinusInfinity;
  st.sum[m] = 0;
  for (int64_t d = 0; d < p.pad; ++d) st.acc[m * p.pad + d] = 0;
}

// What exponents are taken relative to: with scores of -Inf only, anything finite gives weights of 0.
inline float Anchor(float top) { return top == kMinusInfinity ? 0.0f : top; }

inline void Rescale(float* acc, int64_t count, float factor) {
  if (factor == 1.0f) return;
  for (int64_t d = 0; d < count; ++d) acc[d] *= factor;
}

inline float LargestOf(const float* s, int64_t n, float top) {
  float lane[kLanes16];
  for (int i = 0; i < kLanes16; ++i) lane[i] = top;
  int64_t j = 0;
  for (; j + kLanes16 <= n; j += kLanes16) {
    for (int i = 0; i < kLanes16; ++i) lane[i] = s[j + i] > lane[i] ? s[j + i] : lane[i];
  }
  for (int64_t i = j; i < n; ++i) lane[i - j] = s[i] > lane[i - j] ? s[i] : lane[i - j];
  for (int i = 0; i < 8; ++i) lane[i] = lane[i + 8] > lane[i] ? lane[i + 8] : lane[i];
  for (int i = 0; i < 4; ++i) lane[i] = lane[i + 4] > lane[i] ? lane[i + 4] : lane[i];
  for (int i = 0; i < 2; ++i) lane[i] = lane[i + 2] > lane[i] ? lane[i + 2] : lane[i];
  return lane[1] > lane[0] ? lane[1] : lane[0];
}

// e^x for x <= 0 within 2 ulp, 0 from -80 down: far below what the contract lets count as 0, and above
// where powers of two become subnormal. NaN stays NaN. Half the work of hyk_exp.
inline float WeightOf(float x) {
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, in the low bits
  const float within = x < -80.0f ? -80.0f : x;
  const float shifted = within * 1.44269504f + magic;
  const float n = shifted - magic;
  const float r = (within - n * 0x1.62e4p-1f) - n * 1.42860682e-6f;
  const float q =
      0.49999993f +
      r * (0.166665148f + r * (0.0416684570f + r * (0.00836941968f + r * 0.00138131357f)));
  const float power = hyk_from_bits((hyk_bits(shifted) << 23) + 0x3f800000u);
  const float weight = (1.0f + (r + r * r * q)) * power;
  return x <= -80.0f ? 0.0f : weight;
}

// Replaces scores by weights and returns their sum.
inline float WeightsOf(float* s, int64_t n, float anchor) {
  float lane[kLanes16] = {0};
  for (int64_t j = 0; j < n; ++j) s[j] = WeightOf(s[j] - anchor);
  int64_t j = 0;
  for (; j + kLanes16 <= n; j += kLanes16) {
    for (int i = 0; i < kLanes16; ++i) lane[i] += s[j + i];
  }
  for (int64_t i = j; i < n; ++i) lane[i - j] += s[i];
  for (int i = 0; i < 8; ++i) lane[i] += lane[i + 8];
  for (int i = 0; i < 4; ++i) lane[i] += lane[i + 4];
  return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

// Takes the products of row m with n keys into its state, all but the values: `s` becomes weights.
inline void Weigh(const Problem& p, State st, int64_t m, float* s, int64_t n) {
  const float scale = p.args->scale;
  const float cap = p.args->soft_cap;
  for (int64_t j = 0; j < n; ++j) s[j] *= scale;
  if (cap > 0) {
    for (int64_t j = 0; j < n; ++j) s[j] = cap * hyk_tanh(s[j] / cap);
  }
  const float top = LargestOf(s, n, st.top[m]);
  const float factor = WeightOf(st.top[m] - Anchor(top));
  st.sum[m] = st.sum[m] * factor + WeightsOf(s, n, Anchor(top));
  Rescale(st.acc + m * p.pad, p.pad, factor);
  st.top[m] = top;
}

// Takes row m of `part` into that of `all`.
inline void MergeRow(const Problem& p, State all, State part, int64_t m) {
  float* acc = all.acc + m * p.pad;
  const float* more = part.acc + m * p.pad;
  if (part.sum[m] == 0 || all.sum[m] < 0) return;
  if (part.sum[m] < 0 || all.sum[m] == 0) {
    all.top[m] = part.top[m];
    all.sum[m] = part.sum[m];
    for (int64_t d = 0; d < p.pad; ++d) acc[d] = more[d];
    return;
  }
  const float top = part.top[m] > all.top[m] ? part.top[m] : all.top[m];
  const float factor = WeightOf(all.top[m] - Anchor(top));
  const float part_factor = WeightOf(part.top[m] - Anchor(top));
  all.top[m] = top;
  all.sum[m] = all.sum[m] * factor + part.sum[m] * part_factor;
  for (int64_t d = 0; d < p.pad; ++d) acc[d] = acc[d] * factor + more[d] * part_factor;
}

}  // namespace

#endif  // HALYARD_OPS_ATTENTION_TILE_H_
