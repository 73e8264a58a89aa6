// SPDX-License-Identifier: Apache-2.0
//
// The second phase of packed kernels: some rows of stored x times some tiles of packed weights. Walks
// along K in steps, so that the piece of weights that is multiplied by all the rows stays in the first
// cache, and the piece of x that is multiplied by all the tiles in the second; a few rows take whole
// tiles at once, as they lie in memory. How work is cut changes no result.
#ifndef HALYARD_OPS_MATMUL_PACKED_CORE_H_
#define HALYARD_OPS_MATMUL_PACKED_CORE_H_

#include "ops/matmul/packed_inputs.h"

namespace {

constexpr int64_t kRowsParam[] = {64, 16, 32, 128, 256};
constexpr int64_t kDepthParam[] = {1024, 256, 512, 2048, 4096};
constexpr int64_t kTilesParam[] = {0, 1, 2, 4, 8};  // 0: by size
constexpr int64_t kMostTiles = 8;
constexpr int64_t kFewestItemBytes = 65536;  // of weights, for few rows

const hy_tuning_param kPackedParams[] = {
    {"rows", kRowsParam, sizeof kRowsParam / sizeof kRowsParam[0], 0},
    {"depth", kDepthParam, sizeof kDepthParam / sizeof kDepthParam[0], 0},
    {"tiles", kTilesParam, sizeof kTilesParam / sizeof kTilesParam[0], 0},
};
enum { kParamRows = 0, kParamDepth, kParamTiles };

inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t Most(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t Quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Sizes of one matrix of weights, and of a row of x for it.
struct Sizes {
  int64_t columns;    // of y
  int64_t cols;       // K
  int64_t blocks;     // of weights, along K
  int64_t parts;      // of x, along K
  int64_t row_bytes;  // of stored x
  int64_t tiles;
  int64_t tile_bytes;
  int64_t scales;  // offset of them in a tile
};

template <typename F>
Sizes SizesOf(int64_t columns, int64_t cols) {
  const hyk_packed_form form = F::Form();
  Sizes s;
  s.columns = columns;
  s.cols = cols;
  s.blocks = hyk_packed_blocks(&form, cols);
  s.parts = s.blocks * (form.block / F::kPart);
  s.row_bytes = s.parts * F::kPartBytes + F::kTrailerBytes;
  s.tiles = hyk_packed_tiles(columns);
  s.tile_bytes = hyk_packed_tile_bytes(&form, cols);
  s.scales = hyk_packed_scales(&form, cols);
  return s;
}

// How work is cut.
struct Cut {
  int64_t rows;    // of x in an item, whole groups
  int64_t blocks;  // of K in a step
  int64_t tiles;   // of weights in an item
};

// For lots of up to `rows` rows each; `lots` of them at most.
template <typename F>
Cut CutOf(const Sizes& s, int64_t rows, int64_t lots, const hy_kernel_context* context) {
  const int64_t* params = context->params;
  const int64_t block = F::Form().block;
  Cut cut;
  cut.rows = Least(params[kParamRows], Quotient(rows, F::kRowsOfX) * F::kRowsOfX);
  cut.blocks = rows <= F::kRowsOfX ? s.blocks : Most(1, params[kParamDepth] / block);
  cut.tiles = params[kParamTiles];
  if (cut.tiles == 0) {
    const int64_t wanted = rows <= F::kRowsOfX ? kFewestItemBytes / s.tile_bytes : 4;
    const int64_t fair = s.tiles * lots / (4 * static_cast<int64_t>(context->count));
    cut.tiles = Most(1, Least(Least(wanted, fair), kMostTiles));
  }
  return cut;
}

// Accumulators of one worker, for any legal cut.
template <typename F>
int64_t AccumulatorBytes(int64_t rows) {
  const int64_t most = Least(kRowsParam[4], Quotient(rows, F::kRowsOfX) * F::kRowsOfX);
  return kMostTiles * most * F::kSums * kTileRows * 4;
}

// Rows of x that share weights, at most Cut::rows, and where they go.
struct Lot {
  const uint8_t* x;  // stored
  const uint8_t* weights;
  int64_t rows;
  int64_t first_row;       // of y
  const int32_t* row_ids;  // of y, if they do not follow each other; else NULL
};

template <typename F>
int GroupRows(int64_t rows, int64_t row) {
  return static_cast<int>(Least(F::kRowsOfX, rows - row));
}

template <typename F>
void CallPanel(int rows, const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
               int64_t blocks, float* acc) {
#define HYK_STEP(m)                                            \
  if constexpr (F::kRowsOfX > m) {                             \
    if (rows == m + 1) {                                       \
      F::template Panel<m + 1>(codes, scales, x, blocks, acc); \
      return;                                                  \
    }                                                          \
  }
  HYK_EACH(HYK_STEP)
#undef HYK_STEP
}

// Tiles [first, first + tiles) times all rows of the lot; acc is [tiles][cut.rows][kSums][16].
template <typename F>
void Multiply(const Sizes& s, const Cut& cut, const Lot& lot, int64_t first, int64_t tiles,
              float* acc) {
  const hyk_packed_form form = F::Form();
  const int64_t parts_of_block = form.block / F::kPart;
  const int64_t tile_acc = cut.rows * F::kSums * kTileRows;
  memset(acc, 0, static_cast<size_t>(tiles * tile_acc) * sizeof(float));
  for (int64_t b = 0; b < s.blocks; b += cut.blocks) {
    const int64_t blocks = Least(cut.blocks, s.blocks - b);
    for (int64_t t = 0; t < tiles; ++t) {
      const uint8_t* tile = lot.weights + (first + t) * s.tile_bytes;
      for (int64_t r = 0; r < lot.rows; r += F::kRowsOfX) {
        const int rows = GroupRows<F>(lot.rows, r);
        const int64_t part_bytes = StoredRows(rows) * F::kPartBytes;
        CallPanel<F>(rows, tile + b * form.code_bytes, tile + s.scales + b * form.scale_bytes,
                     lot.x + r * s.row_bytes + b * parts_of_block * part_bytes, blocks,
                     acc + t * tile_acc + r * F::kSums * kTileRows);
      }
    }
  }
}

// Sums of one row of x and one tile as floats. `trailer` is that of its group of `rows` stored rows,
// `m` its place there.
template <typename F>
void Finish(const float* acc, const uint8_t* scales, const uint8_t* trailer, int m, int rows,
            float* out) {
  if constexpr (F::kTrailerBytes != 0) {
    const int32_t* sums = static_cast<const int32_t*>(static_cast<const void*>(acc));
    const float x_scale = Floats(trailer)[m];
    const int32_t zero = Ints(trailer)[rows + m];
    const int32_t off = Ints(trailer)[2 * rows + m];
    for (int r = 0; r < kTileRows; ++r) {
      // Unsigned, since parts of the sum may wrap where the whole does not.
      const uint32_t sum =
          static_cast<uint32_t>(sums[r]) + static_cast<uint32_t>(off) -
          static_cast<uint32_t>(zero) * static_cast<uint32_t>(Ints(scales + 4 * kTileRows)[r]);
      out[r] = static_cast<float>(static_cast<int32_t>(sum)) * Floats(scales)[r] * x_scale;
    }
  } else if constexpr (F::kSums == 2) {
    for (int r = 0; r < kTileRows; ++r) out[r] = acc[r] + acc[kTileRows + r];
  } else {
    memcpy(out, acc, kTileRows * sizeof(float));
  }
}

template <typename F>
void StoreOutputs(const Sizes& s, const Cut& cut, const Lot& lot, int64_t first, int64_t tiles,
                  const float* acc, const float* bias, const hy_tensor* y) {
  for (int64_t r = 0; r < lot.rows; ++r) {
    const int64_t group = r / F::kRowsOfX * F::kRowsOfX;
    const int rows = StoredRows(GroupRows<F>(lot.rows, group));
    const uint8_t* trailer = lot.x + group * s.row_bytes + s.parts * F::kPartBytes * rows;
    void* at = hy_tensor_row(y, lot.row_ids == nullptr ? lot.first_row + r : lot.row_ids[r]);
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t column = (first + t) * kTileRows;
      const int64_t count = Least(kTileRows, s.columns - column);
      float out[kTileRows];
      Finish<F>(acc + (t * cut.rows + r) * F::kSums * kTileRows,
                lot.weights + (first + t) * s.tile_bytes + s.scales, trailer,
                static_cast<int>(r - group), rows, out);
      for (int64_t i = 0; i < count && bias != nullptr; ++i) out[i] += bias[column + i];
      hyk_store_f32(y->type, at, column, count, out);
    }
  }
}

// Whether a format's kernel can read x of this type, and rows of so many columns.
template <typename F>
int TakesInput(const hy_tensor* x, hy_why* why) {
  const int64_t cols = hy_tensor_cols(x);
  if (!hy_type_is_float(x->type) && x->type != F::kA8)
    return hy_refuse(why, "x is quantised in another way than this kernel computes in");
  if (cols == 0) return hy_refuse(why, "there are no columns to sum");
  if (cols % F::kPart != 0 && kPartsAreApart<F> && F::kA8 != HY_TYPE_NONE)
    return hy_refuse(why, "the columns of x are not whole blocks");
  if (F::kTrailerBytes != 0 && cols > 65536)
    return hy_refuse(why, "rows of more than 65536 columns could overflow its 32-bit sums");
  return 1;
}

}  // namespace

#endif  // HALYARD_OPS_MATMUL_PACKED_CORE_H_
