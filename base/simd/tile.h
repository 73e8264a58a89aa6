// SPDX-License-Identifier: Apache-2.0
//
// The primitives that packed kernels are written in (ops/matmul/packed.h). An ISA's header defines a
// struct Tile with them; a chip that fills one in gets every packed kernel.
//
// A tile is 16 rows of weights: lane r of its vectors belongs to row r. Where a vector unit is scalable
// or narrow, a Tile may cover fewer rows (Tile::Rows(), a divisor of 16 or more than 16, whose lanes from
// 16 on are idle); kernels then walk over the 16 rows, with all addresses advanced.
//
// A step multiplies kStepWords words, which is 4 codes of each row for each word, by as many codes of a
// unit of kUnitRows rows of x. Integers are exact: no primitive saturates for operands as said here.
//
//   constexpr int kRowsOfX, kFloatRowsOfX  rows of x that share one load of weights, 1..8, whole units
//   constexpr int kUnitRows, kStepWords    1 or 2
//   constexpr int kWideBytes               bytes of one row's codes in a step, as StoreWideX writes them
//   constexpr int kWideBias                128 if codes of 8 bits are multiplied as stored, 128 added; 0 if
//                                          LoadWide takes that off. Not 0 only where kUnitRows is 1
//   constexpr bool kShortSums              Sums have 16 bits: to be folded after 32 columns of nibbles, or
//                                          8 of 6-bit codes
//   int Rows()
//
// Types of registers: I32 and F32 of rows; Wide, codes of 8 bits; Narrow, codes of up to 6 bits, not
// negative; WideSums, Sums, Totals: sums for a unit; Scale: a sub-scale of each row.
//
//   Wide     LoadWide(const uint8_t*)        a step of weights
//   WideSums DotWide(WideSums, Wide, x), ZeroWideSums()
//   void     StoreWideX(codes, x, bytes)     32 codes of one row of x, step by step, `bytes` apart
//   Narrow   LoadNarrow(const uint8_t*)      a step of words as they are; LowHalf, HighHalf: nibbles
//   Narrow   LoadBits(const uint8_t*)        a word of upper bits, for the two words it belongs to
//   Narrow   UpperBits(Narrow, Narrow bits, int place)               + 16 * (bits of place 0..3)
//   Sums     DotNarrow(Sums, Narrow, x), ZeroSums()
//   Totals   Fold(Sums); FoldScaled(Totals, Sums, Scale): + sums * scale; ZeroTotals()
//   I32      RowSums(Totals or WideSums, int)                        of one row of the unit
//   Scale    LoadScale(const uint8_t*), LoadSignedScale(const int8_t*)
//   I32      SplatI32(const int32_t*), AddI32, SubI32, LoadI32, StoreI32 (16 rows)
//   F32      ZeroF32(), SplatF32(const float*), LoadF32, StoreF32 (16 rows), ToF32(I32), ToI32(F32)
//   F32      LoadHalf(const uint8_t*), LoadUnsigned8, LoadSigned8    f16 or bytes of each row
//   F32      LoadBf16Even(const uint8_t*), LoadBf16Odd               of a word of pairs
//   F32      Mul(a, b), Fma(a, b, c) = a * b + c, Fnma(a, b, c) = c - a * b, each rounded once
#ifndef HALYARD_BASE_SIMD_TILE_H_
#define HALYARD_BASE_SIMD_TILE_H_

#define HYK_INLINE static inline __attribute__((always_inline))
#define HYK_APART static __attribute__((noinline))
/// Makes the compiler forget where a pointer points, so that it does not carry what lies there in
/// registers from one turn of a loop to the next, where those are needed for more.
#define HYK_FORGET(pointer) __asm__("" : "+r"(pointer))

#endif  // HALYARD_BASE_SIMD_TILE_H_
