// SPDX-License-Identifier: Apache-2.0
//
// Tile primitives (tile.h) for AVX-512 with VNNI: a tile is one vector of 16 rows. vpdpbusd multiplies
// unsigned codes of weights by signed ones of x, four by four, without saturation.
//
// With HALYARD_SIMDE the same source is compiled to plain code by the SIMDe library, for machines that
// lack AVX-512 to prove it on.
#ifndef HALYARD_BASE_SIMD_TILE_AVX512_H_
#define HALYARD_BASE_SIMD_TILE_AVX512_H_

#ifdef HALYARD_SIMDE
#include "base/simd/simde_avx512.h"
#else
#include <immintrin.h>
// GCC 12 warns of a value that the plain forms leave undefined on purpose; a mask of all lanes becomes
// no mask.
#define hyk512_slli_epi32(a, bits) _mm512_maskz_slli_epi32(0xffff, a, bits)
#define hyk512_cvtepi32_ps(a) _mm512_maskz_cvtepi32_ps(0xffff, a)
#define hyk512_cvttps_epi32(a) _mm512_maskz_cvttps_epi32(0xffff, a)
#define hyk512_cvtph_ps(a) _mm512_maskz_cvtph_ps(0xffff, a)
#define hyk512_cvtepu8_epi32(a) _mm512_maskz_cvtepu8_epi32(0xffff, a)
#define hyk512_cvtepi8_epi32(a) _mm512_maskz_cvtepi8_epi32(0xffff, a)
#endif
#include <stdint.h>
#include <string.h>

#include "base/simd/tile.h"

namespace {

struct Tile {
  static constexpr int kRowsOfX = 8;
  static constexpr int kFloatRowsOfX = 8;
  static constexpr int kUnitRows = 1;
  static constexpr int kStepWords = 1;
  static constexpr int kWideBytes = 4;
  static constexpr int kWideBias = 128;
  static constexpr bool kShortSums = false;
  static constexpr int Rows() { return 16; }

  using I32 = __m512i;
  using F32 = __m512;
  using Wide = __m512i;
  using Narrow = __m512i;
  using Sums = __m512i;
  using WideSums = __m512i;
  using Totals = __m512i;
  using Scale = __m512i;

  HYK_INLINE __m512i Load(const void* at) { return _mm512_loadu_si512(at); }
  HYK_INLINE __m512i Splat(const void* at) {
    int32_t word;
    memcpy(&word, at, sizeof word);
    return _mm512_set1_epi32(word);
  }
  HYK_INLINE __m128i LoadBytes(const void* at) {
    return _mm_loadu_si128(static_cast<const __m128i*>(at));
  }

  HYK_INLINE Wide LoadWide(const uint8_t* word) { return Load(word); }
  HYK_INLINE I32 DotWide(I32 sum, Wide w, const uint8_t* x) {
    return _mm512_dpbusd_epi32(sum, w, Splat(x));
  }
  HYK_INLINE void StoreWideX(const int8_t* codes, uint8_t* x, int64_t step) {
    for (int i = 0; i < 8; ++i) memcpy(x + i * step, codes + 4 * i, 4);
  }

  HYK_INLINE Narrow LoadNarrow(const uint8_t* word) { return Load(word); }
  HYK_INLINE Narrow LowHalf(Narrow w) { return _mm512_and_si512(w, _mm512_set1_epi8(15)); }
  HYK_INLINE Narrow HighHalf(Narrow w) { return LowHalf(_mm512_srli_epi16(w, 4)); }
  HYK_INLINE Narrow LoadBits(const uint8_t* word) { return Load(word); }
  HYK_INLINE Narrow UpperBits(Narrow low, Narrow word, int place) {
    const __m512i moved = place == 0   ? _mm512_slli_epi16(word, 4)
                          : place == 1 ? _mm512_slli_epi16(word, 2)
                          : place == 2 ? word
                                       : _mm512_srli_epi16(word, 2);
    return _mm512_or_si512(low, _mm512_and_si512(moved, _mm512_set1_epi8(0x30)));
  }
  HYK_INLINE Sums ZeroSums() { return _mm512_setzero_si512(); }
  HYK_INLINE WideSums ZeroWideSums() { return ZeroSums(); }
  HYK_INLINE Totals ZeroTotals() { return ZeroSums(); }
  HYK_INLINE I32 RowSums(I32 sums, int) { return sums; }
  HYK_INLINE Sums DotNarrow(Sums sum, Narrow w, const uint8_t* x) { return DotWide(sum, w, x); }
  HYK_INLINE I32 Fold(Sums sum) { return sum; }
  HYK_INLINE I32 FoldScaled(I32 total, Sums sum, Scale scale) {
    return _mm512_add_epi32(total, _mm512_mullo_epi32(sum, scale));
  }
  HYK_INLINE Scale LoadScale(const uint8_t* at) { return hyk512_cvtepu8_epi32(LoadBytes(at)); }
  HYK_INLINE Scale LoadSignedScale(const int8_t* at) { return hyk512_cvtepi8_epi32(LoadBytes(at)); }

  HYK_INLINE I32 SplatI32(const int32_t* at) { return Splat(at); }
  HYK_INLINE I32 AddI32(I32 x, I32 y) { return _mm512_add_epi32(x, y); }
  HYK_INLINE I32 SubI32(I32 x, I32 y) { return _mm512_sub_epi32(x, y); }
  HYK_INLINE I32 LoadI32(const int32_t* at) { return Load(at); }
  HYK_INLINE void StoreI32(I32 x, int32_t* at) { _mm512_storeu_si512(at, x); }

  HYK_INLINE F32 ZeroF32() { return _mm512_setzero_ps(); }
  HYK_INLINE F32 SplatF32(const float* at) { return _mm512_set1_ps(*at); }
  HYK_INLINE F32 LoadF32(const float* at) { return _mm512_loadu_ps(at); }
  HYK_INLINE void StoreF32(F32 x, float* at) { _mm512_storeu_ps(at, x); }
  HYK_INLINE F32 ToF32(I32 x) { return hyk512_cvtepi32_ps(x); }
  HYK_INLINE I32 ToI32(F32 x) { return hyk512_cvttps_epi32(x); }
  HYK_INLINE F32 LoadHalf(const uint8_t* at) {
    return hyk512_cvtph_ps(
        _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(at))));
  }
  HYK_INLINE F32 LoadUnsigned8(const uint8_t* at) { return ToF32(LoadScale(at)); }
  HYK_INLINE F32 LoadSigned8(const int8_t* at) { return ToF32(LoadSignedScale(at)); }
  HYK_INLINE F32 LoadBf16Even(const uint8_t* word) {
    return _mm512_castsi512_ps(hyk512_slli_epi32(Load(word), 16));
  }
  HYK_INLINE F32 LoadBf16Odd(const uint8_t* word) {
    const __m512i mask = _mm512_set1_epi32(static_cast<int32_t>(0xffff0000u));
    return _mm512_castsi512_ps(_mm512_and_si512(Load(word), mask));
  }
  HYK_INLINE F32 Mul(F32 x, F32 y) { return _mm512_mul_ps(x, y); }
  HYK_INLINE F32 Fma(F32 x, F32 y, F32 z) { return _mm512_fmadd_ps(x, y, z); }
  HYK_INLINE F32 Fnma(F32 x, F32 y, F32 z) { return _mm512_fnmadd_ps(x, y, z); }
};

}  // namespace

#endif  // HALYARD_BASE_SIMD_TILE_AVX512_H_
