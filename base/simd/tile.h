// SPDX-License-Identifier: Apache-2.0
//
// The primitives that packed kernels are written in (ops/matmul/packed.h). An ISA's header defines a
// struct Tile with them; a chip that fills one in gets every packed kernel.
//
// A tile is 16 rows of weights: lane r of each of its vectors belongs to row r. Where a vector unit is
// scalable or narrow, a Tile may cover fewer rows (Tile::Rows(), a divisor of 16 or more than 16, whose
// lanes from 16 on are idle); kernels then walk over the 16 rows, with all addresses advanced.
//
// Integers are exact: no primitive saturates for the operands that its comment allows.
//
//   static constexpr int kRowsOfX        rows of x that share one load of weights, 1..8
//   static constexpr int kFloatRowsOfX   the same for float weights, 1..8
//   static constexpr int kWideBytes      bytes of four codes of x as DotWide takes them
//   static constexpr int kWideBias       128 if codes of 8 bits are used as stored, with 128 added; 0 if
//                                        LoadWide takes that off
//   static constexpr bool kShortSums     DotNarrow sums in 16 bits: after 8 steps of nibbles, or 2 of
//                                        6-bit codes, sums must be folded
//   static int Rows()
//
//   I32, F32, Wide, Narrow, Sums, Scale  types of registers: 32-bit integers, floats, codes of 8 bits,
//                                        codes of up to 6 bits, sums of products of those, sub-scales
//
//   Wide   LoadWide(const uint8_t*)      4 codes a row from a word
//   I32    DotWide(I32, Wide, x)         + sum of 4 products; x: kWideBytes, as StoreWideX wrote them
//   void   StoreWideX(codes, x, step)    32 codes of one row of x to 8 places, `step` bytes apart
//   Narrow LoadNarrow(const uint8_t*)    a word as it is
//   Narrow LowHalf(Narrow), HighHalf(Narrow)                         nibbles
//   Narrow UpperBits(Narrow low, Narrow word, int place)             low + 16 * (bits of place 0..3)
//   Sums   ZeroSums(); Sums DotNarrow(Sums, Narrow, x)               x: 4 codes
//   I32    Fold(Sums); I32 FoldScaled(I32, Sums, Scale)              sums; + sums * scale
//   Scale  LoadScale(const uint8_t*), LoadSignedScale(const int8_t*) a sub-scale of each row
//   I32    ZeroI32(), SplatI32(const int32_t*), AddI32, SubI32, LoadI32, StoreI32 (16 aligned)
//   F32    ZeroF32(), SplatF32(const float*), LoadF32, StoreF32 (16 aligned), ToF32(I32), ToI32(F32)
//   F32    LoadHalf(const uint8_t*), LoadUnsigned8, LoadSigned8      f16 or bytes of each row
//   F32    LoadBf16Even(const uint8_t*), LoadBf16Odd                 of a word of pairs
//   F32    Mul(a, b), Fma(a, b, c) = a * b + c, Fnma(a, b, c) = c - a * b, each rounded once
//   void   Prefetch(const void*)
#ifndef HALYARD_BASE_SIMD_TILE_H_
#define HALYARD_BASE_SIMD_TILE_H_

#define HYK_INLINE static inline __attribute__((always_inline))
#define HYK_APART static __attribute__((noinline))
/// Makes the compiler forget where a pointer points, so that it does not carry what lies there in
/// registers from one turn of a loop to the next, where those are needed for more.
#define HYK_FORGET(pointer) __asm__("" : "+r"(pointer))

#endif  // HALYARD_BASE_SIMD_TILE_H_
