// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_ENGINE_MODEL_KV_STORAGE_H_
#define HALYARD_ENGINE_MODEL_KV_STORAGE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/model/config.h"
#include "halyard/tensor.h"
#include "registry/aligned_block.h"

namespace halyard::engine {

struct KvShape {
  uint32_t type = HY_TYPE_F16;  ///< f32, f16, bf16 or q8_0
  int64_t page = 32;            ///< tokens
  int64_t pages = 0;
};

/// Pages of keys and values of all layers. Which sequence has which page is not its business.
class KvStorage {
 public:
  /// Errors   INVALID_ARGUMENT: a type that cannot hold heads of that size; RESOURCE_EXHAUSTED: no memory,
  ///          with the bytes.
  static absl::StatusOr<std::unique_ptr<KvStorage>> Create(const ModelConfig& config,
                                                           const KvShape& shape);

  hy_tensor keys(int64_t layer) const { return Tensor(2 * layer); }
  hy_tensor values(int64_t layer) const { return Tensor(2 * layer + 1); }
  const KvShape& shape() const { return shape_; }
  uint64_t bytes() const { return block_.bytes(); }
  /// Bytes of one token's keys and values in all layers.
  uint64_t bytes_per_token() const;

 private:
  KvStorage(const ModelConfig& config, const KvShape& shape)
      : shape_(shape),
        layers_(config.layers),
        heads_(config.kv_heads),
        head_size_(config.head_size) {}
  hy_tensor Tensor(int64_t number) const;

  const KvShape shape_;
  const int64_t layers_;
  const int64_t heads_;
  const int64_t head_size_;
  uint64_t tensor_bytes_ = 0;
  registry::AlignedBlock block_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_MODEL_KV_STORAGE_H_
