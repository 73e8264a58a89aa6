// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/guarded_builder.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "conformance/shard.h"
#include "ops/data/pack_weights.h"
#include "ops/data/plain_builder.h"

namespace halyard::conformance {
namespace {

using ops::BaseOffset;
using ops::SpanBytes;

// Gaps longer than this are looked at only at both ends: the pages between are not backed.
constexpr uint64_t kLongGap = 1 << 16;
constexpr uint64_t kGapEnd = 256;
constexpr int64_t kPackedAlignment = 64;

void WriteGap(unsigned char* at, uint64_t bytes) {
  if (bytes <= kLongGap) return WriteCanary(at, bytes);
  WriteCanary(at, kGapEnd);
  WriteCanary(at + bytes - kGapEnd, kGapEnd);
}

// Offset of a byte that was written; `bytes` if there is none.
uint64_t FindInGap(const unsigned char* at, uint64_t bytes) {
  if (bytes <= kLongGap) return FindLostCanary(at, bytes);
  const uint64_t first = FindLostCanary(at, kGapEnd);
  if (first != kGapEnd) return first;
  return bytes - kGapEnd + FindLostCanary(at + bytes - kGapEnd, kGapEnd);
}

// Calls fn(address, bytes, row) for each gap: before the first row (row 0), between rows, behind the
// last (row: how many there are).
template <typename Fn>
void EachGap(const GuardedRegion& region, const hy_tensor& tensor, uint64_t row_bytes, Fn fn) {
  unsigned char* at = region.base() - region.slack_before();
  unsigned char* const end = region.base() + region.bytes() + region.slack_after();
  const int64_t rows = row_bytes == 0 ? 0 : hy_tensor_rows(&tensor);
  for (int64_t r = 0; r < rows; ++r) {
    auto* const row = static_cast<unsigned char*>(hy_tensor_row(&tensor, r));
    if (row > at) fn(at, static_cast<uint64_t>(row - at), r);
    at = row + row_bytes;
  }
  if (end > at) fn(at, static_cast<uint64_t>(end - at), rows);
}

}  // namespace

GuardedBuilder::GuardedBuilder(const ops::Case* c, GuardSide side, const hy_layout_desc* layout,
                               const GuardedBuilder* twin)
    : CaseBuilder(c), side_(side), layout_(layout), twin_(twin) {
  const absl::StatusOr<ops::Lay> lay = ops::ParseLay(c->lay);
  if (lay.ok()) lay_ = *lay;
  Fail(lay.status());
}

void GuardedBuilder::Fail(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

uint64_t GuardedBuilder::RowBytes(const Block& block) {
  if (block.packed_from >= 0) return 0;
  return hy_type_row_bytes(block.tensor.type, hy_tensor_cols(&block.tensor));
}

GuardedBuilder::Block* GuardedBuilder::Add(absl::string_view name, const hy_tensor& shape,
                                           int64_t offset, uint64_t bytes, int64_t alignment) {
  absl::StatusOr<GuardedRegion> region =
      GuardedRegion::Make(std::string(name), bytes, static_cast<uint64_t>(alignment), side_,
                          static_cast<uint64_t>(offset));
  if (!region.ok()) {
    Fail(region.status());
    return nullptr;
  }
  Block& block = blocks_.emplace_back();
  block.region = *std::move(region);
  block.name = std::string(name);
  block.tensor = shape;
  block.tensor.data = block.region.base();
  return &block;
}

GuardedBuilder::Block* GuardedBuilder::Place(absl::string_view name, uint32_t type,
                                             absl::Span<const int64_t> shape) {
  if (!status_.ok()) return nullptr;
  const hy_tensor tensor = ops::PlaceTensor(type, shape, lay_);
  Block* const block =
      Add(name, tensor, BaseOffset(type, lay_), SpanBytes(tensor), ops::TypeAlignment(type));
  if (block == nullptr) return nullptr;
  const uint64_t row_bytes = SpanBytes(block->tensor) == 0 ? 0 : RowBytes(*block);
  EachGap(block->region, block->tensor, row_bytes,
          [](unsigned char* at, uint64_t bytes, int64_t) { WriteGap(at, bytes); });
  return block;
}

void GuardedBuilder::TakeImage(Block* block) {
  if (block->packed_from >= 0) {
    block->image.assign(block->region.base(), block->region.base() + block->region.bytes());
    return;
  }
  if (SpanBytes(block->tensor) == 0) return;
  const uint64_t row_bytes = RowBytes(*block);
  const int64_t rows = hy_tensor_rows(&block->tensor);
  block->image.resize(static_cast<size_t>(row_bytes * static_cast<uint64_t>(rows)));
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(&block->image[static_cast<size_t>(row_bytes * static_cast<uint64_t>(r))],
                hy_tensor_row(&block->tensor, r), static_cast<size_t>(row_bytes));
  }
}

void GuardedBuilder::PutImage(const Block& block) {
  if (block.image.empty()) return;
  if (block.packed_from >= 0) {
    std::memcpy(block.region.base(), block.image.data(), block.image.size());
    return;
  }
  const uint64_t row_bytes = RowBytes(block);
  for (int64_t r = 0; r < hy_tensor_rows(&block.tensor); ++r) {
    std::memcpy(hy_tensor_row(&block.tensor, r),
                &block.image[static_cast<size_t>(row_bytes * static_cast<uint64_t>(r))],
                static_cast<size_t>(row_bytes));
  }
}

bool GuardedBuilder::CopyFromTwin(Block* block) {
  if (twin_ == nullptr) return false;
  const size_t number = blocks_.size() - 1;
  if (number >= twin_->blocks_.size() || twin_->blocks_[number].name != block->name) return false;
  block->image = twin_->blocks_[number].image;
  PutImage(*block);
  return true;
}

bool GuardedBuilder::CopyWeights(Block* block) {
  if (weights_from_ == nullptr) return false;
  for (const Block& source : weights_from_->blocks_) {
    if (source.name != block->name || source.region.bytes() != block->region.bytes()) continue;
    block->image = source.image;
    PutImage(*block);
    return true;
  }
  return false;
}

hy_tensor GuardedBuilder::Filled(absl::string_view name, uint32_t type,
                                 absl::Span<const int64_t> shape, absl::string_view dist,
                                 ops::Role role) {
  const absl::StatusOr<ops::Dist> parsed = ops::ParseDist(dist.empty() ? the_case().dist : dist);
  Fail(parsed.status());
  Block* const block = Place(name, type, shape);
  if (block == nullptr) return ops::PlaceTensor(type, shape, lay_);
  if (!CopyFromTwin(block) && !(role == ops::Role::kWeights && CopyWeights(block))) {
    if (SpanBytes(block->tensor) != 0) {
      ops::Fill({*parsed, the_case().seed, std::string(name), role}, block->tensor);
    }
    TakeImage(block);
  }
  return block->tensor;
}

hy_tensor GuardedBuilder::Input(absl::string_view name, uint32_t type,
                                absl::Span<const int64_t> shape, absl::string_view dist) {
  return Filled(name, type, shape, dist, ops::Role::kInput);
}

hy_tensor GuardedBuilder::Weights(absl::string_view name, uint32_t type,
                                  absl::Span<const int64_t> shape, absl::string_view dist) {
  const hy_tensor tensor = Filled(name, type, shape, dist, ops::Role::kWeights);
  if (!status_.ok() || layout_ == nullptr || layout_->type != type) return tensor;
  return Packed(tensor, *layout_);
}

hy_tensor GuardedBuilder::Packed(const hy_tensor& weights, const hy_layout_desc& layout) {
  const Block* const canonical = Find(weights.data);
  if (canonical == nullptr) return weights;
  const auto number =
      static_cast<int>(std::find_if(blocks_.begin(), blocks_.end(),
                                    [&](const Block& block) { return &block == canonical; }) -
                       blocks_.begin());
  if (!ops::CanPack(layout, weights)) {
    Fail(absl::UnimplementedError(
        absl::StrCat("layout ", layout.name, " cannot hold ", canonical->name)));
    return weights;
  }
  Block* const block = Add(absl::StrCat(canonical->name, " (packed)"), weights, 0,
                           ops::PackedBytes(layout, weights), kPackedAlignment);
  if (block == nullptr) return weights;
  block->packed_from = number;
  const GuardedRegion& region = block->region;
  WriteGap(region.base() - region.slack_before(), region.slack_before());
  WriteGap(region.base() + region.bytes(), region.slack_after());
  if (!CopyFromTwin(block) && !CopyWeights(block)) {
    std::memset(block->region.base(), kPoisonNan, static_cast<size_t>(block->region.bytes()));
    ops::PackWeights(layout, weights, block->region.base());
    TakeImage(block);
  }
  block->tensor = ops::PackedView(layout, weights, block->region.base());
  return block->tensor;
}

void GuardedBuilder::TakeData(absl::string_view name, const GuardedBuilder& from) {
  for (const Block& source : from.blocks_) {
    if (source.name != name || source.image.empty()) continue;
    for (Block& block : blocks_) {
      if (block.name != name || block.image.size() != source.image.size()) continue;
      block.image = source.image;
      PutImage(block);
    }
  }
}

hy_tensor GuardedBuilder::Ints(absl::string_view name, absl::Span<const int64_t> shape,
                               absl::Span<const int32_t> values) {
  Block* const block = Place(name, HY_TYPE_I32, shape);
  if (block == nullptr) return ops::PlaceTensor(HY_TYPE_I32, shape, lay_);
  ops::StoreInts(values, block->tensor);
  TakeImage(block);
  return block->tensor;
}

hy_tensor GuardedBuilder::Floats(absl::string_view name, uint32_t type,
                                 absl::Span<const int64_t> shape, absl::Span<const float> values) {
  Block* const block = Place(name, type, shape);
  if (block == nullptr) return ops::PlaceTensor(type, shape, lay_);
  ops::StoreFloats(values, block->tensor);
  TakeImage(block);
  return block->tensor;
}

hy_tensor GuardedBuilder::Output(absl::string_view name, uint32_t type,
                                 absl::Span<const int64_t> shape) {
  Block* const block = Place(name, type, shape);
  if (block == nullptr) return ops::PlaceTensor(type, shape, lay_);
  block->output = true;
  return block->tensor;
}

hy_tensor GuardedBuilder::InOut(absl::string_view name, uint32_t type,
                                absl::Span<const int64_t> shape) {
  const hy_tensor tensor = Filled(name, type, shape, "", ops::Role::kInput);
  if (status_.ok()) blocks_.back().restored = true;
  return tensor;
}

hy_tensor GuardedBuilder::InPlace(absl::string_view /*name*/, const hy_tensor& in) {
  for (Block& block : blocks_) {
    if (block.tensor.data == in.data) block.restored = true;
  }
  return in;
}

void GuardedBuilder::Reset(uint8_t poison) {
  poison_ = poison;
  for (const Block& block : blocks_) {
    if (block.restored) PutImage(block);
    if (!block.output || SpanBytes(block.tensor) == 0) continue;
    for (int64_t r = 0; r < hy_tensor_rows(&block.tensor); ++r) {
      std::memset(hy_tensor_row(&block.tensor, r), poison, static_cast<size_t>(RowBytes(block)));
    }
  }
}

const GuardedBuilder::Block* GuardedBuilder::Find(const void* data) const {
  for (const Block& block : blocks_) {
    if (block.tensor.data == data) return &block;
  }
  return nullptr;
}

hy_tensor GuardedBuilder::Canonical(const hy_tensor& view) const {
  const Block* const block = Find(view.data);
  if (block == nullptr || block->packed_from < 0) return view;
  return blocks_[static_cast<size_t>(block->packed_from)].tensor;
}

std::vector<uint8_t> GuardedBuilder::RowBefore(const hy_tensor& view, int64_t row) const {
  const Block* const block = Find(view.data);
  if (block == nullptr) return {};
  const auto row_bytes = static_cast<size_t>(RowBytes(*block));
  if (block->output) return std::vector<uint8_t>(row_bytes, poison_);
  const auto first = block->image.begin() + static_cast<std::ptrdiff_t>(row_bytes) * row;
  return std::vector<uint8_t>(first, first + static_cast<std::ptrdiff_t>(row_bytes));
}

void GuardedBuilder::GapDamage(const Block& block, std::vector<std::string>* out) const {
  const auto look = [&](const unsigned char* at, uint64_t bytes, int64_t row) {
    const uint64_t lost = FindInGap(at, bytes);
    if (lost == bytes) return;
    const std::ptrdiff_t offset = at + lost - block.region.base();
    out->push_back(absl::StrFormat(
        "%s: the byte at offset %d %s was written", block.name, static_cast<int64_t>(offset),
        offset < 0                             ? "before its first byte"
        : row >= hy_tensor_rows(&block.tensor) ? "behind its last row"
                                               : absl::StrCat("in the gap before row ", row)));
  };
  if (block.packed_from >= 0) {
    look(block.region.base() - block.region.slack_before(), block.region.slack_before(), 0);
    look(block.region.base() + block.region.bytes(), block.region.slack_after(),
         hy_tensor_rows(&block.tensor));
    return;
  }
  const uint64_t row_bytes = SpanBytes(block.tensor) == 0 ? 0 : RowBytes(block);
  EachGap(block.region, block.tensor, row_bytes, look);
}

std::vector<std::string> GuardedBuilder::Damage() const {
  std::vector<std::string> damage;
  for (const Block& block : blocks_) {
    GapDamage(block, &damage);
    if (block.output || block.restored || block.image.empty()) continue;
    if (block.packed_from >= 0) {
      if (std::memcmp(block.region.base(), block.image.data(), block.image.size()) != 0) {
        damage.push_back(absl::StrCat(block.name, ": the input was written"));
      }
      continue;
    }
    const auto row_bytes = static_cast<size_t>(RowBytes(block));
    for (int64_t r = 0; row_bytes > 0 && r < hy_tensor_rows(&block.tensor); ++r) {
      if (std::memcmp(hy_tensor_row(&block.tensor, r),
                      &block.image[row_bytes * static_cast<size_t>(r)], row_bytes) != 0) {
        damage.push_back(absl::StrCat(block.name, ": row ", r, " of the input was written"));
        break;
      }
    }
  }
  return damage;
}

std::vector<std::string> GuardedBuilder::InputDigests() const {
  std::vector<std::string> digests;
  for (const Block& block : blocks_) {
    if (block.output || block.packed_from >= 0) continue;
    const absl::string_view bytes(reinterpret_cast<const char*>(block.image.data()),
                                  block.image.size());
    digests.push_back(absl::StrFormat("%s=%016x", block.name, Digest(bytes)));
  }
  return digests;
}

}  // namespace halyard::conformance
