// SPDX-License-Identifier: Apache-2.0
//
// Tensors of a case in ordinary memory: for unit tests, bench and tuner. Conformance has guarded
// memory of its own, filled the same way.
#ifndef HALYARD_OPS_DATA_PLAIN_BUILDER_H_
#define HALYARD_OPS_DATA_PLAIN_BUILDER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/case.h"
#include "ops/data/distribution.h"
#include "ops/data/layout.h"

namespace halyard::ops {

class PlainBuilder : public CaseBuilder {
 public:
  /// `layout`: what the kernel wants of weights where the case says packed; NULL: canonical.
  /// Both are borrowed for the life of the builder.
  explicit PlainBuilder(const Case* c, const hy_layout_desc* layout = nullptr);
  ~PlainBuilder() override;

  hy_tensor Input(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                  absl::string_view dist = "") override;
  hy_tensor Weights(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                    absl::string_view dist = "") override;
  hy_tensor Ints(absl::string_view name, absl::Span<const int64_t> shape,
                 absl::Span<const int32_t> values) override;
  hy_tensor Floats(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                   absl::Span<const float> values) override;
  hy_tensor Output(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape) override;
  hy_tensor InOut(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape) override;
  hy_tensor InPlace(absl::string_view name, const hy_tensor& in) override;

  /// The first thing that was wrong: an unknown distribution or lay, no memory. Tensors made after
  /// it have no data. Look at it after OpCases::build.
  const absl::Status& status() const { return status_; }

 private:
  hy_tensor Place(uint32_t type, absl::Span<const int64_t> shape, uint8_t poison);
  hy_tensor Filled(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                   absl::string_view dist, Role role);
  void* Allocate(uint64_t bytes, int64_t offset, uint8_t poison);
  void Fail(const absl::Status& status);

  struct Free {
    void operator()(void* at) const;
  };
  const hy_layout_desc* const layout_;
  Lay lay_;
  std::vector<std::unique_ptr<void, Free>> memory_;
  absl::Status status_;
};

/// Stores given values in a tensor of i32 or of a float type, row after row.
void StoreInts(absl::Span<const int32_t> values, const hy_tensor& tensor);
void StoreFloats(absl::Span<const float> values, const hy_tensor& tensor);

}  // namespace halyard::ops

#endif  // HALYARD_OPS_DATA_PLAIN_BUILDER_H_
