// SPDX-License-Identifier: Apache-2.0
#include "registry/args.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace halyard::registry {
namespace {

bool IsEmpty(const hy_tensor& t) {
  return t.rank == 0 || std::any_of(t.shape, t.shape + t.rank, [](int64_t n) { return n == 0; });
}

// Bytes of all axes from `first` on.
uint64_t ExtentFrom(const hy_tensor& t, uint32_t first) {
  uint64_t bytes = hy_type_row_bytes(t.type, hy_tensor_cols(&t));
  for (uint32_t i = first; i + 1 < t.rank; ++i)
    bytes += static_cast<uint64_t>(t.shape[i] - 1) * static_cast<uint64_t>(t.stride[i]);
  return bytes;
}

// Distance of outermost neighbours; 0 if there is but one.
uint64_t OuterStride(const hy_tensor& t) {
  const bool many = t.layout == HY_LAYOUT_CANONICAL && t.rank >= 2 && t.shape[0] > 1;
  return many ? static_cast<uint64_t>(t.stride[0]) : 0;
}

// Bytes of one outermost row, with its inner gaps.
uint64_t RowExtent(const hy_tensor& t) { return ExtentFrom(t, t.rank >= 2 ? 1 : 0); }

}  // namespace

ArgsCopy::ArgsCopy(const Op& op, const void* args)
    : op_(&op), words_((op.desc().args_bytes + 7) / 8) {
  Assign(args);
}

void ArgsCopy::Assign(const void* args) {
  const uint32_t bytes = op_->desc().args_bytes;
  std::memcpy(words_.data(), args, bytes);
  std::memcpy(words_.data(), &bytes, sizeof bytes);
}

uint64_t ExtentBytes(const hy_tensor& tensor) {
  return IsEmpty(tensor) ? 0 : ExtentFrom(tensor, 0);
}

Matrices MatricesOf(const hy_tensor& tensor) {
  Matrices matrices;
  matrices.cols = hy_tensor_cols(&tensor);
  if (tensor.rank >= 2) matrices.rows = tensor.shape[tensor.rank - 2];
  for (uint32_t i = 0; i + 2 < tensor.rank; ++i) matrices.count *= tensor.shape[i];
  return matrices;
}

uint64_t PackedBytes(const Layout& layout, const hy_tensor& tensor) {
  const Matrices matrices = MatricesOf(tensor);
  const uint64_t one = layout.desc.packed_bytes(matrices.rows, matrices.cols);
  return static_cast<uint64_t>(matrices.count) * hy_round_up(one, 64);
}

bool Overlap(const hy_tensor& a, const hy_tensor& b) {
  if (a.data == nullptr || b.data == nullptr || IsEmpty(a) || IsEmpty(b)) return false;
  const auto a_begin = reinterpret_cast<uintptr_t>(a.data);
  const auto b_begin = reinterpret_cast<uintptr_t>(b.data);
  const uint64_t a_bytes = a.layout == HY_LAYOUT_CANONICAL ? ExtentFrom(a, 0) : 1;
  const uint64_t b_bytes = b.layout == HY_LAYOUT_CANONICAL ? ExtentFrom(b, 0) : 1;
  if (a_begin >= b_begin + b_bytes || b_begin >= a_begin + a_bytes) return false;
  const uint64_t stride = std::max(OuterStride(a), OuterStride(b));
  const bool same_rows = stride != 0 && (OuterStride(a) == stride || OuterStride(a) == 0) &&
                         (OuterStride(b) == stride || OuterStride(b) == 0);
  if (!same_rows) return true;
  // Rows of a lie at 0, stride, ...; those of b at `shift`, shift + stride, ...
  const uint64_t shift = b_begin >= a_begin ? (b_begin - a_begin) % stride
                                            : (stride - (a_begin - b_begin) % stride) % stride;
  return shift < RowExtent(a) || shift + RowExtent(b) > stride;
}

bool IsInPlace(const Op& op, const void* args, size_t read_operand) {
  if ((op.operands()[read_operand].flags & HY_OPERAND_WRITE) != 0) return false;
  const hy_tensor& read = op.tensor(read_operand, args);
  if (!hy_tensor_present(&read)) return false;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const hy_tensor& written = op.tensor(i, args);
    if ((op.operands()[i].flags & HY_OPERAND_WRITE) != 0 && hy_tensor_present(&written) &&
        Overlap(read, written)) {
      return true;
    }
  }
  return false;
}

std::string TensorText(const hy_tensor& tensor) {
  const uint32_t rank = std::min<uint32_t>(tensor.rank, HY_MAX_RANK);
  return absl::StrCat("[", absl::StrJoin(tensor.shape, tensor.shape + rank, ", "), "] ",
                      hy_type_name(tensor.type));
}

}  // namespace halyard::registry
