// SPDX-License-Identifier: Apache-2.0
//
// Inner loops over any vectors. Included by kernel sources only, which give a struct L:
//   Vec, kWidth                a vector of so many floats, a divisor of 32
//   kRows, kSumRows            rows of queries (of weights) that share a read of keys (of values)
//   Clear, Load, Store, Splat, MulAdd(acc, a, b): acc += a * b
//   Sum4(v, out)               the sums of 4 vectors across lanes
//   Aux, Prepare<type>(row, d, aux), Read<type>(row, d, aux, out)
//                              kWidth elements of a row of a page from d on, as f32; what Prepare says
//                              of q8_0 holds for the 32 elements from its d on
// Vectors go by reference: some compilers pass them by value in ways that depend on flags.
// Registers: kRows x 4 sums, kRows queries, one key; kSumRows x 32 / kWidth sums, kSumRows weights, one
// value. Every sum of products runs along its dimension (keys in order) whatever the rows, so the bits of
// a row are its own.
#ifndef HALYARD_OPS_ATTENTION_MICROKERNEL_H_
#define HALYARD_OPS_ATTENTION_MICROKERNEL_H_

#include "base/simd/q8_0.h"
#include "ops/attention/run.h"

namespace {

constexpr int64_t kSpan = 32;  // elements of a block of q8_0

// Elements [d, d + kWidth * count) of 4 keys times kRows queries.
template <class L, uint32_t kType, int kRows>
inline void DotStep(const float* q, int64_t pad, const void* const* keys, int64_t d, int count,
                    const typename L::Aux* aux, typename L::Vec (*acc)[4]) {
  for (int v = 0; v < count; ++v, d += L::kWidth) {
    typename L::Vec x[kRows];
    for (int m = 0; m < kRows; ++m) L::Load(q + m * pad + d, x[m]);
    for (int j = 0; j < 4; ++j) {
      typename L::Vec k;
      L::template Read<kType>(keys[j], d, aux[j], k);
      for (int m = 0; m < kRows; ++m) L::MulAdd(acc[m][j], x[m], k);
    }
  }
}

// Offset of element d of a row of a page, d a multiple of 32.
template <uint32_t kType>
constexpr int64_t BytesTo(int64_t d) {
  if (kType == HY_TYPE_Q8_0) return d / kSpan * HYK_Q8_0_BYTES;
  return d * (kType == HY_TYPE_F32 ? 4 : 2);
}

template <uint32_t kType>
HALYARD_ALWAYS_INLINE void FetchSpan(const void* row, int64_t d) {
  Prefetch(static_cast<const unsigned char*>(row) + BytesTo<kType>(d), BytesTo<kType>(kSpan));
}

template <class L, uint32_t kType, int kRows, bool kFetch>
inline void Dots4(const float* q, int64_t pad, Rows rows, float* s) {
  const void* const* keys = rows.at;
  typename L::Vec acc[kRows][4];
  typename L::Aux aux[4];
  for (int m = 0; m < kRows; ++m) {
    for (int j = 0; j < 4; ++j) L::Clear(acc[m][j]);
  }
  int64_t d = 0;
  for (; d + kSpan <= pad; d += kSpan) {
    for (int j = 0; j < 4; ++j) {
      L::template Prepare<kType>(keys[j], d, aux[j]);
      if constexpr (kFetch) FetchSpan<kType>(rows.next[j], d);
    }
    DotStep<L, kType, kRows>(q, pad, keys, d, kSpan / L::kWidth, aux, acc);
  }
  if constexpr (kType != HY_TYPE_Q8_0) {
    for (; d < pad; d += L::kWidth) DotStep<L, kType, kRows>(q, pad, keys, d, 1, aux, acc);
  }
  for (int m = 0; m < kRows; ++m) L::Sum4(acc[m], s + m * kTile);
}

// Four keys, all queries.
template <class L, uint32_t kType, int kRows>
inline void DotsOfKeys(const float* q, int64_t m, int64_t pad, Rows keys, float* s) {
  int64_t i = 0;
  if (keys.next != nullptr && m >= kRows) {
    Dots4<L, kType, kRows, true>(q, pad, keys, s);
    keys.next = nullptr;
    i = kRows;
  }
  for (; i + kRows <= m; i += kRows)
    Dots4<L, kType, kRows, false>(q + i * pad, pad, keys, s + i * kTile);
  if constexpr (kRows > 1) {
    if (i < m) DotsOfKeys<L, kType, kRows - 1>(q + i * pad, m - i, pad, keys, s + i * kTile);
  }
}

template <class L, uint32_t kType>
void ScoresOf(const float* q, int64_t m, Rows rows, int64_t n, int64_t pad, float* s) {
  for (int64_t j = 0; j < n; j += 4)
    DotsOfKeys<L, kType, L::kRows>(q, m, pad, RowsFrom(rows, j), s + j);
}

// Columns [d, d + kWidth * kVecs) of kRows sums of weighted values.
template <class L, uint32_t kType, int kRows, int kVecs, bool kFetch>
inline void SumColumns(const float* w, Rows rows, int64_t n, int64_t pad, int64_t d, float* acc) {
  const void* const* values = rows.at;
  typename L::Vec sum[kRows][kVecs];
  for (int m = 0; m < kRows; ++m) {
    for (int v = 0; v < kVecs; ++v) L::Load(acc + m * pad + d + v * L::kWidth, sum[m][v]);
  }
  for (int64_t j = 0; j < n; ++j) {
    typename L::Aux aux;
    typename L::Vec weight[kRows];
    L::template Prepare<kType>(values[j], d, aux);
    if constexpr (kFetch) FetchSpan<kType>(rows.next[j], d);
    for (int m = 0; m < kRows; ++m) L::Splat(w[m * kTile + j], weight[m]);
    for (int v = 0; v < kVecs; ++v) {
      typename L::Vec x;
      L::template Read<kType>(values[j], d + v * L::kWidth, aux, x);
      for (int m = 0; m < kRows; ++m) L::MulAdd(sum[m][v], weight[m], x);
    }
  }
  for (int m = 0; m < kRows; ++m) {
    for (int v = 0; v < kVecs; ++v) L::Store(sum[m][v], acc + m * pad + d + v * L::kWidth);
  }
}

// All columns of kRows sums.
template <class L, uint32_t kType, int kRows, bool kFetch>
inline void SumSpans(const float* w, Rows values, int64_t n, int64_t pad, float* acc) {
  int64_t d = 0;
  for (; d + kSpan <= pad; d += kSpan)
    SumColumns<L, kType, kRows, kSpan / L::kWidth, kFetch>(w, values, n, pad, d, acc);
  if constexpr (kType != HY_TYPE_Q8_0) {
    for (; d < pad; d += L::kWidth)
      SumColumns<L, kType, kRows, 1, false>(w, values, n, pad, d, acc);
  }
}

template <class L, uint32_t kType, int kRows>
void SumRows(const float* w, int64_t m, Rows values, int64_t n, int64_t pad, float* acc) {
  int64_t i = 0;
  if (values.next != nullptr && m >= kRows) {
    SumSpans<L, kType, kRows, true>(w, values, n, pad, acc);
    values.next = nullptr;
    i = kRows;
  }
  for (; i + kRows <= m; i += kRows)
    SumSpans<L, kType, kRows, false>(w + i * kTile, values, n, pad, acc + i * pad);
  if constexpr (kRows > 1) {
    if (i < m) SumRows<L, kType, kRows - 1>(w + i * kTile, m - i, values, n, pad, acc + i * pad);
  }
}

// A row of a page to f32.
template <class L, uint32_t kType>
void ConvertRow(const void* row, int64_t dim, float* out) {
  typename L::Aux aux;
  typename L::Vec v;
  int64_t d = 0;
  for (; d + kSpan <= dim; d += kSpan) {
    L::template Prepare<kType>(row, d, aux);
    for (int64_t i = d; i < d + kSpan; i += L::kWidth) {
      L::template Read<kType>(row, i, aux, v);
      L::Store(v, out + i);
    }
  }
  if constexpr (kType != HY_TYPE_Q8_0) hyk_load_f32(kType, row, d, dim - d, out + d);
}

// What chunk.h asks for.
template <class L>
struct UnitOf {
  static constexpr int64_t kLanes = L::kWidth;

  static bool Direct(const Problem& p, int64_t m) {
    return p.dim % L::kWidth == 0 && (m <= L::kRows || p.args->k_pages.type == HY_TYPE_F32);
  }

  static void Convert(uint32_t type, const void* row, int64_t dim, float* out) {
    if (type == HY_TYPE_F32) return ConvertRow<L, HY_TYPE_F32>(row, dim, out);
    if (type == HY_TYPE_F16) return ConvertRow<L, HY_TYPE_F16>(row, dim, out);
    if (type == HY_TYPE_BF16) return ConvertRow<L, HY_TYPE_BF16>(row, dim, out);
    ConvertRow<L, HY_TYPE_Q8_0>(row, dim, out);
  }

  static void Scores(uint32_t type, const float* q, int64_t m, Rows rows, int64_t n, int64_t pad,
                     float* s) {
    if (type == HY_TYPE_F32) return ScoresOf<L, HY_TYPE_F32>(q, m, rows, n, pad, s);
    if (type == HY_TYPE_F16) return ScoresOf<L, HY_TYPE_F16>(q, m, rows, n, pad, s);
    if (type == HY_TYPE_BF16) return ScoresOf<L, HY_TYPE_BF16>(q, m, rows, n, pad, s);
    ScoresOf<L, HY_TYPE_Q8_0>(q, m, rows, n, pad, s);
  }

  static void Accumulate(uint32_t type, const float* w, int64_t m, Rows rows, int64_t n,
                         int64_t pad, float* acc) {
    constexpr int kRows = L::kSumRows;
    if (type == HY_TYPE_F32) return SumRows<L, HY_TYPE_F32, kRows>(w, m, rows, n, pad, acc);
    if (type == HY_TYPE_F16) return SumRows<L, HY_TYPE_F16, kRows>(w, m, rows, n, pad, acc);
    if (type == HY_TYPE_BF16) return SumRows<L, HY_TYPE_BF16, kRows>(w, m, rows, n, pad, acc);
    SumRows<L, HY_TYPE_Q8_0, kRows>(w, m, rows, n, pad, acc);
  }
};

}  // namespace

#endif  // HALYARD_OPS_ATTENTION_MICROKERNEL_H_
