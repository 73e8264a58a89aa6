// SPDX-License-Identifier: Apache-2.0
//
// Kernels of matmul over packed weights, for any Tile (base/simd/tile.h), which an ISA's source includes
// before. Phase 0 stores x in scratch (packed_inputs.h), phase 1 shares out items: some tiles of 16
// columns of y times some rows (packed_core.h).
#ifndef HALYARD_OPS_MATMUL_PACKED_H_
#define HALYARD_OPS_MATMUL_PACKED_H_

#include "ops/kernel_table.h"
#include "ops/matmul/contract.h"
#include "ops/matmul/packed_core.h"

namespace {

// What a call consists of: batches of as many rows, stored one after another.
struct Batches {
  int64_t count;
  int64_t rows;
  int64_t stored_rows;  // of each batch
  int64_t input_bytes;  // of all, stored
  int64_t weights_stride;
};

template <typename F>
Sizes SizesOf(const hy_matmul_args* args) {
  return SizesOf<F>(hy_tensor_cols(&args->y), hy_tensor_cols(&args->x));
}

Batches BatchesOf(const hy_matmul_args* args, const Sizes& s) {
  Batches b;
  b.count = args->x.rank == 3 ? args->x.shape[0] : 1;
  b.rows = args->x.shape[args->x.rank - 2];
  b.stored_rows = Quotient(b.rows, Tile::kUnitRows) * Tile::kUnitRows;
  b.input_bytes = Quotient(b.count * b.stored_rows * s.row_bytes, 64) * 64;
  const bool own = args->w.rank == 3 && args->w.shape[0] > 1;
  b.weights_stride = own ? s.tiles * s.tile_bytes : 0;
  return b;
}

template <typename F>
uint64_t PackedScratch(const void* raw, uint32_t workers) {
  const hy_matmul_args* args = static_cast<const hy_matmul_args*>(raw);
  const Batches b = BatchesOf(args, SizesOf<F>(args));
  return static_cast<uint64_t>(b.input_bytes +
                               static_cast<int64_t>(workers) * AccumulatorBytes<F>(b.rows));
}

template <typename F>
void StoreInputs(const hy_matmul_args* args, const hy_kernel_context* context) {
  const Sizes s = SizesOf<F>(args);
  const Batches b = BatchesOf(args, s);
  uint8_t* stored = static_cast<uint8_t*>(context->scratch);
  const int64_t groups = Quotient(b.rows, F::kRowsOfX);
  // Long rows are shared out in pieces.
  const int64_t piece = kPartsAreApart<F> ? Most(1, 1024 / F::kPart) : s.parts;
  const int64_t pieces = Quotient(s.parts, piece);
  int64_t item;
  int64_t end;
  while (hy_claim(context, b.count * groups * pieces, 1, &item, &end) != 0) {
    const int64_t batch = item / pieces / groups;
    const int64_t row = item / pieces % groups * F::kRowsOfX;
    const int64_t part = item % pieces * piece;
    const int rows = GroupRows<F>(b.rows, row);
    Place place = {stored + (batch * b.stored_rows + row) * s.row_bytes, 0, StoredRows(rows)};
    for (; place.m < rows; ++place.m) {
      const InputRow input = {hy_tensor_row(&args->x, batch * b.rows + row + place.m), args->x.type,
                              s.cols};
      PutInput<F>(input, part, Least(s.parts, part + piece), place);
    }
  }
}

template <typename F>
void ShareOut(const hy_matmul_args* args, const hy_kernel_context* context) {
  const Sizes s = SizesOf<F>(args);
  const Batches b = BatchesOf(args, s);
  const Cut cut = CutOf<F>(s, b.rows, b.count, context);
  const int64_t row_items = Quotient(b.rows, cut.rows);
  const int64_t tile_items = Quotient(s.tiles, cut.tiles);
  uint8_t* scratch = static_cast<uint8_t*>(context->scratch);
  float* acc = static_cast<float*>(
      static_cast<void*>(scratch + b.input_bytes +
                         static_cast<int64_t>(context->index) * AccumulatorBytes<F>(b.rows)));
  const float* bias =
      hy_tensor_present(&args->bias) ? static_cast<const float*>(args->bias.data) : nullptr;
  int64_t item;
  int64_t end;
  while (hy_claim(context, b.count * tile_items * row_items, 1, &item, &end) != 0) {
    const int64_t batch = item / row_items / tile_items;
    const int64_t row = item % row_items * cut.rows;
    const int64_t tile = item / row_items % tile_items * cut.tiles;
    const int64_t tiles = Least(cut.tiles, s.tiles - tile);
    const Lot lot = {scratch + (batch * b.stored_rows + row) * s.row_bytes,
                     static_cast<const uint8_t*>(args->w.data) + batch * b.weights_stride,
                     Least(cut.rows, b.rows - row), batch * b.rows + row, nullptr};
    Multiply<F>(s, cut, lot, tile, tiles, acc);
    StoreOutputs<F>(s, cut, lot, tile, tiles, acc, bias, &args->y);
  }
}

template <typename F>
hy_status PackedRun(const void* raw, const hy_kernel_context* context) {
  const hy_matmul_args* args = static_cast<const hy_matmul_args*>(raw);
  if (hy_tensor_rows(&args->x) == 0 || hy_tensor_cols(&args->y) == 0) return HY_OK;
  if (context->phase == 0) {
    StoreInputs<F>(args, context);
  } else {
    ShareOut<F>(args, context);
  }
  return HY_OK;
}

template <typename F>
int PackedSupports(const void* raw, const hy_kernel_target* target, hy_why* why) {
  (void)target;
  return TakesInput<F>(&static_cast<const hy_matmul_args*>(raw)->x, why);
}

/// Row of a format's kernel; types_text as in ids: "any.q8_0.any".
#define HYK_PACKED_KERNEL(format, types_text, variant, rank)                                     \
  {                                                                                              \
    .struct_size = sizeof(hy_kernel_desc), .contract_version = HY_MATMUL_VERSION,                \
    .id = "matmul/" types_text "/" HALYARD_LEVEL_NAME "_" variant "@halyard", .op = "matmul",    \
    .types = {HY_TYPE_NONE, format::kType, HY_TYPE_NONE}, .isa = HALYARD_LEVEL_ISA,              \
    .activation = format::kActivation, .accumulator = format::kAccumulator,                      \
    .priority = HY_PRIORITY_ISA + 10 * HALYARD_LEVEL_RANK + (rank), .layout = format::kLayout,   \
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
const hy_kernel_desc kPackedBf16 = HYK_PACKED_KERNEL(FormatBf16, "any.bf16.any", "r16", 0);
const hy_kernel_desc kPackedSym =
    HYK_PACKED_KERNEL(FormatW8A8<false>, "any.w8a8.any", "r16_sym", 1);
const hy_kernel_desc kPackedAsym =
    HYK_PACKED_KERNEL(FormatW8A8<true>, "any.w8a8.any", "r16_asym", 0);

}  // namespace

#define HYK_PACKED_TABLE                                                              \
  &kPackedQ8_0, &kPackedQ4_0, &kPackedQ4_1, &kPackedQ4_K, &kPackedQ6_K, &kPackedW4A8, \
      &kPackedBf16, &kPackedSym, &kPackedAsym

#endif  // HALYARD_OPS_MATMUL_PACKED_H_
