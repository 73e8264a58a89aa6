// SPDX-License-Identifier: Apache-2.0
#include "engine/model/kv_storage.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace halyard::engine {

absl::StatusOr<std::unique_ptr<KvStorage>> KvStorage::Create(const ModelConfig& config,
                                                             const KvShape& shape) {
  const bool known = hy_type_is_float(shape.type) != 0 || shape.type == HY_TYPE_Q8_0;
  const auto block = static_cast<int64_t>(hy_type_facts(shape.type)->block);
  if (!known || config.head_size % block != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "keys and values cannot be kept as ", hy_type_name(shape.type), " with heads of ",
        config.head_size, "; f32, f16, bf16, and q8_0 for heads of a multiple of 32 can"));
  }
  std::unique_ptr<KvStorage> made(new KvStorage(config, shape));
  const uint64_t row = hy_type_row_bytes(shape.type, config.head_size);
  made->tensor_bytes_ =
      hy_round_up(row * static_cast<uint64_t>(shape.pages * shape.page * config.kv_heads), 64);
  const uint64_t bytes = made->tensor_bytes_ * 2 * static_cast<uint64_t>(config.layers);
  if (!made->block_.Reserve(bytes).ok()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", bytes, " bytes of keys and values: ", shape.pages,
                     " pages of ", shape.page, " tokens; ask for a shorter context"));
  }
  return made;
}

hy_tensor KvStorage::Tensor(int64_t number) const {
  const int64_t shape[] = {shape_.pages, heads_, shape_.page, head_size_};
  return hy_tensor_dense(block_.data() + static_cast<uint64_t>(number) * tensor_bytes_, shape_.type,
                         4, shape);
}

uint64_t KvStorage::bytes_per_token() const {
  return 2 * static_cast<uint64_t>(layers_ * heads_) * hy_type_row_bytes(shape_.type, head_size_);
}

}  // namespace halyard::engine
