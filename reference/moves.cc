// SPDX-License-Identifier: Apache-2.0
#include "reference/moves.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/quant/format.h"
#include "reference/binary.h"

namespace halyard::reference {

void MoveRow(const hy_tensor& from, int64_t from_row, const hy_tensor& to, int64_t to_row,
             float* room) {
  const int64_t cols = hy_tensor_cols(&from);
  const void* in = hy_tensor_row(&from, from_row);
  void* out = hy_tensor_row(&to, to_row);
  if (from.type != to.type) {
    quant::DecodeRowF32(from.type, in, cols, room);
    quant::EncodeRow(to.type, room, cols, out);
  } else if (in != out) {
    std::memcpy(out, in, hy_type_row_bytes(from.type, cols));
  }
}

void ExpectMovedRow(const hy_tensor& from, int64_t from_row, const hy_tensor& to,
                    ExpectedOutput* out) {
  const int64_t cols = hy_tensor_cols(&from);
  const auto* in = static_cast<const uint8_t*>(hy_tensor_row(&from, from_row));
  if (cols == 0) return;
  if (from.type == to.type) {
    out->bytes.insert(out->bytes.end(), in, in + hy_type_row_bytes(from.type, cols));
    return;
  }
  std::vector<float> row(static_cast<size_t>(cols));
  quant::DecodeRowF32(from.type, in, cols, row.data());
  out->value.insert(out->value.end(), row.begin(), row.end());
}

void ExpectMovedOutput(const hy_tensor& to, const Numerics& numerics, ExpectedOutput output,
                       Expected* out) {
  if (output.value.empty()) {
    out->outputs.push_back(std::move(output));
  } else {
    ExpectExact(to, numerics, std::move(output), out);
  }
}

}  // namespace halyard::reference
