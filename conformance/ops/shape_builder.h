// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_OPS_SHAPE_BUILDER_H_
#define HALYARD_CONFORMANCE_OPS_SHAPE_BUILDER_H_

#include "ops/case.h"
#include "ops/data/layout.h"

namespace halyard::conformance {

/// Tensors of a case without memory, as a plan sees them. The weights of a kernel with a packed layout
/// have it; `layout` may be NULL.
class ShapeBuilder : public ops::CaseBuilder {
 public:
  ShapeBuilder(const ops::Case* c, const hy_layout_desc* layout);

  hy_tensor Input(absl::string_view, uint32_t type, absl::Span<const int64_t> shape,
                  absl::string_view) override {
    return ops::PlaceTensor(type, shape, lay_);
  }
  hy_tensor Weights(absl::string_view, uint32_t type, absl::Span<const int64_t> shape,
                    absl::string_view) override;
  hy_tensor Ints(absl::string_view, absl::Span<const int64_t> shape,
                 absl::Span<const int32_t>) override {
    return ops::PlaceTensor(HY_TYPE_I32, shape, lay_);
  }
  hy_tensor Floats(absl::string_view, uint32_t type, absl::Span<const int64_t> shape,
                   absl::Span<const float>) override {
    return ops::PlaceTensor(type, shape, lay_);
  }
  hy_tensor Output(absl::string_view, uint32_t type, absl::Span<const int64_t> shape) override {
    return ops::PlaceTensor(type, shape, lay_);
  }
  hy_tensor InOut(absl::string_view, uint32_t type, absl::Span<const int64_t> shape) override {
    return ops::PlaceTensor(type, shape, lay_);
  }
  hy_tensor InPlace(absl::string_view, const hy_tensor& in) override { return in; }

  const absl::Status& status() const { return status_; }

 private:
  const hy_layout_desc* const layout_;
  ops::Lay lay_;
  absl::Status status_;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_SHAPE_BUILDER_H_
