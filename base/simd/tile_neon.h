// SPDX-License-Identifier: Apache-2.0
//
// Tile primitives (tile.h) for AArch64 NEON: a tile is four vectors of 4 rows.
//
// With dot products (sdot) a step is one word by one row of x. With HYK_I8MM it is two words, zipped to
// 8 columns of two rows a vector, by two rows of x: each smmla gives four sums, of two rows and two rows.
// Codes of up to 6 bits are not negative, so they are the same signed; 8-bit ones lose their bias first.
#ifndef HALYARD_BASE_SIMD_TILE_NEON_H_
#define HALYARD_BASE_SIMD_TILE_NEON_H_

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "base/simd/tile.h"

namespace {

// What does not depend on how codes are multiplied.
struct NeonFloats {
  struct I32 {
    int32x4_t a, b, c, d;
  };
  struct F32 {
    float32x4_t a, b, c, d;
  };

  HYK_INLINE I32 SplatI32(const int32_t* at) {
    const int32x4_t all = vld1q_dup_s32(at);
    return {all, all, all, all};
  }
  HYK_INLINE I32 AddI32(const I32& x, const I32& y) {
    return {vaddq_s32(x.a, y.a), vaddq_s32(x.b, y.b), vaddq_s32(x.c, y.c), vaddq_s32(x.d, y.d)};
  }
  HYK_INLINE I32 SubI32(const I32& x, const I32& y) {
    return {vsubq_s32(x.a, y.a), vsubq_s32(x.b, y.b), vsubq_s32(x.c, y.c), vsubq_s32(x.d, y.d)};
  }
  HYK_INLINE I32 LoadI32(const int32_t* at) {
    return {vld1q_s32(at), vld1q_s32(at + 4), vld1q_s32(at + 8), vld1q_s32(at + 12)};
  }
  HYK_INLINE void StoreI32(const I32& x, int32_t* at) {
    vst1q_s32(at, x.a);
    vst1q_s32(at + 4, x.b);
    vst1q_s32(at + 8, x.c);
    vst1q_s32(at + 12, x.d);
  }
  HYK_INLINE I32 ZeroI32() {
    const int32x4_t zero = vdupq_n_s32(0);
    return {zero, zero, zero, zero};
  }

  HYK_INLINE F32 ZeroF32() {
    const float32x4_t zero = vdupq_n_f32(0.0f);
    return {zero, zero, zero, zero};
  }
  HYK_INLINE F32 SplatF32(const float* at) {
    const float32x4_t all = vld1q_dup_f32(at);
    return {all, all, all, all};
  }
  HYK_INLINE F32 LoadF32(const float* at) {
    return {vld1q_f32(at), vld1q_f32(at + 4), vld1q_f32(at + 8), vld1q_f32(at + 12)};
  }
  HYK_INLINE void StoreF32(const F32& x, float* at) {
    vst1q_f32(at, x.a);
    vst1q_f32(at + 4, x.b);
    vst1q_f32(at + 8, x.c);
    vst1q_f32(at + 12, x.d);
  }
  HYK_INLINE F32 ToF32(const I32& x) {
    return {vcvtq_f32_s32(x.a), vcvtq_f32_s32(x.b), vcvtq_f32_s32(x.c), vcvtq_f32_s32(x.d)};
  }
  HYK_INLINE I32 ToI32(const F32& x) {
    return {vcvtq_s32_f32(x.a), vcvtq_s32_f32(x.b), vcvtq_s32_f32(x.c), vcvtq_s32_f32(x.d)};
  }
  HYK_INLINE float32x4_t Halves(const uint8_t* at) {
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(at)));
  }
  HYK_INLINE F32 LoadHalf(const uint8_t* at) {
    return {Halves(at), Halves(at + 8), Halves(at + 16), Halves(at + 24)};
  }
  HYK_INLINE I32 LoadUnsigned(const uint8_t* at) {
    const uint8x16_t bytes = vld1q_u8(at);
    const uint16x8_t low = vmovl_u8(vget_low_u8(bytes));
    const uint16x8_t high = vmovl_u8(vget_high_u8(bytes));
    return {vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(low))),
            vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(low))),
            vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(high))),
            vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(high)))};
  }
  HYK_INLINE I32 LoadSigned(const int8_t* at) {
    const int8x16_t bytes = vld1q_s8(at);
    const int16x8_t low = vmovl_s8(vget_low_s8(bytes));
    const int16x8_t high = vmovl_s8(vget_high_s8(bytes));
    return {vmovl_s16(vget_low_s16(low)), vmovl_s16(vget_high_s16(low)),
            vmovl_s16(vget_low_s16(high)), vmovl_s16(vget_high_s16(high))};
  }
  HYK_INLINE F32 LoadUnsigned8(const uint8_t* at) { return ToF32(LoadUnsigned(at)); }
  HYK_INLINE F32 LoadSigned8(const int8_t* at) { return ToF32(LoadSigned(at)); }
  HYK_INLINE float32x4_t Even(const uint8_t* at) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_u8(vld1q_u8(at)), 16));
  }
  HYK_INLINE float32x4_t Odd(const uint8_t* at) {
    const uint32x4_t mask = vdupq_n_u32(0xffff0000u);
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_u8(vld1q_u8(at)), mask));
  }
  HYK_INLINE F32 LoadBf16Even(const uint8_t* word) {
    return {Even(word), Even(word + 16), Even(word + 32), Even(word + 48)};
  }
  HYK_INLINE F32 LoadBf16Odd(const uint8_t* word) {
    return {Odd(word), Odd(word + 16), Odd(word + 32), Odd(word + 48)};
  }
  HYK_INLINE F32 Mul(const F32& x, const F32& y) {
    return {vmulq_f32(x.a, y.a), vmulq_f32(x.b, y.b), vmulq_f32(x.c, y.c), vmulq_f32(x.d, y.d)};
  }
  HYK_INLINE F32 Fma(const F32& x, const F32& y, const F32& z) {
    return {vfmaq_f32(z.a, x.a, y.a), vfmaq_f32(z.b, x.b, y.b), vfmaq_f32(z.c, x.c, y.c),
            vfmaq_f32(z.d, x.d, y.d)};
  }
  HYK_INLINE F32 Fnma(const F32& x, const F32& y, const F32& z) {
    return {vfmsq_f32(z.a, x.a, y.a), vfmsq_f32(z.b, x.b, y.b), vfmsq_f32(z.c, x.c, y.c),
            vfmsq_f32(z.d, x.d, y.d)};
  }
};

// Four vectors of codes.
struct NeonCodes {
  uint8x16_t a, b, c, d;

  HYK_INLINE NeonCodes Load(const uint8_t* word) {
    return {vld1q_u8(word), vld1q_u8(word + 16), vld1q_u8(word + 32), vld1q_u8(word + 48)};
  }
  HYK_INLINE NeonCodes And(const NeonCodes& w, uint8_t mask) {
    const uint8x16_t all = vdupq_n_u8(mask);
    return {vandq_u8(w.a, all), vandq_u8(w.b, all), vandq_u8(w.c, all), vandq_u8(w.d, all)};
  }
  HYK_INLINE NeonCodes Or(const NeonCodes& w, const NeonCodes& v) {
    return {vorrq_u8(w.a, v.a), vorrq_u8(w.b, v.b), vorrq_u8(w.c, v.c), vorrq_u8(w.d, v.d)};
  }
  HYK_INLINE NeonCodes Flip(const NeonCodes& w, uint8_t bits) {
    const uint8x16_t all = vdupq_n_u8(bits);
    return {veorq_u8(w.a, all), veorq_u8(w.b, all), veorq_u8(w.c, all), veorq_u8(w.d, all)};
  }
  // Bits moved up by `bits`, down where that is negative; what leaves a byte is lost.
  HYK_INLINE NeonCodes Shift(const NeonCodes& w, int bits) {
    const int8x16_t by = vdupq_n_s8(static_cast<int8_t>(bits));
    return {vshlq_u8(w.a, by), vshlq_u8(w.b, by), vshlq_u8(w.c, by), vshlq_u8(w.d, by)};
  }
  HYK_INLINE NeonCodes HighHalf(const NeonCodes& w) {
    return {vshrq_n_u8(w.a, 4), vshrq_n_u8(w.b, 4), vshrq_n_u8(w.c, 4), vshrq_n_u8(w.d, 4)};
  }
  // Bits of place 0..3, two each, as bits 4 and 5.
  HYK_INLINE NeonCodes Bits(const NeonCodes& w, int place) {
    return And(Shift(w, 4 - 2 * place), 0x30);
  }
};

#ifndef HYK_I8MM

struct Tile : NeonFloats {
  static constexpr int kRowsOfX = 4;
  static constexpr int kFloatRowsOfX = 2;
  static constexpr int kUnitRows = 1;
  static constexpr int kStepWords = 1;
  static constexpr int kWideBytes = 4;
  static constexpr int kWideBias = 0;
  static constexpr bool kShortSums = false;
  static constexpr int Rows() { return 16; }

  using Wide = NeonCodes;
  using Narrow = NeonCodes;
  using Sums = I32;
  using WideSums = I32;
  using Totals = I32;
  using Scale = I32;

  HYK_INLINE Wide LoadWide(const uint8_t* word) {
    return NeonCodes::Flip(NeonCodes::Load(word), 0x80);
  }
  HYK_INLINE I32 DotWide(const I32& sum, const NeonCodes& w, const uint8_t* x) {
    int32_t four;
    memcpy(&four, x, sizeof four);
    const int8x16_t v = vreinterpretq_s8_s32(vdupq_n_s32(four));
    return {vdotq_s32(sum.a, vreinterpretq_s8_u8(w.a), v),
            vdotq_s32(sum.b, vreinterpretq_s8_u8(w.b), v),
            vdotq_s32(sum.c, vreinterpretq_s8_u8(w.c), v),
            vdotq_s32(sum.d, vreinterpretq_s8_u8(w.d), v)};
  }
  HYK_INLINE void StoreWideX(const int8_t* codes, uint8_t* x, int64_t step) {
    for (int i = 0; i < 8; ++i) memcpy(x + i * step, codes + 4 * i, 4);
  }
  HYK_INLINE Narrow LoadNarrow(const uint8_t* word) { return NeonCodes::Load(word); }
  HYK_INLINE Narrow LowHalf(const Narrow& w) { return NeonCodes::And(w, 15); }
  HYK_INLINE Narrow HighHalf(const Narrow& w) { return NeonCodes::HighHalf(w); }
  HYK_INLINE Narrow LoadBits(const uint8_t* word) { return NeonCodes::Load(word); }
  HYK_INLINE Narrow UpperBits(const Narrow& low, const Narrow& bits, int place) {
    return NeonCodes::Or(low, NeonCodes::Bits(bits, place));
  }
  HYK_INLINE Sums DotNarrow(const Sums& sum, const Narrow& w, const uint8_t* x) {
    return DotWide(sum, w, x);
  }
  HYK_INLINE Sums ZeroSums() { return ZeroI32(); }
  HYK_INLINE WideSums ZeroWideSums() { return ZeroI32(); }
  HYK_INLINE Totals ZeroTotals() { return ZeroI32(); }
  HYK_INLINE Totals Fold(const Sums& sum) { return sum; }
  HYK_INLINE Totals FoldScaled(const Totals& total, const Sums& sum, const Scale& scale) {
    return {vmlaq_s32(total.a, sum.a, scale.a), vmlaq_s32(total.b, sum.b, scale.b),
            vmlaq_s32(total.c, sum.c, scale.c), vmlaq_s32(total.d, sum.d, scale.d)};
  }
  HYK_INLINE I32 RowSums(const I32& sums, int) { return sums; }
  HYK_INLINE Scale LoadScale(const uint8_t* at) { return LoadUnsigned(at); }
  HYK_INLINE Scale LoadSignedScale(const int8_t* at) { return LoadSigned(at); }
};

#else

struct Tile : NeonFloats {
  static constexpr int kRowsOfX = 4;
  static constexpr int kFloatRowsOfX = 2;
  static constexpr int kUnitRows = 2;
  static constexpr int kStepWords = 2;
  static constexpr int kWideBytes = 8;
  static constexpr int kWideBias = 0;
  static constexpr bool kShortSums = false;
  static constexpr int Rows() { return 16; }

  // Vector i of eight: 8 columns of rows 2 i and 2 i + 1.
  struct Zipped {
    NeonCodes first, second;
  };
  // Vector i of eight: sums of row 2 i by both rows of x, then of row 2 i + 1.
  struct Pairs {
    I32 first, second;
  };
  using Wide = Zipped;
  using Narrow = Zipped;
  using Sums = Pairs;
  using WideSums = Pairs;
  using Totals = Pairs;
  using Scale = Pairs;

  HYK_INLINE uint8x16_t Zip1(uint8x16_t x, uint8x16_t y) {
    return vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(x), vreinterpretq_u32_u8(y)));
  }
  HYK_INLINE uint8x16_t Zip2(uint8x16_t x, uint8x16_t y) {
    return vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(x), vreinterpretq_u32_u8(y)));
  }
  HYK_INLINE Zipped Zip(const NeonCodes& x, const NeonCodes& y) {
    return {{Zip1(x.a, y.a), Zip2(x.a, y.a), Zip1(x.b, y.b), Zip2(x.b, y.b)},
            {Zip1(x.c, y.c), Zip2(x.c, y.c), Zip1(x.d, y.d), Zip2(x.d, y.d)}};
  }
  HYK_INLINE Wide LoadWide(const uint8_t* words) {
    const Zipped w = LoadNarrow(words);
    return {NeonCodes::Flip(w.first, 0x80), NeonCodes::Flip(w.second, 0x80)};
  }
  HYK_INLINE I32 Mmla(const I32& sum, const NeonCodes& w, int8x16_t x) {
    return {vmmlaq_s32(sum.a, vreinterpretq_s8_u8(w.a), x),
            vmmlaq_s32(sum.b, vreinterpretq_s8_u8(w.b), x),
            vmmlaq_s32(sum.c, vreinterpretq_s8_u8(w.c), x),
            vmmlaq_s32(sum.d, vreinterpretq_s8_u8(w.d), x)};
  }
  HYK_INLINE Pairs DotWide(const Pairs& sum, const Zipped& w, const uint8_t* x) {
    const int8x16_t v = vreinterpretq_s8_u8(vld1q_u8(x));
    return {Mmla(sum.first, w.first, v), Mmla(sum.second, w.second, v)};
  }
  HYK_INLINE void StoreWideX(const int8_t* codes, uint8_t* x, int64_t step) {
    for (int i = 0; i < 4; ++i) memcpy(x + i * step, codes + 8 * i, 8);
  }
  HYK_INLINE Narrow LoadNarrow(const uint8_t* words) {
    return Zip(NeonCodes::Load(words), NeonCodes::Load(words + 64));
  }
  HYK_INLINE Narrow LowHalf(const Narrow& w) {
    return {NeonCodes::And(w.first, 15), NeonCodes::And(w.second, 15)};
  }
  HYK_INLINE Narrow HighHalf(const Narrow& w) {
    return {NeonCodes::HighHalf(w.first), NeonCodes::HighHalf(w.second)};
  }
  // The second word's bits lie one place higher.
  HYK_INLINE Narrow LoadBits(const uint8_t* word) {
    const NeonCodes bits = NeonCodes::Load(word);
    return Zip(bits, NeonCodes::Shift(bits, -2));
  }
  HYK_INLINE Narrow UpperBits(const Narrow& low, const Narrow& bits, int place) {
    return {NeonCodes::Or(low.first, NeonCodes::Bits(bits.first, place)),
            NeonCodes::Or(low.second, NeonCodes::Bits(bits.second, place))};
  }
  HYK_INLINE Sums DotNarrow(const Sums& sum, const Narrow& w, const uint8_t* x) {
    return DotWide(sum, w, x);
  }
  HYK_INLINE Sums ZeroSums() { return {ZeroI32(), ZeroI32()}; }
  HYK_INLINE WideSums ZeroWideSums() { return ZeroSums(); }
  HYK_INLINE Totals ZeroTotals() { return ZeroSums(); }
  HYK_INLINE Totals Fold(const Sums& sum) { return sum; }
  HYK_INLINE I32 MulAdd(const I32& total, const I32& x, const I32& y) {
    return {vmlaq_s32(total.a, x.a, y.a), vmlaq_s32(total.b, x.b, y.b),
            vmlaq_s32(total.c, x.c, y.c), vmlaq_s32(total.d, x.d, y.d)};
  }
  HYK_INLINE Totals FoldScaled(const Totals& total, const Sums& sum, const Scale& scale) {
    return {MulAdd(total.first, sum.first, scale.first),
            MulAdd(total.second, sum.second, scale.second)};
  }
  HYK_INLINE I32 RowSums(const Pairs& sums, int row) {
    const I32& x = sums.first;
    const I32& y = sums.second;
    if (row == 0) {
      return {vuzp1q_s32(x.a, x.b), vuzp1q_s32(x.c, x.d), vuzp1q_s32(y.a, y.b),
              vuzp1q_s32(y.c, y.d)};
    }
    return {vuzp2q_s32(x.a, x.b), vuzp2q_s32(x.c, x.d), vuzp2q_s32(y.a, y.b), vuzp2q_s32(y.c, y.d)};
  }
  HYK_INLINE Scale Twice(const I32& s) {
    return {
        {vzip1q_s32(s.a, s.a), vzip2q_s32(s.a, s.a), vzip1q_s32(s.b, s.b), vzip2q_s32(s.b, s.b)},
        {vzip1q_s32(s.c, s.c), vzip2q_s32(s.c, s.c), vzip1q_s32(s.d, s.d), vzip2q_s32(s.d, s.d)}};
  }
  HYK_INLINE Scale LoadScale(const uint8_t* at) { return Twice(LoadUnsigned(at)); }
  HYK_INLINE Scale LoadSignedScale(const int8_t* at) { return Twice(LoadSigned(at)); }
};

#endif  // HYK_I8MM

}  // namespace

#endif  // HALYARD_BASE_SIMD_TILE_NEON_H_
