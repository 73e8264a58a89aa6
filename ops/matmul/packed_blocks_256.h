// SPDX-License-Identifier: Apache-2.0
//
// Products of packed weights in blocks of 256 columns (packed_blocks_32.h says how such products are
// made). Sums of sub-blocks are scaled as integers, so that a block has one float multiply-add an
// output, two with minimums.
#ifndef HALYARD_OPS_MATMUL_PACKED_BLOCKS_256_H_
#define HALYARD_OPS_MATMUL_PACKED_BLOCKS_256_H_

#include "ops/matmul/packed_registers.h"

namespace {

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
  const uint8_t* x_scale = x + 256 * StoredRows(MR);
  const uint8_t* x_sums = x_scale + 4 * StoredRows(MR);
  alignas(64) uint8_t sub[16 * kTileRows];
  ExpandSixBits(scales + 4 * kTileRows, sub);
  if constexpr (MR > 1) HYK_FORGET(acc);
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_REGISTERS(typename Tile::Totals, total, Tile::ZeroTotals());
    HYK_REGISTERS(typename Tile::F32, low, Tile::ZeroF32());
    for (int j = 0; j < 8; ++j) {
      HYK_REGISTERS(typename Tile::Sums, sum, Tile::ZeroSums());
#pragma GCC unroll 1
      for (int g = 0; g < 4; g += Tile::kStepWords) {
        const auto word = Tile::LoadNarrow(codes + (4 * j + g) * kWord + 4 * r);
        const auto lower = Tile::LowHalf(word);
        const auto upper = Tile::HighHalf(word);
        const int column = 32 * j + 4 * g;
#define HYK_STEP(u)                                                          \
  if constexpr (Units(MR) > u) {                                             \
    sum##u = Tile::DotNarrow(sum##u, lower, NarrowX<MR>(x, column, u));      \
    sum##u = Tile::DotNarrow(sum##u, upper, NarrowX<MR>(x, column + 16, u)); \
  }
        HYK_EACH(HYK_STEP)
#undef HYK_STEP
      }
      const auto scale = Tile::LoadScale(sub + j * kTileRows + r);
#define HYK_STEP(u) \
  if constexpr (Units(MR) > u) total##u = Tile::FoldScaled(total##u, sum##u, scale);
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    for (int j = 0; j < 8; ++j) {
      const auto min = Tile::LoadUnsigned8(sub + (8 + j) * kTileRows + r);
      const float* of_32 = Floats(x_sums) + j * StoredRows(MR);
#define HYK_STEP(m) \
  if constexpr (MR > m) low##m = Tile::Fma(min, Tile::SplatF32(of_32 + m), low##m);
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    const auto scale = Tile::LoadHalf(scales + 2 * r);
    const auto min_scale = Tile::LoadHalf(scales + 2 * kTileRows + 2 * r);
#define HYK_STEP(m, h)                                               \
  if constexpr (MR > m) {                                            \
    const auto scale_of_x = Tile::SplatF32(Floats(x_scale) + m);     \
    const auto row = Tile::ToF32(RowOf(total##m, total##h, m));      \
    auto out = Tile::LoadF32(acc + m * kTileRows + r);               \
    out = Tile::Fma(Tile::Mul(row, scale), scale_of_x, out);         \
    out = Tile::Fnma(Tile::Mul(low##m, min_scale), scale_of_x, out); \
    Tile::StoreF32(out, acc + m * kTileRows + r);                    \
  }
    HYK_EACH_ROW(HYK_STEP)
#undef HYK_STEP
  }
}

HYK_INLINE Tile::Narrow Half(const Tile::Narrow& word, int upper) {
  if (upper != 0) return Tile::HighHalf(word);
  return Tile::LowHalf(word);
}

// 256 columns of q6_K, whose codes have 32 added: what that adds is summed as floats, exactly
// (128 * 16 * 127 * 16 is less than 2^24), and taken off as integers. Behind each scale of x lie the
// sums of its codes of each 16.
template <int MR>
HYK_INLINE void Q6KBlock(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                         float* acc) {
  const uint8_t* x_scale = x + 256 * StoredRows(MR);
  const uint8_t* x_sums = x_scale + 4 * StoredRows(MR);
  const int8_t* subs = static_cast<const int8_t*>(static_cast<const void*>(scales)) + 2 * kTileRows;
  const float added = 32.0f;
  if constexpr (MR > 1) HYK_FORGET(acc);
  for (int r = 0; r < kTileRows; r += Tile::Rows()) {
    HYK_REGISTERS(typename Tile::Totals, total, Tile::ZeroTotals());
    HYK_REGISTERS(typename Tile::F32, more, Tile::ZeroF32());
    for (int j = 0; j < 8; ++j) {
      const uint8_t* words = codes + 6 * j * kWord + 4 * r;
#pragma GCC unroll 2
      for (int part = 0; part < 2; ++part) {
        const auto scale = Tile::LoadSignedScale(subs + (2 * j + part) * kTileRows + r);
        HYK_REGISTERS(typename Tile::Sums, sum, Tile::ZeroSums());
#pragma GCC unroll 2
        for (int h = 0; h < 2; ++h) {
          const int column = 32 * j + 16 * part + 8 * h;
          const auto bits = Tile::LoadBits(words + (4 + h) * kWord);
          const auto first = Half(Tile::LoadNarrow(words + 2 * h * kWord), part);
          const auto w = Tile::UpperBits(first, bits, 2 * part);
#define HYK_STEP(u) \
  if constexpr (Units(MR) > u) sum##u = Tile::DotNarrow(sum##u, w, NarrowX<MR>(x, column, u));
          HYK_EACH(HYK_STEP)
#undef HYK_STEP
          if constexpr (Tile::kStepWords == 1) {
            const auto second = Half(Tile::LoadNarrow(words + (2 * h + 1) * kWord), part);
            const auto more_w = Tile::UpperBits(second, bits, 2 * part + 1);
#define HYK_STEP(u)            \
  if constexpr (Units(MR) > u) \
    sum##u = Tile::DotNarrow(sum##u, more_w, NarrowX<MR>(x, column + 4, u));
            HYK_EACH(HYK_STEP)
#undef HYK_STEP
          }
          if (!Tile::kShortSums && h == 0) continue;
#define HYK_STEP(u)                                       \
  if constexpr (Units(MR) > u) {                          \
    total##u = Tile::FoldScaled(total##u, sum##u, scale); \
    sum##u = Tile::ZeroSums();                            \
  }
          HYK_EACH(HYK_STEP)
#undef HYK_STEP
        }
      }
    }
    for (int j = 0; j < 16; ++j) {
      const auto sub = Tile::LoadSigned8(subs + j * kTileRows + r);
      const float* of_16 = Floats(x_sums) + j * StoredRows(MR);
#define HYK_STEP(m) \
  if constexpr (MR > m) more##m = Tile::Fma(sub, Tile::SplatF32(of_16 + m), more##m);
      HYK_EACH(HYK_STEP)
#undef HYK_STEP
    }
    const auto scale = Tile::LoadHalf(scales + 2 * r);
#define HYK_STEP(m, h)                                                        \
  if constexpr (MR > m) {                                                     \
    const auto off = Tile::ToI32(Tile::Mul(more##m, Tile::SplatF32(&added))); \
    const auto row = Tile::SubI32(RowOf(total##m, total##h, m), off);         \
    const auto scaled = Tile::Mul(Tile::ToF32(row), scale);                   \
    auto out = Tile::LoadF32(acc + m * kTileRows + r);                        \
    out = Tile::Fma(scaled, Tile::SplatF32(Floats(x_scale) + m), out);        \
    Tile::StoreF32(out, acc + m * kTileRows + r);                             \
  }
    HYK_EACH_ROW(HYK_STEP)
#undef HYK_STEP
  }
}

}  // namespace

#endif  // HALYARD_OPS_MATMUL_PACKED_BLOCKS_256_H_
