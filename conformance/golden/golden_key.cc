// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/golden_key.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/quant/little_endian.h"
#include "conformance/bundle/sha256.h"
#include "conformance/golden/byte_order.h"
#include "ops/data/layout.h"

namespace halyard::conformance {
namespace {

// Changes where a key of the same args would.
constexpr absl::string_view kKeyKind = "halyard golden key 1";

class KeyHash {
 public:
  explicit KeyHash(const registry::Op& op) : op_(op) {
    Text(kKeyKind);
    Text(op.name());
    Word(op.desc().version);
  }

  // All of args that is no tensor. Fields are words of four bytes in every contract; one of eight
  // would give another key on big-endian hosts, and so a pack without entries for them.
  void Scalars(const uint8_t* args) {
    for (uint32_t at = 0; at + 4 <= op_.desc().args_bytes; at += 4) {
      if (InTensor(at)) continue;
      uint32_t word;
      std::memcpy(&word, args + at, sizeof word);
      Word(word);
    }
  }

  void Shape(const hy_tensor& tensor) {
    Word(tensor.type);
    Word(tensor.rank);
    for (uint32_t i = 0; i < tensor.rank; ++i) {
      const auto size = static_cast<uint64_t>(tensor.shape[i]);
      Word(static_cast<uint32_t>(size));
      Word(static_cast<uint32_t>(size >> 32));
    }
  }

  void Elements(const hy_tensor& tensor) {
    const int64_t cols = hy_tensor_cols(&tensor);
    const uint64_t row_bytes = hy_type_row_bytes(tensor.type, cols);
    if (row_bytes == 0 || ops::SpanBytes(tensor) == 0) return;
    std::vector<uint8_t> row(static_cast<size_t>(row_bytes));
    for (int64_t r = 0; r < hy_tensor_rows(&tensor); ++r) {
      std::memcpy(row.data(), hy_tensor_row(&tensor, r), row.size());
      ToLittleEndian(tensor.type, cols, row.data());
      hash_.Add({reinterpret_cast<const char*>(row.data()), row.size()});
    }
  }

  GoldenKey Finish() {
    const std::string digest = hash_.Finish();
    GoldenKey key;
    std::copy_n(digest.begin(), key.size(), key.begin());
    return key;
  }

 private:
  void Text(absl::string_view text) {
    Word(static_cast<uint32_t>(text.size()));
    hash_.Add(text);
  }
  void Word(uint32_t word) {
    uint8_t bytes[4];
    quant::StoreLe32(word, bytes);
    hash_.Add({reinterpret_cast<const char*>(bytes), sizeof bytes});
  }
  bool InTensor(uint32_t at) const {
    return std::any_of(op_.operands().begin(), op_.operands().end(), [at](const hy_operand& one) {
      return at >= one.offset && at < one.offset + sizeof(hy_tensor);
    });
  }

  const registry::Op& op_;
  Sha256Stream hash_;
};

}  // namespace

GoldenKey KeyOf(const registry::Op& op, const void* args) {
  KeyHash hash(op);
  hash.Scalars(static_cast<const uint8_t*>(args));
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const hy_tensor& tensor = op.tensor(i, args);
    hash.Shape(tensor);
    if (hy_tensor_present(&tensor) && (op.operands()[i].flags & HY_OPERAND_READ) != 0) {
      hash.Elements(tensor);
    }
  }
  return hash.Finish();
}

}  // namespace halyard::conformance
