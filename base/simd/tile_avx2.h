// SPDX-License-Identifier: Apache-2.0
//
// Tile primitives (tile.h) for AVX2, FMA and F16C: a tile is two vectors of 8 rows.
//
// Codes of 8 bits are widened to 16 and multiplied by vpmaddwd, which is exact for all codes, where
// vpmaddubsw would saturate; x is widened once, when it is stored: columns 0 and 2, then 1 and 3. Codes
// of up to 6 bits are unsigned and small enough for vpmaddubsw and sums in 16 bits.
#ifndef HALYARD_BASE_SIMD_TILE_AVX2_H_
#define HALYARD_BASE_SIMD_TILE_AVX2_H_

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "base/simd/tile.h"

namespace {

struct Tile {
  static constexpr int kRowsOfX = 4;
  static constexpr int kFloatRowsOfX = 2;
  static constexpr int kUnitRows = 1;
  static constexpr int kStepWords = 1;
  static constexpr int kWideBytes = 8;
  static constexpr int kWideBias = 128;
  static constexpr bool kShortSums = true;
  static constexpr int Rows() { return 16; }

  struct I32 {
    __m256i a, b;
  };
  struct F32 {
    __m256 a, b;
  };
  struct Wide {
    __m256i even_a, odd_a, even_b, odd_b;
  };
  using Narrow = I32;
  using Sums = I32;
  using WideSums = I32;
  using Totals = I32;
  using Scale = I32;

  HYK_INLINE __m256i Load(const void* at) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(at));
  }
  HYK_INLINE __m256i Splat(const void* at) {
    int32_t word;
    memcpy(&word, at, sizeof word);
    return _mm256_set1_epi32(word);
  }

  HYK_INLINE Wide LoadWide(const uint8_t* word) {
    const __m256i a = Load(word);
    const __m256i b = Load(word + 32);
    const __m256i mask = _mm256_set1_epi16(0xff);
    return {_mm256_and_si256(a, mask), _mm256_srli_epi16(a, 8), _mm256_and_si256(b, mask),
            _mm256_srli_epi16(b, 8)};
  }
  HYK_INLINE I32 DotWide(I32 sum, const Wide& w, const uint8_t* x) {
    const __m256i even = Splat(x);
    sum.a = _mm256_add_epi32(sum.a, _mm256_madd_epi16(w.even_a, even));
    sum.b = _mm256_add_epi32(sum.b, _mm256_madd_epi16(w.even_b, even));
    const __m256i odd = Splat(x + 4);
    sum.a = _mm256_add_epi32(sum.a, _mm256_madd_epi16(w.odd_a, odd));
    sum.b = _mm256_add_epi32(sum.b, _mm256_madd_epi16(w.odd_b, odd));
    return sum;
  }
  HYK_INLINE void StoreWideX(const int8_t* codes, uint8_t* x, int64_t step) {
    // Bytes 0 2 1 3 of each four, which then widen in order.
    const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
    for (int half = 0; half < 2; ++half) {
      const __m128i bytes = _mm_shuffle_epi8(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + 16 * half)), order);
      alignas(32) uint64_t four[4];
      _mm256_store_si256(reinterpret_cast<__m256i*>(four), _mm256_cvtepi8_epi16(bytes));
      for (int i = 0; i < 4; ++i) memcpy(x + (4 * half + i) * step, &four[i], 8);
    }
  }

  HYK_INLINE Narrow LoadNarrow(const uint8_t* word) { return {Load(word), Load(word + 32)}; }
  HYK_INLINE Narrow LowHalf(Narrow w) {
    const __m256i mask = _mm256_set1_epi8(15);
    return {_mm256_and_si256(w.a, mask), _mm256_and_si256(w.b, mask)};
  }
  HYK_INLINE Narrow HighHalf(Narrow w) {
    return LowHalf({_mm256_srli_epi16(w.a, 4), _mm256_srli_epi16(w.b, 4)});
  }
  HYK_INLINE __m256i Bits(__m256i word, int place) {
    const __m256i moved = place == 0   ? _mm256_slli_epi16(word, 4)
                          : place == 1 ? _mm256_slli_epi16(word, 2)
                          : place == 2 ? word
                                       : _mm256_srli_epi16(word, 2);
    return _mm256_and_si256(moved, _mm256_set1_epi8(0x30));
  }
  HYK_INLINE Narrow LoadBits(const uint8_t* word) { return LoadNarrow(word); }
  HYK_INLINE Narrow UpperBits(Narrow low, Narrow word, int place) {
    return {_mm256_or_si256(low.a, Bits(word.a, place)),
            _mm256_or_si256(low.b, Bits(word.b, place))};
  }

  HYK_INLINE Sums ZeroSums() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  HYK_INLINE WideSums ZeroWideSums() { return ZeroSums(); }
  HYK_INLINE Totals ZeroTotals() { return ZeroSums(); }
  HYK_INLINE I32 RowSums(const I32& sums, int) { return sums; }
  HYK_INLINE Sums DotNarrow(Sums sum, Narrow w, const uint8_t* x) {
    const __m256i four = Splat(x);
    return {_mm256_add_epi16(sum.a, _mm256_maddubs_epi16(w.a, four)),
            _mm256_add_epi16(sum.b, _mm256_maddubs_epi16(w.b, four))};
  }
  HYK_INLINE I32 Fold(Sums sum) {
    const __m256i one = _mm256_set1_epi16(1);
    return {_mm256_madd_epi16(sum.a, one), _mm256_madd_epi16(sum.b, one)};
  }
  HYK_INLINE I32 FoldScaled(I32 total, Sums sum, Scale scale) {
    return {_mm256_add_epi32(total.a, _mm256_madd_epi16(sum.a, scale.a)),
            _mm256_add_epi32(total.b, _mm256_madd_epi16(sum.b, scale.b))};
  }
  // Each row's byte twice, as the upper halves of two 16-bit lanes.
  HYK_INLINE Scale Spread(const void* bytes) {
    const __m256i all =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(bytes)));
    const __m256i rows_a = _mm256_setr_epi8(-1, 0, -1, 0, -1, 1, -1, 1, -1, 2, -1, 2, -1, 3, -1, 3,
                                            -1, 4, -1, 4, -1, 5, -1, 5, -1, 6, -1, 6, -1, 7, -1, 7);
    const __m256i rows_b =
        _mm256_setr_epi8(-1, 8, -1, 8, -1, 9, -1, 9, -1, 10, -1, 10, -1, 11, -1, 11, -1, 12, -1, 12,
                         -1, 13, -1, 13, -1, 14, -1, 14, -1, 15, -1, 15);
    return {_mm256_shuffle_epi8(all, rows_a), _mm256_shuffle_epi8(all, rows_b)};
  }
  HYK_INLINE Scale LoadScale(const uint8_t* at) {
    const Scale s = Spread(at);
    return {_mm256_srli_epi16(s.a, 8), _mm256_srli_epi16(s.b, 8)};
  }
  HYK_INLINE Scale LoadSignedScale(const int8_t* at) {
    const Scale s = Spread(at);
    return {_mm256_srai_epi16(s.a, 8), _mm256_srai_epi16(s.b, 8)};
  }

  HYK_INLINE I32 SplatI32(const int32_t* at) {
    const __m256i all = Splat(at);
    return {all, all};
  }
  HYK_INLINE I32 AddI32(I32 x, I32 y) {
    return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)};
  }
  HYK_INLINE I32 SubI32(I32 x, I32 y) {
    return {_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)};
  }
  HYK_INLINE I32 LoadI32(const int32_t* at) { return {Load(at), Load(at + 8)}; }
  HYK_INLINE void StoreI32(I32 x, int32_t* at) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), x.a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at + 8), x.b);
  }

  HYK_INLINE F32 ZeroF32() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  HYK_INLINE F32 SplatF32(const float* at) {
    const __m256 all = _mm256_broadcast_ss(at);
    return {all, all};
  }
  HYK_INLINE F32 LoadF32(const float* at) { return {_mm256_loadu_ps(at), _mm256_loadu_ps(at + 8)}; }
  HYK_INLINE void StoreF32(F32 x, float* at) {
    _mm256_storeu_ps(at, x.a);
    _mm256_storeu_ps(at + 8, x.b);
  }
  HYK_INLINE F32 ToF32(I32 x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
  HYK_INLINE I32 ToI32(F32 x) { return {_mm256_cvttps_epi32(x.a), _mm256_cvttps_epi32(x.b)}; }
  HYK_INLINE F32 LoadHalf(const uint8_t* at) {
    const __m256i half = Load(at);
    return {_mm256_cvtph_ps(_mm256_castsi256_si128(half)),
            _mm256_cvtph_ps(_mm256_extracti128_si256(half, 1))};
  }
  HYK_INLINE F32 LoadUnsigned8(const uint8_t* at) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    return ToF32({_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))});
  }
  HYK_INLINE F32 LoadSigned8(const int8_t* at) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    return ToF32({_mm256_cvtepi8_epi32(bytes), _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8))});
  }
  HYK_INLINE F32 LoadBf16Even(const uint8_t* word) {
    return {_mm256_castsi256_ps(_mm256_slli_epi32(Load(word), 16)),
            _mm256_castsi256_ps(_mm256_slli_epi32(Load(word + 32), 16))};
  }
  HYK_INLINE F32 LoadBf16Odd(const uint8_t* word) {
    const __m256i mask = _mm256_set1_epi32(static_cast<int32_t>(0xffff0000u));
    return {_mm256_castsi256_ps(_mm256_and_si256(Load(word), mask)),
            _mm256_castsi256_ps(_mm256_and_si256(Load(word + 32), mask))};
  }
  HYK_INLINE F32 Mul(F32 x, F32 y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
  HYK_INLINE F32 Fma(F32 x, F32 y, F32 z) {
    return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
  }
  HYK_INLINE F32 Fnma(F32 x, F32 y, F32 z) {
    return {_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)};
  }
};

}  // namespace

#endif  // HALYARD_BASE_SIMD_TILE_AVX2_H_
