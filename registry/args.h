// SPDX-License-Identifier: Apache-2.0
//
// Args of any op by its operand table: copies that can be changed, and which memory an operand is.
#ifndef HALYARD_REGISTRY_ARGS_H_
#define HALYARD_REGISTRY_ARGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "halyard/kernel.h"
#include "registry/registry.h"

namespace halyard::registry {

/// A copy of an op's args, to try other operands on.
class ArgsCopy {
 public:
  ArgsCopy(const Op& op, const void* args);
  /// Anew from args of the same op; allocates nothing.
  void Assign(const void* args);

  void* data() { return words_.data(); }
  const void* data() const { return words_.data(); }
  hy_tensor& tensor(size_t operand) { return op_->tensor(operand, data()); }
  const hy_tensor& tensor(size_t operand) const { return op_->tensor(operand, data()); }
  /// Whether all fields are the same.
  bool operator==(const ArgsCopy& other) const { return words_ == other.words_; }

 private:
  const Op* op_;
  std::vector<uint64_t> words_;
};

/// Bytes from the first element of a canonical tensor to behind its last one; 0 if it is empty.
uint64_t ExtentBytes(const hy_tensor& tensor);
/// Bytes of a tensor in a layout.
uint64_t PackedBytes(const Layout& layout, const hy_tensor& tensor);
/// One matrix of a tensor, as layouts see it.
struct Matrices {
  int64_t count = 1;
  int64_t rows = 1;
  int64_t cols = 0;
};
Matrices MatricesOf(const hy_tensor& tensor);

/// Whether two tensors share an element's memory. Exact for views that are columns of the same rows,
/// such as the q and k parts of one product; else by their extents. Data NULL shares nothing; a
/// packed tensor, which is only read, is taken for its first bytes.
bool Overlap(const hy_tensor& a, const hy_tensor& b);

/// Whether a read operand is in the memory of an operand that is written: the op is in place.
bool IsInPlace(const Op& op, const void* args, size_t read_operand);

/// "[3, 64] f32" for messages.
std::string TensorText(const hy_tensor& tensor);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_ARGS_H_
