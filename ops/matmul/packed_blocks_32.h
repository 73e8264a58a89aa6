// SPDX-License-Identifier: Apache-2.0
//
// Products of packed weights in blocks of 32 columns, and of those without blocks, with MR rows of x
// (packed_registers.h), in the primitives of base/simd/tile.h. Sums of codes are exact integers; each
// block then costs one float multiply-add an output, in the order of the blocks, so outputs depend
// neither on tile sizes nor on other rows.
#ifndef HALYARD_OPS_MATMUL_PACKED_BLOCKS_32_H_
#define HALYARD_OPS_MATMUL_PACKED_BLOCKS_32_H_

#include "ops/matmul/packed_registers.h"

namespace {

// 32 columns of nibbles. kMin: behind each scale of x lies scale * sum, for the format's offset; else
// an integer that is added to each sum.
template <int MR, bool kMin, bool kFloatScale>
HYK_INLINE void NibbleBlock(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                            float* acc) {
  const uint8_t* x_scale = x + 32 * StoredRows(MR);
  const uint8_t* x_more = x_scale + 4 * StoredRows(MR);
  if constexpr (MR > 1) HYK_FORGET(acc);
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_REGISTERS(typename Tile::Sums, sum, Tile::ZeroSums());
#pragma GCC unroll 1
    for (int g = 0; g < 4; g += Tile::kStepWords) {
      const auto word = Tile::LoadNarrow(codes + g * kWord + 4 * r);
      const auto low = Tile::LowHalf(word);
      const auto high = Tile::HighHalf(word);
#define HYK_STEP(u)                                                        \
  if constexpr (Units(MR) > u) {                                           \
    sum##u = Tile::DotNarrow(sum##u, low, NarrowX<MR>(x, 4 * g, u));       \
    sum##u = Tile::DotNarrow(sum##u, high, NarrowX<MR>(x, 4 * g + 16, u)); \
  }
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    const auto scale =
        kFloatScale ? Tile::LoadF32(Floats(scales + 4 * r)) : Tile::LoadHalf(scales + 2 * r);
    const auto min = kMin ? Tile::LoadHalf(scales + 32 + 2 * r) : scale;
#define HYK_STEP(m, h)                                                                  \
  if constexpr (MR > m) {                                                               \
    auto total = RowOf(Tile::Fold(sum##m), Tile::Fold(sum##h), m);                      \
    if constexpr (!kMin) total = Tile::AddI32(total, Tile::SplatI32(Ints(x_more) + m)); \
    const auto scaled = Tile::Mul(Tile::ToF32(total), scale);                           \
    auto out = Tile::LoadF32(acc + m * kTileRows + r);                                  \
    out = Tile::Fma(scaled, Tile::SplatF32(Floats(x_scale) + m), out);                  \
    if constexpr (kMin) out = Tile::Fma(min, Tile::SplatF32(Floats(x_more) + m), out);  \
    Tile::StoreF32(out, acc + m * kTileRows + r);                                       \
  }
    HYK_EACH_ROW(HYK_STEP)
#undef HYK_STEP
  }
}

// 32 columns of 8 bits, with a scale for the block, and behind each scale of x an integer that is added
// to each sum.
template <int MR>
HYK_INLINE void WideBlock(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                          float* acc) {
  constexpr int kSteps = 8 / Tile::kStepWords;
  const uint8_t* x_scale = WideX<MR>(x, kSteps, 0);
  const uint8_t* x_more = x_scale + 4 * StoredRows(MR);
  if constexpr (MR > 1) HYK_FORGET(acc);
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_REGISTERS(typename Tile::WideSums, sum, Tile::ZeroWideSums());
#define HYK_STEP(u) \
  if constexpr (Units(MR) > u && Tile::kWideBias != 0) sum##u = Tile::SplatI32(Ints(x_more) + u);
    HYK_EACH(HYK_STEP)
#undef HYK_STEP
#pragma GCC unroll 2
    for (int g = 0; g < kSteps; ++g) {
      const auto word = Tile::LoadWide(codes + g * Tile::kStepWords * kWord + 4 * r);
#define HYK_STEP(u) \
  if constexpr (Units(MR) > u) sum##u = Tile::DotWide(sum##u, word, WideX<MR>(x, g, u));
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    const auto scale = Tile::LoadHalf(scales + 2 * r);
#define HYK_STEP(m, h)                                                           \
  if constexpr (MR > m) {                                                        \
    const auto scaled = Tile::Mul(Tile::ToF32(RowOf(sum##m, sum##h, m)), scale); \
    auto out = Tile::LoadF32(acc + m * kTileRows + r);                           \
    out = Tile::Fma(scaled, Tile::SplatF32(Floats(x_scale) + m), out);           \
    Tile::StoreF32(out, acc + m * kTileRows + r);                                \
  }
    HYK_EACH_ROW(HYK_STEP)
#undef HYK_STEP
  }
}

// `blocks` of 32 columns of 8 bits into integer sums of the whole row.
template <int MR>
HYK_INLINE void WideSums(const uint8_t* codes, const uint8_t* x, int64_t blocks, int32_t* acc) {
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_REGISTERS(typename Tile::WideSums, sum, Tile::ZeroWideSums());
#pragma GCC unroll 2
    for (int64_t g = 0; g < blocks * 8 / Tile::kStepWords; ++g) {
      const auto word = Tile::LoadWide(codes + g * Tile::kStepWords * kWord + 4 * r);
#define HYK_STEP(u) \
  if constexpr (Units(MR) > u) sum##u = Tile::DotWide(sum##u, word, WideX<MR>(x, g, u));
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
#define HYK_STEP(m, h)                                                             \
  if constexpr (MR > m) {                                                          \
    int32_t* const at = acc + m * kTileRows + r;                                   \
    Tile::StoreI32(Tile::AddI32(Tile::LoadI32(at), RowOf(sum##m, sum##h, m)), at); \
  }
    HYK_EACH_ROW(HYK_STEP)
#undef HYK_STEP
  }
}

// `blocks` of 32 columns of bf16 with x in f32: even and odd columns have sums of their own, 16 and 16
// in each row of acc.
template <int MR>
HYK_INLINE void Bf16Blocks(const uint8_t* codes, const uint8_t* x, int64_t blocks, float* acc) {
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_REGISTERS(typename Tile::F32, even, Tile::ZeroF32());
    HYK_REGISTERS(typename Tile::F32, odd, Tile::ZeroF32());
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
      const float* at = Floats(x) + 2 * g * StoredRows(MR);
#define HYK_STEP(m)                                                          \
  if constexpr (MR > m) {                                                    \
    even##m = Tile::Fma(w0, Tile::SplatF32(at + m), even##m);                \
    odd##m = Tile::Fma(w1, Tile::SplatF32(at + StoredRows(MR) + m), odd##m); \
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

#endif  // HALYARD_OPS_MATMUL_PACKED_BLOCKS_32_H_
