// SPDX-License-Identifier: Apache-2.0
//
// What products of packed blocks have in common: how x lies in memory, and registers for many rows.
//
// x is stored by groups of MR rows, up to Tile::kRowsOfX, filled up to whole units of Tile::kUnitRows.
// Of each part of the columns first the codes: a step (the columns of Tile::kStepWords words) of all
// rows after another; then a float scale for each row, then what the format needs.
//
// Registers that hold one value for each unit of x have names that end in its number, because types of
// scalable vectors cannot be in arrays. HYK_EACH writes a statement for each unit, HYK_EACH_ROW for each
// row m and h = m / 2.
#ifndef HALYARD_OPS_MATMUL_PACKED_REGISTERS_H_
#define HALYARD_OPS_MATMUL_PACKED_REGISTERS_H_

#include <stdint.h>

#include "base/simd/tile.h"
#include "ops/matmul/packed_form.h"

#define HYK_EACH(STEP) STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
#define HYK_EACH_ROW(STEP) \
  STEP(0, 0) STEP(1, 0) STEP(2, 1) STEP(3, 1) STEP(4, 2) STEP(5, 2) STEP(6, 3) STEP(7, 3)
#define HYK_REGISTERS(type, name, value)                                                    \
  type name##0 = value, name##1 = value, name##2 = value, name##3 = value, name##4 = value, \
       name##5 = value, name##6 = value, name##7 = value

namespace {

constexpr int kWord = HYK_WORD_BYTES;
constexpr int kTileRows = HYK_TILE_ROWS;
constexpr int kStepColumns = 4 * Tile::kStepWords;

constexpr int StoredRows(int rows) {
  return (rows + Tile::kUnitRows - 1) / Tile::kUnitRows * Tile::kUnitRows;
}
constexpr int Units(int rows) { return StoredRows(rows) / Tile::kUnitRows; }

HYK_INLINE const float* Floats(const uint8_t* at) {
  return static_cast<const float*>(static_cast<const void*>(at));
}
HYK_INLINE const int32_t* Ints(const uint8_t* at) {
  return static_cast<const int32_t*>(static_cast<const void*>(at));
}

// Codes of unit `unit` in the step that begins with column `column` of a part at `x`.
template <int MR>
HYK_INLINE const uint8_t* NarrowX(const uint8_t* x, int column, int unit) {
  return x + column * StoredRows(MR) + unit * Tile::kUnitRows * kStepColumns;
}
template <int MR>
HYK_INLINE const uint8_t* WideX(const uint8_t* x, int64_t step, int unit) {
  return x + (step * StoredRows(MR) + unit * Tile::kUnitRows) * Tile::kWideBytes;
}

// The sums of row m out of those of its unit: by its number, and by its half.
template <typename Sums>
HYK_INLINE Tile::I32 RowOf(const Sums& by_number, const Sums& by_half, int m) {
  if constexpr (Tile::kUnitRows == 1) {
    return Tile::RowSums(by_number, 0);
  } else {
    return Tile::RowSums(by_half, m % 2);
  }
}

}  // namespace

#endif  // HALYARD_OPS_MATMUL_PACKED_REGISTERS_H_
