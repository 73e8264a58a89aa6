// SPDX-License-Identifier: Apache-2.0
//
// Products of one block of packed weights (packed_form.h) with the same block of MR rows of x, in the
// primitives of base/simd/tile.h, which must be included before. Sums of codes are exact integers; each
// block then costs one float multiply-add an output, in the order of the blocks, so outputs depend
// neither on tile sizes nor on other rows.
//
// x is stored by groups of MR rows, interleaved: of each block first the codes, four columns of all
// rows after another, then a float scale for each row, then what the format needs (packed_inputs.h).
// Registers that hold one value for each row of x have names that end in its number, because types of
// scalable vectors cannot be in arrays; HYK_EACH writes a statement for each.
#ifndef HALYARD_OPS_MATMUL_PACKED_BLOCKS_H_
#define HALYARD_OPS_MATMUL_PACKED_BLOCKS_H_

#include <stdint.h>

#include "base/simd/tile.h"
#include "ops/matmul/packed_form.h"

#define HYK_EACH(STEP) STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
#define HYK_ROWS(type, name, value)                                                         \
  type name##0 = value, name##1 = value, name##2 = value, name##3 = value, name##4 = value, \
       name##5 = value, name##6 = value, name##7 = value

namespace {

constexpr int kWord = HYK_WORD_BYTES;
constexpr int kTileRows = HYK_TILE_ROWS;

HYK_INLINE const float* Floats(const uint8_t* at) {
  return static_cast<const float*>(static_cast<const void*>(at));
}
HYK_INLINE const int32_t* Ints(const uint8_t* at) {
  return static_cast<const int32_t*>(static_cast<const void*>(at));
}

// 32 columns of nibbles. kMin: behind each scale of x lies scale * sum, for the format's offset; else
// an integer that is added to each sum.
template <int MR, bool kMin, bool kFloatScale>
HYK_INLINE void NibbleBlock(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                            float* acc) {
  const uint8_t* x_scale = x + 32 * MR;
  if constexpr (MR > 1) HYK_FORGET(acc);
  const uint8_t* x_more = x_scale + 4 * MR;
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_ROWS(typename Tile::Sums, sum, Tile::ZeroSums());
#pragma GCC unroll 1
    for (int g = 0; g < 4; ++g) {
      const auto word = Tile::LoadNarrow(codes + g * kWord + 4 * r);
      const auto low = Tile::LowHalf(word);
      const auto high = Tile::HighHalf(word);
#define HYK_STEP(m)                                                     \
  if constexpr (MR > m) {                                               \
    sum##m = Tile::DotNarrow(sum##m, low, x + (g * MR + m) * 4);        \
    sum##m = Tile::DotNarrow(sum##m, high, x + ((g + 4) * MR + m) * 4); \
  }
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    const auto scale =
        kFloatScale ? Tile::LoadF32(Floats(scales + 4 * r)) : Tile::LoadHalf(scales + 2 * r);
    const auto min = kMin ? Tile::LoadHalf(scales + 32 + 2 * r) : scale;
#define HYK_STEP(m)                                                                     \
  if constexpr (MR > m) {                                                               \
    auto total = Tile::Fold(sum##m);                                                    \
    if constexpr (!kMin) total = Tile::AddI32(total, Tile::SplatI32(Ints(x_more) + m)); \
    const auto scaled = Tile::Mul(Tile::ToF32(total), scale);                           \
    auto out = Tile::LoadF32(acc + m * kTileRows + r);                                  \
    out = Tile::Fma(scaled, Tile::SplatF32(Floats(x_scale) + m), out);                  \
    if constexpr (kMin) out = Tile::Fma(min, Tile::SplatF32(Floats(x_more) + m), out);  \
    Tile::StoreF32(out, acc + m * kTileRows + r);                                       \
  }
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
  }
}

// 32 columns of 8 bits, with a scale for the block, and behind each scale of x an integer that is added
// to each sum.
template <int MR>
HYK_INLINE void WideBlock(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                          float* acc) {
  const uint8_t* x_scale = x + 8 * MR * Tile::kWideBytes;
  if constexpr (MR > 1) HYK_FORGET(acc);
  const uint8_t* x_more = x_scale + 4 * MR;
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_ROWS(typename Tile::I32, sum, Tile::ZeroI32());
#define HYK_STEP(m) \
  if constexpr (MR > m) sum##m = Tile::SplatI32(Ints(x_more) + m);
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
#pragma GCC unroll 2
    for (int g = 0; g < 8; ++g) {
      const auto word = Tile::LoadWide(codes + g * kWord + 4 * r);
#define HYK_STEP(m) \
  if constexpr (MR > m) sum##m = Tile::DotWide(sum##m, word, x + (g * MR + m) * Tile::kWideBytes);
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    const auto scale = Tile::LoadHalf(scales + 2 * r);
#define HYK_STEP(m)                                                    \
  if constexpr (MR > m) {                                              \
    const auto scaled = Tile::Mul(Tile::ToF32(sum##m), scale);         \
    auto out = Tile::LoadF32(acc + m * kTileRows + r);                 \
    out = Tile::Fma(scaled, Tile::SplatF32(Floats(x_scale) + m), out); \
    Tile::StoreF32(out, acc + m * kTileRows + r);                      \
  }
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
  }
}

// 32 columns of 8 bits into integer sums of the whole row.
template <int MR>
HYK_INLINE void WideSums(const uint8_t* codes, const uint8_t* x, int32_t* acc) {
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_ROWS(typename Tile::I32, sum, Tile::ZeroI32());
#define HYK_STEP(m) \
  if constexpr (MR > m) sum##m = Tile::LoadI32(acc + m * kTileRows + r);
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
#pragma GCC unroll 2
    for (int g = 0; g < 8; ++g) {
      const auto word = Tile::LoadWide(codes + g * kWord + 4 * r);
#define HYK_STEP(m) \
  if constexpr (MR > m) sum##m = Tile::DotWide(sum##m, word, x + (g * MR + m) * Tile::kWideBytes);
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
#define HYK_STEP(m) \
  if constexpr (MR > m) Tile::StoreI32(sum##m, acc + m * kTileRows + r);
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
  }
}

// Eight 6-bit scales, then eight minimums, of 16 rows, from the 12 bytes that q4_K keeps of each.
HYK_INLINE void ExpandSixBits(const uint8_t* packed, uint8_t* out) {
  for (int i = 0; i < 4 * kTileRows; ++i) {
    const uint8_t first = packed[i];
    const uint8_t second = packed[4 * kTileRows + i];
    const uint8_t lower = packed[8 * kTileRows + i];
    out[i] = first & 63;
    out[4 * kTileRows + i] = static_cast<uint8_t>((lower & 15) | (first >> 6) << 4);
    out[8 * kTileRows + i] = second & 63;
    out[12 * kTileRows + i] = static_cast<uint8_t>(lower >> 4 | (second >> 6) << 4);
  }
}

// 256 columns of q4_K. Minimums are summed as floats, in which they are exact: 63 * 32 * 127 * 8 is
// less than 2^24. Behind each scale of x lie the sums of its codes of each 32.
template <int MR>
HYK_INLINE void Q4KBlock(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                         float* acc) {
  const uint8_t* x_scale = x + 256 * MR;
  if constexpr (MR > 1) HYK_FORGET(acc);
  const uint8_t* x_sums = x_scale + 4 * MR;
  alignas(64) uint8_t sub[16 * kTileRows];
  ExpandSixBits(scales + 4 * kTileRows, sub);
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_ROWS(typename Tile::I32, total, Tile::ZeroI32());
    HYK_ROWS(typename Tile::F32, low, Tile::ZeroF32());
    for (int j = 0; j < 8; ++j) {
      HYK_ROWS(typename Tile::Sums, sum, Tile::ZeroSums());
#pragma GCC unroll 1
      for (int g = 0; g < 4; ++g) {
        const auto word = Tile::LoadNarrow(codes + (4 * j + g) * kWord + 4 * r);
        const auto lower = Tile::LowHalf(word);
        const auto upper = Tile::HighHalf(word);
#define HYK_STEP(m)                                                              \
  if constexpr (MR > m) {                                                        \
    sum##m = Tile::DotNarrow(sum##m, lower, x + ((8 * j + g) * MR + m) * 4);     \
    sum##m = Tile::DotNarrow(sum##m, upper, x + ((8 * j + g + 4) * MR + m) * 4); \
  }
        HYK_EACH(HYK_STEP)
#undef HYK_STEP
      }
      const auto scale = Tile::LoadScale(sub + j * kTileRows + r);
#define HYK_STEP(m) \
  if constexpr (MR > m) total##m = Tile::FoldScaled(total##m, sum##m, scale);
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    for (int j = 0; j < 8; ++j) {
      const auto min = Tile::LoadUnsigned8(sub + (8 + j) * kTileRows + r);
#define HYK_STEP(m)     \
  if constexpr (MR > m) \
    low##m = Tile::Fma(min, Tile::SplatF32(Floats(x_sums) + j * MR + m), low##m);
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    const auto scale = Tile::LoadHalf(scales + 2 * r);
    const auto min_scale = Tile::LoadHalf(scales + 2 * kTileRows + 2 * r);
#define HYK_STEP(m)                                                            \
  if constexpr (MR > m) {                                                      \
    const auto scale_of_x = Tile::SplatF32(Floats(x_scale) + m);               \
    auto out = Tile::LoadF32(acc + m * kTileRows + r);                         \
    out = Tile::Fma(Tile::Mul(Tile::ToF32(total##m), scale), scale_of_x, out); \
    out = Tile::Fnma(Tile::Mul(low##m, min_scale), scale_of_x, out);           \
    Tile::StoreF32(out, acc + m * kTileRows + r);                              \
  }
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
  }
}

HYK_INLINE Tile::Narrow Half(Tile::Narrow word, int upper) {
  if (upper != 0) return Tile::HighHalf(word);
  return Tile::LowHalf(word);
}

// 256 columns of q6_K, whose codes have 32 added: what that adds is summed as floats, exactly
// (128 * 16 * 127 * 16 is less than 2^24), and taken off as integers. Behind each scale of x lie the
// sums of its codes of each 16.
template <int MR>
HYK_INLINE void Q6KBlock(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                         float* acc) {
  const uint8_t* x_scale = x + 256 * MR;
  if constexpr (MR > 1) HYK_FORGET(acc);
  const uint8_t* x_sums = x_scale + 4 * MR;
  const int8_t* subs = static_cast<const int8_t*>(static_cast<const void*>(scales)) + 2 * kTileRows;
  const float added = 32.0f;
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_ROWS(typename Tile::I32, total, Tile::ZeroI32());
    HYK_ROWS(typename Tile::F32, more, Tile::ZeroF32());
    for (int j = 0; j < 8; ++j) {
      const uint8_t* words = codes + 6 * j * kWord + 4 * r;
#pragma GCC unroll 2
      for (int part = 0; part < 2; ++part) {
        const auto scale = Tile::LoadSignedScale(subs + (2 * j + part) * kTileRows + r);
        HYK_ROWS(typename Tile::Sums, sum, Tile::ZeroSums());
#pragma GCC unroll 2
        for (int h = 0; h < 2; ++h) {
          const auto first = Tile::LoadNarrow(words + 2 * h * kWord);
          const auto second = Tile::LoadNarrow(words + (2 * h + 1) * kWord);
          const auto bits = Tile::LoadNarrow(words + (4 + h) * kWord);
          const auto w0 = Tile::UpperBits(Half(first, part), bits, 2 * part);
          const auto w1 = Tile::UpperBits(Half(second, part), bits, 2 * part + 1);
          const uint8_t* four = x + (8 * j + 4 * part + 2 * h) * MR * 4;
#define HYK_STEP(m)                                            \
  if constexpr (MR > m) {                                      \
    sum##m = Tile::DotNarrow(sum##m, w0, four + m * 4);        \
    sum##m = Tile::DotNarrow(sum##m, w1, four + (MR + m) * 4); \
    if (Tile::kShortSums || h == 1) {                          \
      total##m = Tile::FoldScaled(total##m, sum##m, scale);    \
      sum##m = Tile::ZeroSums();                               \
    }                                                          \
  }
          HYK_EACH(HYK_STEP)
#undef HYK_STEP
        }
      }
    }
    for (int j = 0; j < 16; ++j) {
      const auto sub = Tile::LoadSigned8(subs + j * kTileRows + r);
#define HYK_STEP(m)     \
  if constexpr (MR > m) \
    more##m = Tile::Fma(sub, Tile::SplatF32(Floats(x_sums) + j * MR + m), more##m);
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    const auto scale = Tile::LoadHalf(scales + 2 * r);
#define HYK_STEP(m)                                                                 \
  if constexpr (MR > m) {                                                           \
    const auto off = Tile::ToI32(Tile::Mul(more##m, Tile::SplatF32(&added)));       \
    const auto scaled = Tile::Mul(Tile::ToF32(Tile::SubI32(total##m, off)), scale); \
    auto out = Tile::LoadF32(acc + m * kTileRows + r);                              \
    out = Tile::Fma(scaled, Tile::SplatF32(Floats(x_scale) + m), out);              \
    Tile::StoreF32(out, acc + m * kTileRows + r);                                   \
  }
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
  }
}

// `blocks` of 32 columns of bf16 with x in f32: even and odd columns have sums of their own, 16 and 16
// in each row of acc.
template <int MR>
HYK_INLINE void Bf16Blocks(const uint8_t* codes, const uint8_t* x, int64_t blocks, float* acc) {
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_ROWS(typename Tile::F32, even, Tile::ZeroF32());
    HYK_ROWS(typename Tile::F32, odd, Tile::ZeroF32());
#define HYK_STEP(m)                                            \
  if constexpr (MR > m) {                                      \
    even##m = Tile::LoadF32(acc + 2 * m * kTileRows + r);      \
    odd##m = Tile::LoadF32(acc + (2 * m + 1) * kTileRows + r); \
  }
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
    for (int64_t g = 0; g < blocks * 16; ++g) {
      const auto w0 = Tile::LoadBf16Even(codes + g * kWord + 4 * r);
      const auto w1 = Tile::LoadBf16Odd(codes + g * kWord + 4 * r);
      const float* at = Floats(x) + 2 * g * MR;
#define HYK_STEP(m)                                              \
  if constexpr (MR > m) {                                        \
    even##m = Tile::Fma(w0, Tile::SplatF32(at + m), even##m);    \
    odd##m = Tile::Fma(w1, Tile::SplatF32(at + MR + m), odd##m); \
  }
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
#define HYK_STEP(m)                                            \
  if constexpr (MR > m) {                                      \
    Tile::StoreF32(even##m, acc + 2 * m * kTileRows + r);      \
    Tile::StoreF32(odd##m, acc + (2 * m + 1) * kTileRows + r); \
  }
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
  }
}

}  // namespace

#endif  // HALYARD_OPS_MATMUL_PACKED_BLOCKS_H_
