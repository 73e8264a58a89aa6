// SPDX-License-Identifier: Apache-2.0
//
// Kernels over packed weights, for any Tile (base/simd/tile.h), which an ISA's source includes before.
//
// Phase 0 stores x in scratch (packed_inputs.h). Phase 1 shares out items: some tiles of 16 columns of
// y times some rows. An item walks along K in steps, so that the piece of weights that it multiplies
// with all its rows stays in the first cache, and the piece of x that it multiplies with all its tiles
// in the second; a few rows take whole tiles at once, as they lie in memory. Which worker takes which
// item, and how items are cut, changes no result.
#ifndef HALYARD_OPS_MATMUL_PACKED_H_
#define HALYARD_OPS_MATMUL_PACKED_H_

#include "ops/kernel_table.h"
#include "ops/matmul/contract.h"
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

// Sizes of one product.
struct Sizes {
  int64_t batches;
  int64_t rows;       // of x, of each batch
  int64_t columns;    // of y
  int64_t cols;       // K
  int64_t blocks;     // of weights, along K
  int64_t parts;      // of x, along K
  int64_t row_bytes;  // of stored x
  int64_t tiles;      // of weights
  int64_t tile_bytes;
  int64_t scales;          // offset of them in a tile
  int64_t weights_stride;  // bytes between the weights of batches
};

template <typename F>
Sizes SizesOf(const hy_matmul_args* args) {
  const hyk_packed_form form = F::Form();
  Sizes s;
  s.batches = args->x.rank == 3 ? args->x.shape[0] : 1;
  s.rows = args->x.shape[args->x.rank - 2];
  s.columns = hy_tensor_cols(&args->y);
  s.cols = hy_tensor_cols(&args->x);
  s.blocks = hyk_packed_blocks(&form, s.cols);
  s.parts = s.blocks * (form.block / F::kPart);
  s.row_bytes = s.parts * F::kPartBytes + F::kTrailerBytes;
  s.tiles = hyk_packed_tiles(s.columns);
  s.tile_bytes = hyk_packed_tile_bytes(&form, s.cols);
  s.scales = hyk_packed_scales(&form, s.cols);
  const bool own = args->w.rank == 3 && args->w.shape[0] > 1;
  s.weights_stride = own ? s.tiles * s.tile_bytes : 0;
  return s;
}

// How phase 1 is cut.
struct Cut {
  int64_t rows;    // of x in an item, whole groups
  int64_t blocks;  // of K in a step
  int64_t tiles;   // of weights in an item
};

template <typename F>
Cut CutOf(const Sizes& s, const hy_kernel_context* context) {
  const int64_t* params = context->params;
  const int64_t block = F::Form().block;
  Cut cut;
  cut.rows = Least(params[kParamRows], Quotient(s.rows, F::kRowsOfX) * F::kRowsOfX);
  cut.blocks = s.rows <= F::kRowsOfX ? s.blocks : Most(1, params[kParamDepth] / block);
  cut.tiles = params[kParamTiles];
  if (cut.tiles == 0) {
    const int64_t wanted = s.rows <= F::kRowsOfX ? kFewestItemBytes / s.tile_bytes : 4;
    const int64_t fair = s.tiles * s.batches / (4 * static_cast<int64_t>(context->count));
    cut.tiles = Most(1, Least(Least(wanted, fair), kMostTiles));
  }
  return cut;
}

inline int64_t StoredBytes(const Sizes& s) {
  return static_cast<int64_t>(
      hy_round_up(static_cast<uint64_t>(s.batches * s.rows * s.row_bytes), 64));
}

// Accumulators of one worker, for any legal cut.
template <typename F>
int64_t AccumulatorBytes(const Sizes& s) {
  const int64_t rows = Least(kRowsParam[4], Quotient(s.rows, F::kRowsOfX) * F::kRowsOfX);
  return kMostTiles * rows * F::kSums * kTileRows * 4;
}

template <typename F>
uint64_t PackedScratch(const void* raw, uint32_t workers) {
  const Sizes s = SizesOf<F>(static_cast<const hy_matmul_args*>(raw));
  return static_cast<uint64_t>(StoredBytes(s) +
                               static_cast<int64_t>(workers) * AccumulatorBytes<F>(s));
}

// Rows of a group that begins with `row`.
template <typename F>
int GroupRows(const Sizes& s, int64_t row) {
  return static_cast<int>(Least(F::kRowsOfX, s.rows - row));
}

template <typename F>
void StoreInputs(const hy_matmul_args* args, const Sizes& s, const hy_kernel_context* context) {
  uint8_t* stored = static_cast<uint8_t*>(context->scratch);
  const int64_t groups = Quotient(s.rows, F::kRowsOfX);
  // Long single rows are shared out in pieces, too.
  const int64_t piece = kPartsAreApart<F> ? Most(1, 1024 / F::kPart) : Most(1, s.parts);
  const int64_t pieces = Quotient(s.parts, piece);
  int64_t begin;
  int64_t end;
  while (hy_claim(context, s.batches * groups * pieces, 1, &begin, &end) != 0) {
    const int64_t row = begin / pieces % groups * F::kRowsOfX;
    const int64_t first = begin / pieces / groups * s.rows + row;
    const int64_t part = begin % pieces * piece;
    Place place = {stored + first * s.row_bytes, 0, GroupRows<F>(s, row)};
    for (; place.m < place.mr; ++place.m) {
      const InputRow input = {hy_tensor_row(&args->x, first + place.m), args->x.type, s.cols};
      PutInput<F>(input, part, Least(s.parts, part + piece), place);
    }
  }
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

// What an item is made of.
struct Item {
  int64_t row;  // the first, within the batch
  int64_t rows;
  int64_t tile;
  int64_t tiles;
  const uint8_t* weights;  // of its batch
  const uint8_t* x;        // of its batch
  float* acc;              // [tiles][rows, up to whole groups][kSums][16]
};

template <typename F>
void Multiply(const Sizes& s, const Cut& cut, const Item& item) {
  const hyk_packed_form form = F::Form();
  const int64_t parts_of_block = form.block / F::kPart;
  const int64_t tile_acc = cut.rows * F::kSums * kTileRows;
  memset(item.acc, 0, static_cast<size_t>(item.tiles * tile_acc) * sizeof(float));
  for (int64_t b = 0; b < s.blocks; b += cut.blocks) {
    const int64_t blocks = Least(cut.blocks, s.blocks - b);
    for (int64_t t = 0; t < item.tiles; ++t) {
      const uint8_t* tile = item.weights + (item.tile + t) * s.tile_bytes;
      for (int64_t r = 0; r < item.rows; r += F::kRowsOfX) {
        const int rows = GroupRows<F>(s, item.row + r);
        CallPanel<F>(
            rows, tile + b * form.code_bytes, tile + s.scales + b * form.scale_bytes,
            item.x + (item.row + r) * s.row_bytes + b * parts_of_block * rows * F::kPartBytes,
            blocks, item.acc + t * tile_acc + r * F::kSums * kTileRows);
      }
    }
  }
}

// Sums of one row of x and one tile as floats. `trailer` is that of its group, `m` its place there.
template <typename F>
void Finish(const float* acc, const uint8_t* scales, const uint8_t* trailer, int m, int mr,
            float* out) {
  if constexpr (F::kTrailerBytes != 0) {
    const int32_t* sums = static_cast<const int32_t*>(static_cast<const void*>(acc));
    const float x_scale = Floats(trailer)[m];
    const int32_t zero = Ints(trailer)[mr + m];
    const int32_t off = Ints(trailer)[2 * mr + m];
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
void StoreOutputs(const hy_matmul_args* args, const Sizes& s, const Cut& cut, const Item& item,
                  int64_t batch) {
  const float* bias =
      hy_tensor_present(&args->bias) ? static_cast<const float*>(args->bias.data) : nullptr;
  for (int64_t r = 0; r < item.rows; ++r) {
    const int64_t group = (item.row + r) / F::kRowsOfX * F::kRowsOfX;
    const int mr = GroupRows<F>(s, group);
    const uint8_t* trailer = item.x + group * s.row_bytes + s.parts * F::kPartBytes * mr;
    void* y = hy_tensor_row(&args->y, batch * s.rows + item.row + r);
    for (int64_t t = 0; t < item.tiles; ++t) {
      const int64_t column = (item.tile + t) * kTileRows;
      const int64_t count = Least(kTileRows, s.columns - column);
      float out[kTileRows];
      Finish<F>(item.acc + (t * cut.rows + r) * F::kSums * kTileRows,
                item.weights + (item.tile + t) * s.tile_bytes + s.scales, trailer,
                static_cast<int>(item.row + r - group), mr, out);
      for (int64_t i = 0; i < count && bias != nullptr; ++i) out[i] += bias[column + i];
      hyk_store_f32(args->y.type, y, column, count, out);
    }
  }
}

template <typename F>
void ShareOut(const hy_matmul_args* args, const Sizes& s, const hy_kernel_context* context) {
  const Cut cut = CutOf<F>(s, context);
  const int64_t row_items = Quotient(s.rows, cut.rows);
  const int64_t tile_items = Quotient(s.tiles, cut.tiles);
  uint8_t* scratch = static_cast<uint8_t*>(context->scratch);
  Item item;
  item.acc = static_cast<float*>(static_cast<void*>(
      scratch + StoredBytes(s) + static_cast<int64_t>(context->index) * AccumulatorBytes<F>(s)));
  int64_t begin;
  int64_t end;
  while (hy_claim(context, s.batches * tile_items * row_items, 1, &begin, &end) != 0) {
    const int64_t batch = begin / row_items / tile_items;
    item.row = begin % row_items * cut.rows;
    item.rows = Least(cut.rows, s.rows - item.row);
    item.tile = begin / row_items % tile_items * cut.tiles;
    item.tiles = Least(cut.tiles, s.tiles - item.tile);
    item.weights = static_cast<const uint8_t*>(args->w.data) + batch * s.weights_stride;
    item.x = scratch + batch * s.rows * s.row_bytes;
    Multiply<F>(s, cut, item);
    StoreOutputs<F>(args, s, cut, item, batch);
  }
}

template <typename F>
hy_status PackedRun(const void* raw, const hy_kernel_context* context) {
  const hy_matmul_args* args = static_cast<const hy_matmul_args*>(raw);
  const Sizes s = SizesOf<F>(args);
  if (s.batches == 0 || s.rows == 0 || s.columns == 0) return HY_OK;
  if (context->phase == 0) {
    StoreInputs<F>(args, s, context);
  } else {
    ShareOut<F>(args, s, context);
  }
  return HY_OK;
}

template <typename F>
int PackedSupports(const void* raw, const hy_kernel_target* target, hy_why* why) {
  const hy_matmul_args* args = static_cast<const hy_matmul_args*>(raw);
  const int64_t cols = hy_tensor_cols(&args->x);
  (void)target;
  if (!hy_type_is_float(args->x.type) && args->x.type != F::kA8)
    return hy_refuse(why, "x is quantised in another way than this kernel computes in");
  if (cols == 0) return hy_refuse(why, "there are no columns to sum");
  if (cols % F::kPart != 0 && kPartsAreApart<F> && F::kA8 != HY_TYPE_NONE)
    return hy_refuse(why, "the columns of x are not whole blocks");
  if (F::kTrailerBytes != 0 && cols > 65536)
    return hy_refuse(why, "rows of more than 65536 columns could overflow its 32-bit sums");
  return 1;
}

/// Row of a format's kernel; types_text as in ids: "any.q8_0.any".
#define HYK_PACKED_KERNEL(format, types_text, variant, rank)                                     \
  {                                                                                              \
    .struct_size = sizeof(hy_kernel_desc), .contract_version = HY_MATMUL_VERSION,                \
    .id = "matmul/" types_text "/" HALYARD_LEVEL_NAME "_" variant "@halyard", .op = "matmul",    \
    .types = {HY_TYPE_NONE, format::kType, HY_TYPE_NONE}, .isa = HALYARD_LEVEL_ISA,              \
    .activation = format::kActivation, .accumulator = format::kAccumulator,                      \
    .priority = HY_PRIORITY_ISA + HALYARD_LEVEL_RANK + (rank), .layout = format::kLayout,        \
    .phases = 2, .param_count = 3, .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT, \
    .params = kPackedParams, .supports = PackedSupports<format>,                                 \
    .scratch_bytes = PackedScratch<format>, .run = PackedRun<format>,                            \
  }

const hy_kernel_desc kPackedQ8_0 = HYK_PACKED_KERNEL(FormatQ8_0, "any.q8_0.any", "r16", 0);
const hy_kernel_desc kPackedQ4_0 = HYK_PACKED_KERNEL(FormatQ4_0, "any.q4_0.any", "r16", 0);
const hy_kernel_desc kPackedQ4_1 = HYK_PACKED_KERNEL(FormatQ4_1, "any.q4_1.any", "r16", 0);
const hy_kernel_desc kPackedQ4_K = HYK_PACKED_KERNEL(FormatQ4_K, "any.q4_k.any", "r16", 0);
const hy_kernel_desc kPackedQ6_K = HYK_PACKED_KERNEL(FormatQ6_K, "any.q6_k.any", "r16", 0);
const hy_kernel_desc kPackedW4A8 = HYK_PACKED_KERNEL(FormatW4A8, "any.w4a8_g128.any", "r16", 0);
const hy_kernel_desc kPackedW8A8 =
    HYK_PACKED_KERNEL(FormatW8A8<false>, "any.w8a8.any", "r16_sym", 1);
const hy_kernel_desc kPackedW8A8Asym =
    HYK_PACKED_KERNEL(FormatW8A8<true>, "any.w8a8.any", "r16_asym", 0);
const hy_kernel_desc kPackedBf16 = HYK_PACKED_KERNEL(FormatBf16, "any.bf16.any", "r16", 0);

}  // namespace

#define HYK_PACKED_TABLE                                                              \
  &kPackedQ8_0, &kPackedQ4_0, &kPackedQ4_1, &kPackedQ4_K, &kPackedQ6_K, &kPackedW4A8, \
      &kPackedW8A8, &kPackedW8A8Asym, &kPackedBf16

#endif  // HALYARD_OPS_MATMUL_PACKED_H_
