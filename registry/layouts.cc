// SPDX-License-Identifier: Apache-2.0
#include "registry/layouts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "registry/args.h"

namespace halyard::registry {
namespace {

hy_tensor Packed(const Layout& layout, const hy_tensor& canonical, void* data) {
  hy_tensor packed = canonical;
  packed.data = data;
  packed.layout = layout.desc.id;
  for (int64_t& stride : packed.stride) stride = 0;
  return packed;
}

// Matrix `index` of a canonical tensor, as a tensor of rank 2.
hy_tensor MatrixOf(const hy_tensor& tensor, const Matrices& matrices, int64_t index) {
  const int64_t shape[] = {matrices.rows, matrices.cols};
  hy_tensor matrix =
      hy_tensor_dense(hy_tensor_row(&tensor, index * matrices.rows), tensor.type, 2, shape);
  if (tensor.rank >= 2) matrix.stride[0] = tensor.stride[tensor.rank - 2];
  return matrix;
}

absl::Status CheckFits(const Layout& layout, const hy_tensor& canonical) {
  if (canonical.type != layout.desc.type || canonical.layout != HY_LAYOUT_CANONICAL) {
    return absl::InvalidArgumentError(absl::StrCat(layout.desc.name, " packs canonical ",
                                                   hy_type_name(layout.desc.type), ", not ",
                                                   TensorText(canonical)));
  }
  const Matrices matrices = MatricesOf(canonical);
  hy_why why{};
  if (layout.desc.supports(matrices.rows, matrices.cols, &why) != 0) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(layout.desc.name, " cannot pack ", TensorText(canonical), ": ", why.text));
}

template <typename Move>  // void(const hy_tensor& canonical, unsigned char* packed, index, count)
absl::Status ForEachMatrix(const Layout& layout, const hy_tensor& canonical, void* packed,
                           const hal::Team& team, Move move) {
  const Matrices matrices = MatricesOf(canonical);
  const uint64_t step = hy_round_up(layout.desc.packed_bytes(matrices.rows, matrices.cols), 64);
  return team.Run([&](uint32_t index, uint32_t count) {
    for (int64_t i = 0; i < matrices.count; ++i) {
      move(MatrixOf(canonical, matrices, i),
           static_cast<unsigned char*>(packed) + static_cast<uint64_t>(i) * step, index, count);
    }
  });
}

}  // namespace

absl::Status PackTo(const Layout& layout, const hy_tensor& canonical, void* packed,
                    const hal::Team& team) {
  HY_RETURN_IF_ERROR(CheckFits(layout, canonical));
  return ForEachMatrix(layout, canonical, packed, team,
                       [&layout](const hy_tensor& matrix, unsigned char* to, uint32_t index,
                                 uint32_t count) { layout.desc.pack(&matrix, to, index, count); });
}

absl::Status UnpackTo(const Layout& layout, const hy_tensor& packed, const hy_tensor& canonical,
                      const hal::Team& team) {
  HY_RETURN_IF_ERROR(CheckFits(layout, canonical));
  return ForEachMatrix(
      layout, canonical, packed.data, team,
      [&layout](const hy_tensor& matrix, unsigned char* from, uint32_t index, uint32_t count) {
        layout.desc.unpack(from, &matrix, index, count);
      });
}

void CanonicalStore::Keep(const hy_tensor& packed, const hy_tensor& canonical) {
  auto entry = std::make_unique<Entry>();
  entry->canonical = canonical;
  std::lock_guard<std::mutex> lock(mutex_);
  entries_[packed.data] = std::move(entry);
}

void CanonicalStore::Forget(const hy_tensor& packed) {
  std::lock_guard<std::mutex> lock(mutex_);
  entries_.erase(packed.data);
}

absl::StatusOr<hy_tensor> CanonicalStore::Get(const Layout& layout, const hy_tensor& packed,
                                              const hal::Team& team) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(packed.data);
  if (found == entries_.end()) return absl::NotFoundError("no canonical tensor was kept");
  Entry& entry = *found->second;
  if (entry.canonical.data != nullptr) return entry.canonical;
  hy_tensor canonical = hy_tensor_dense(nullptr, packed.type, packed.rank, packed.shape);
  HY_RETURN_IF_ERROR(entry.unpacked.Reserve(ExtentBytes(canonical)));
  canonical.data = entry.unpacked.data();
  HY_RETURN_IF_ERROR(UnpackTo(layout, packed, canonical, team));
  entry.canonical = canonical;
  return canonical;
}

uint64_t CanonicalStore::unpacked_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& entry : entries_) bytes += entry.second->unpacked.bytes();
  return bytes;
}

absl::StatusOr<PackedTensor> PackedTensor::Make(const Layout& layout, const hy_tensor& canonical,
                                                const hal::Team& team, CanonicalStore* store) {
  HY_RETURN_IF_ERROR(CheckFits(layout, canonical));
  PackedTensor packed;
  HY_RETURN_IF_ERROR(packed.block_.Reserve(PackedBytes(layout, canonical)));
  packed.tensor_ = Packed(layout, canonical, packed.block_.data());
  HY_RETURN_IF_ERROR(PackTo(layout, canonical, packed.block_.data(), team));
  if (store != nullptr) store->Keep(packed.tensor_, canonical);
  packed.store_ = store;
  return packed;
}

PackedTensor::PackedTensor(PackedTensor&& other) noexcept
    : block_(std::move(other.block_)),
      tensor_(other.tensor_),
      store_(std::exchange(other.store_, nullptr)) {}

PackedTensor& PackedTensor::operator=(PackedTensor&& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(tensor_, other.tensor_);
  std::swap(store_, other.store_);
  return *this;
}

PackedTensor::~PackedTensor() {
  if (store_ != nullptr) store_->Forget(tensor_);
}

}  // namespace halyard::registry
