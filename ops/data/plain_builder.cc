// SPDX-License-Identifier: Apache-2.0
#include "ops/data/plain_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/quant/format.h"
#include "ops/data/pack_weights.h"

namespace halyard::ops {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint8_t kPoison = 0xff;  // NaN in every float type

}  // namespace

void StoreInts(absl::Span<const int32_t> values, const hy_tensor& tensor) {
  const auto cols = static_cast<size_t>(hy_tensor_cols(&tensor));
  for (size_t i = 0; cols > 0 && i + cols <= values.size(); i += cols) {
    std::memcpy(hy_tensor_row(&tensor, static_cast<int64_t>(i / cols)), &values[i],
                cols * sizeof(int32_t));
  }
}

void StoreFloats(absl::Span<const float> values, const hy_tensor& tensor) {
  const auto cols = static_cast<size_t>(hy_tensor_cols(&tensor));
  for (size_t i = 0; cols > 0 && i + cols <= values.size(); i += cols) {
    quant::EncodeRow(tensor.type, &values[i], static_cast<int64_t>(cols),
                     hy_tensor_row(&tensor, static_cast<int64_t>(i / cols)));
  }
}

void PlainBuilder::Free::operator()(void* at) const { std::free(at); }

PlainBuilder::PlainBuilder(const Case* c, const hy_layout_desc* layout)
    : CaseBuilder(c), layout_(layout) {
  const absl::StatusOr<Lay> lay = ParseLay(c->lay);
  if (lay.ok()) {
    lay_ = *lay;
    lay_.far = false;  // ordinary memory has no room for that
  } else {
    status_ = lay.status();
  }
}

PlainBuilder::~PlainBuilder() = default;

void PlainBuilder::Fail(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

void* PlainBuilder::Allocate(uint64_t bytes, int64_t offset, uint8_t poison) {
  const auto total =
      static_cast<size_t>(hy_round_up(bytes + static_cast<uint64_t>(offset) + 1, kAlignment));
  void* const at = std::aligned_alloc(kAlignment, total);
  if (at == nullptr) {
    Fail(absl::ResourceExhaustedError(absl::StrCat("no memory for ", total, " bytes")));
    return nullptr;
  }
  memory_.emplace_back(at);
  std::memset(at, poison, total);
  return static_cast<unsigned char*>(at) + offset;
}

hy_tensor PlainBuilder::Place(uint32_t type, absl::Span<const int64_t> shape, uint8_t poison) {
  hy_tensor tensor = PlaceTensor(type, shape, lay_);
  if (status_.ok()) tensor.data = Allocate(SpanBytes(tensor), BaseOffset(type, lay_), poison);
  return tensor;
}

hy_tensor PlainBuilder::Filled(absl::string_view name, uint32_t type,
                               absl::Span<const int64_t> shape, absl::string_view dist, Role role) {
  const absl::StatusOr<Dist> parsed = ParseDist(dist.empty() ? the_case().dist : dist);
  if (!parsed.ok()) Fail(parsed.status());
  const hy_tensor tensor = Place(type, shape, 0);
  if (status_.ok()) Fill({*parsed, the_case().seed, std::string(name), role}, tensor);
  return tensor;
}

hy_tensor PlainBuilder::Input(absl::string_view name, uint32_t type,
                              absl::Span<const int64_t> shape, absl::string_view dist) {
  return Filled(name, type, shape, dist, Role::kInput);
}

hy_tensor PlainBuilder::Weights(absl::string_view name, uint32_t type,
                                absl::Span<const int64_t> shape, absl::string_view dist) {
  const hy_tensor tensor = Filled(name, type, shape, dist, Role::kWeights);
  if (!status_.ok() || !lay_.packed || layout_ == nullptr || !CanPack(*layout_, tensor)) {
    return tensor;
  }
  void* const packed = Allocate(PackedBytes(*layout_, tensor), 0, 0);
  if (packed == nullptr) return tensor;
  PackWeights(*layout_, tensor, packed);
  return PackedView(*layout_, tensor, packed);
}

hy_tensor PlainBuilder::Ints(absl::string_view /*name*/, absl::Span<const int64_t> shape,
                             absl::Span<const int32_t> values) {
  const hy_tensor tensor = Place(HY_TYPE_I32, shape, 0);
  if (status_.ok()) StoreInts(values, tensor);
  return tensor;
}

hy_tensor PlainBuilder::Floats(absl::string_view /*name*/, uint32_t type,
                               absl::Span<const int64_t> shape, absl::Span<const float> values) {
  const hy_tensor tensor = Place(type, shape, 0);
  if (status_.ok()) StoreFloats(values, tensor);
  return tensor;
}

hy_tensor PlainBuilder::Output(absl::string_view /*name*/, uint32_t type,
                               absl::Span<const int64_t> shape) {
  return Place(type, shape, kPoison);
}

hy_tensor PlainBuilder::InOut(absl::string_view name, uint32_t type,
                              absl::Span<const int64_t> shape) {
  return Filled(name, type, shape, "", Role::kInput);
}

hy_tensor PlainBuilder::InPlace(absl::string_view /*name*/, const hy_tensor& in) { return in; }

}  // namespace halyard::ops
