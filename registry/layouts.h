// SPDX-License-Identifier: Apache-2.0
//
// Packed weights: made once by a whole team, and always with a way back to the canonical numbers,
// so that a kernel that fails leaves nobody without an answer.
#ifndef HALYARD_REGISTRY_LAYOUTS_H_
#define HALYARD_REGISTRY_LAYOUTS_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hal/device.h"
#include "halyard/kernel.h"
#include "registry/aligned_block.h"
#include "registry/registry.h"

namespace halyard::registry {

/// Packs a canonical tensor to `packed`, 64-byte aligned and PackedBytes(layout, canonical) large.
/// Errors   INVALID_ARGUMENT: another type; UNIMPLEMENTED: the layout cannot hold this shape, why.
absl::Status PackTo(const Layout& layout, const hy_tensor& canonical, void* packed,
                    const hal::Team& team);

/// Writes the numbers of a packed tensor to `canonical`, of the same type and shape.
absl::Status UnpackTo(const Layout& layout, const hy_tensor& packed, const hy_tensor& canonical,
                      const hal::Team& team);

/// Which canonical tensor packed weights came from, by their address. Threads: any.
class CanonicalStore {
 public:
  /// `canonical` has the bytes that `packed` was made from; they are borrowed until Forget. With data
  /// NULL they were given up, and are unpacked, once, when a fallback needs them.
  void Keep(const hy_tensor& packed, const hy_tensor& canonical);
  void Forget(const hy_tensor& packed);

  /// Errors   NOT_FOUND: nobody kept it.
  absl::StatusOr<hy_tensor> Get(const Layout& layout, const hy_tensor& packed,
                                const hal::Team& team) const;

  /// Memory that holds what had to be unpacked.
  uint64_t unpacked_bytes() const;

 private:
  struct Entry {
    hy_tensor canonical{};
    AlignedBlock unpacked;
  };
  mutable std::mutex mutex_;
  mutable absl::flat_hash_map<const void*, std::unique_ptr<Entry>> entries_;
};

/// Packed weights that own their memory.
class PackedTensor {
 public:
  /// `store`: where to keep the way back; may be nullptr. `canonical` and `store` are borrowed.
  /// Errors   as PackTo; RESOURCE_EXHAUSTED.
  static absl::StatusOr<PackedTensor> Make(const Layout& layout, const hy_tensor& canonical,
                                           const hal::Team& team, CanonicalStore* store = nullptr);
  PackedTensor(PackedTensor&&) noexcept;
  PackedTensor& operator=(PackedTensor&&) noexcept;
  ~PackedTensor();

  /// With the layout's id; valid as long as this object.
  const hy_tensor& tensor() const { return tensor_; }
  uint64_t bytes() const { return block_.bytes(); }

 private:
  PackedTensor() = default;
  AlignedBlock block_;
  hy_tensor tensor_{};
  CanonicalStore* store_ = nullptr;
};

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_LAYOUTS_H_
