// SPDX-License-Identifier: Apache-2.0
#include "ops/data/pack_weights.h"

namespace halyard::ops {
namespace {

// Rows of one matrix, and how many matrices there are.
int64_t MatrixRows(const hy_tensor& t) { return t.rank < 2 ? 1 : t.shape[t.rank - 2]; }
int64_t MatrixCount(const hy_tensor& t) {
  const int64_t rows = MatrixRows(t);
  return rows == 0 ? 0 : hy_tensor_rows(&t) / rows;
}

uint64_t MatrixBytes(const hy_layout_desc& layout, const hy_tensor& t) {
  return hy_round_up(layout.packed_bytes(MatrixRows(t), hy_tensor_cols(&t)), 64);
}

}  // namespace

bool CanPack(const hy_layout_desc& layout, const hy_tensor& weights) {
  if (layout.type != weights.type || weights.rank < 2) return false;
  hy_why why;
  return layout.supports == nullptr ||
         layout.supports(MatrixRows(weights), hy_tensor_cols(&weights), &why) != 0;
}

uint64_t PackedBytes(const hy_layout_desc& layout, const hy_tensor& weights) {
  return static_cast<uint64_t>(MatrixCount(weights)) * MatrixBytes(layout, weights);
}

void PackWeights(const hy_layout_desc& layout, const hy_tensor& weights, void* packed,
                 uint32_t index, uint32_t count) {
  const int64_t rows = MatrixRows(weights);
  const int64_t shape[] = {rows, hy_tensor_cols(&weights)};
  auto* to = static_cast<unsigned char*>(packed);
  for (int64_t m = 0; m < MatrixCount(weights); ++m, to += MatrixBytes(layout, weights)) {
    hy_tensor matrix = hy_tensor_dense(hy_tensor_row(&weights, m * rows), weights.type, 2, shape);
    matrix.stride[0] = weights.stride[weights.rank - 2];
    layout.pack(&matrix, to, index, count);
  }
}

hy_tensor PackedView(const hy_layout_desc& layout, const hy_tensor& weights, void* packed) {
  hy_tensor view = weights;
  view.data = packed;
  view.layout = layout.id;
  return view;
}

}  // namespace halyard::ops
