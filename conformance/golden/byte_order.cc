// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/byte_order.h"

#include <algorithm>
#include <bit>

namespace halyard::conformance {
namespace {

void SwapEach(uint8_t* begin, const uint8_t* end, std::ptrdiff_t size) {
  for (uint8_t* at = begin; at < end; at += size) std::reverse(at, at + size);
}

void SwapRecord(uint32_t type, int64_t cols, uint8_t* row) {
  uint8_t* const scales = row + hy_a8_scale_offset(type, cols);
  uint8_t* const sums = row + hy_a8_sum_offset(type, cols);
  SwapEach(scales, sums, 4);
  if (type == HY_TYPE_A8_TOKEN) return SwapEach(sums, sums + 8, 4);  // the zero point, the sum
  const int64_t count = cols / (type == HY_TYPE_A8_B32 ? 32 : 16);
  SwapEach(sums, sums + 2 * count, 2);
}

}  // namespace

void SwapFields(uint32_t type, int64_t cols, uint8_t* row) {
  if (cols == 0) return;
  if (hy_type_is_a8(type)) return SwapRecord(type, cols, row);
  if (hy_type_is_weights(type)) return;
  const uint32_t size = hy_type_facts(type)->block_bytes;
  SwapEach(row, row + static_cast<int64_t>(size) * cols, size);
}

void ToLittleEndian(uint32_t type, int64_t cols, uint8_t* row) {
  if constexpr (std::endian::native == std::endian::big) SwapFields(type, cols, row);
}

void ToLittleEndian(const registry::Op& op, const void* args, reference::Expected* inout) {
  for (reference::ExpectedOutput& output : inout->outputs) {
    if (output.operand >= op.operands().size()) continue;
    const hy_tensor& tensor = op.tensor(output.operand, args);
    const int64_t cols = hy_tensor_cols(&tensor);
    const uint64_t row_bytes = hy_type_row_bytes(tensor.type, cols);
    for (uint64_t at = 0; row_bytes > 0 && at + row_bytes <= output.bytes.size(); at += row_bytes) {
      ToLittleEndian(tensor.type, cols, &output.bytes[static_cast<size_t>(at)]);
    }
  }
}

}  // namespace halyard::conformance
