// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/shape_builder.h"

#include "ops/data/pack_weights.h"

namespace halyard::conformance {

ShapeBuilder::ShapeBuilder(const ops::Case* c, const hy_layout_desc* layout)
    : CaseBuilder(c), layout_(layout) {
  const absl::StatusOr<ops::Lay> lay = ops::ParseLay(c->lay);
  status_ = lay.status();
  if (lay.ok()) lay_ = *lay;
}

hy_tensor ShapeBuilder::Weights(absl::string_view, uint32_t type, absl::Span<const int64_t> shape,
                                absl::string_view) {
  const hy_tensor tensor = ops::PlaceTensor(type, shape, lay_);
  if (layout_ == nullptr || !ops::CanPack(*layout_, tensor)) return tensor;
  return ops::PackedView(*layout_, tensor, nullptr);
}

}  // namespace halyard::conformance
