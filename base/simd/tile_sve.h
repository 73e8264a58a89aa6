// SPDX-License-Identifier: Apache-2.0
//
// Tile primitives (tile.h) for SVE of any vector length: a tile is one vector of as many rows as it has
// 32-bit lanes, of which those from 16 on do nothing. Codes of up to 6 bits are not negative, so they
// are the same signed; 8-bit ones lose their bias first.
#ifndef HALYARD_BASE_SIMD_TILE_SVE_H_
#define HALYARD_BASE_SIMD_TILE_SVE_H_

#include <arm_sve.h>
#include <stdint.h>
#include <string.h>

#include "base/simd/tile.h"

namespace {

struct Tile {
  static constexpr int kRowsOfX = 4;
  static constexpr int kFloatRowsOfX = 4;
  static constexpr int kUnitRows = 1;
  static constexpr int kStepWords = 1;
  static constexpr int kWideBytes = 4;
  static constexpr int kWideBias = 0;
  static constexpr bool kShortSums = false;
  HYK_INLINE int Rows() { return static_cast<int>(svcntw()); }

  using I32 = svint32_t;
  using F32 = svfloat32_t;
  using Wide = svint8_t;
  using Narrow = svuint8_t;
  using Sums = svint32_t;
  using WideSums = svint32_t;
  using Totals = svint32_t;
  using Scale = svint32_t;

  // The lanes that are rows, of 32 bits and of bytes.
  HYK_INLINE svbool_t Lanes() { return svwhilelt_b32(0, 16); }
  HYK_INLINE svbool_t Bytes() { return svwhilelt_b8(0, 64); }

  HYK_INLINE Wide LoadWide(const uint8_t* word) {
    return svreinterpret_s8_u8(sveor_n_u8_x(svptrue_b8(), svld1_u8(Bytes(), word), 0x80));
  }
  HYK_INLINE svint8_t Four(const uint8_t* x) {
    int32_t four;
    memcpy(&four, x, sizeof four);
    return svreinterpret_s8_s32(svdup_n_s32(four));
  }
  HYK_INLINE WideSums DotWide(WideSums sum, Wide w, const uint8_t* x) {
    return svdot_s32(sum, w, Four(x));
  }
  HYK_INLINE WideSums ZeroWideSums() { return svdup_n_s32(0); }
  HYK_INLINE void StoreWideX(const int8_t* codes, uint8_t* x, int64_t step) {
    for (int i = 0; i < 8; ++i) memcpy(x + i * step, codes + 4 * i, 4);
  }

  HYK_INLINE Narrow LoadNarrow(const uint8_t* word) { return svld1_u8(Bytes(), word); }
  HYK_INLINE Narrow LowHalf(Narrow w) { return svand_n_u8_x(svptrue_b8(), w, 15); }
  HYK_INLINE Narrow HighHalf(Narrow w) { return svlsr_n_u8_x(svptrue_b8(), w, 4); }
  HYK_INLINE Narrow LoadBits(const uint8_t* word) { return LoadNarrow(word); }
  HYK_INLINE Narrow UpperBits(Narrow low, Narrow bits, int place) {
    const svbool_t all = svptrue_b8();
    const svuint8_t pair =
        svand_n_u8_x(all, svlsr_n_u8_x(all, bits, static_cast<uint8_t>(2 * place)), 3);
    return svorr_u8_x(all, low, svlsl_n_u8_x(all, pair, 4));
  }
  HYK_INLINE Sums DotNarrow(Sums sum, Narrow w, const uint8_t* x) {
    return svdot_s32(sum, svreinterpret_s8_u8(w), Four(x));
  }
  HYK_INLINE Sums ZeroSums() { return svdup_n_s32(0); }
  HYK_INLINE Totals ZeroTotals() { return svdup_n_s32(0); }
  HYK_INLINE Totals Fold(Sums sum) { return sum; }
  HYK_INLINE Totals FoldScaled(Totals total, Sums sum, Scale scale) {
    return svmla_s32_x(svptrue_b32(), total, sum, scale);
  }
  HYK_INLINE I32 RowSums(I32 sums, int) { return sums; }
  HYK_INLINE Scale LoadScale(const uint8_t* at) { return svld1ub_s32(Lanes(), at); }
  HYK_INLINE Scale LoadSignedScale(const int8_t* at) { return svld1sb_s32(Lanes(), at); }

  HYK_INLINE I32 SplatI32(const int32_t* at) { return svdup_n_s32(*at); }
  HYK_INLINE I32 AddI32(I32 x, I32 y) { return svadd_s32_x(svptrue_b32(), x, y); }
  HYK_INLINE I32 SubI32(I32 x, I32 y) { return svsub_s32_x(svptrue_b32(), x, y); }
  HYK_INLINE I32 LoadI32(const int32_t* at) { return svld1_s32(Lanes(), at); }
  HYK_INLINE void StoreI32(I32 x, int32_t* at) { svst1_s32(Lanes(), at, x); }

  HYK_INLINE F32 ZeroF32() { return svdup_n_f32(0.0f); }
  HYK_INLINE F32 SplatF32(const float* at) { return svdup_n_f32(*at); }
  HYK_INLINE F32 LoadF32(const float* at) { return svld1_f32(Lanes(), at); }
  HYK_INLINE void StoreF32(F32 x, float* at) { svst1_f32(Lanes(), at, x); }
  HYK_INLINE F32 ToF32(I32 x) { return svcvt_f32_s32_x(svptrue_b32(), x); }
  HYK_INLINE I32 ToI32(F32 x) { return svcvt_s32_f32_x(svptrue_b32(), x); }
  HYK_INLINE F32 LoadHalf(const uint8_t* at) {
    const svuint32_t bits =
        svld1uh_u32(Lanes(), static_cast<const uint16_t*>(static_cast<const void*>(at)));
    return svcvt_f32_f16_x(svptrue_b32(), svreinterpret_f16_u32(bits));
  }
  HYK_INLINE F32 LoadUnsigned8(const uint8_t* at) { return ToF32(LoadScale(at)); }
  HYK_INLINE F32 LoadSigned8(const int8_t* at) { return ToF32(LoadSignedScale(at)); }
  HYK_INLINE svuint32_t Pairs(const uint8_t* word) {
    return svreinterpret_u32_u8(svld1_u8(Bytes(), word));
  }
  HYK_INLINE F32 LoadBf16Even(const uint8_t* word) {
    return svreinterpret_f32_u32(svlsl_n_u32_x(svptrue_b32(), Pairs(word), 16));
  }
  HYK_INLINE F32 LoadBf16Odd(const uint8_t* word) {
    return svreinterpret_f32_u32(svand_n_u32_x(svptrue_b32(), Pairs(word), 0xffff0000u));
  }
  HYK_INLINE F32 Mul(F32 x, F32 y) { return svmul_f32_x(svptrue_b32(), x, y); }
  HYK_INLINE F32 Fma(F32 x, F32 y, F32 z) { return svmla_f32_x(svptrue_b32(), z, x, y); }
  HYK_INLINE F32 Fnma(F32 x, F32 y, F32 z) { return svmls_f32_x(svptrue_b32(), z, x, y); }
};

}  // namespace

#endif  // HALYARD_BASE_SIMD_TILE_SVE_H_
