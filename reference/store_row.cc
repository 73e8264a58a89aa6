// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/quant/format.h"
#include "reference/reference.h"

namespace halyard::reference {

void StoreRow(const hy_tensor& tensor, int64_t row, double* values) {
  void* at = hy_tensor_row(&tensor, row);
  const int64_t cols = hy_tensor_cols(&tensor);
  if (!hy_type_is_a8(tensor.type)) {
    for (int64_t c = 0; c < cols; ++c) StoreElement(tensor, at, c, values[c]);
    return;
  }
  // Floats take half the room of the doubles they come from, so the row can be rounded in place.
  auto* rounded = reinterpret_cast<unsigned char*>(values);
  for (int64_t c = 0; c < cols; ++c) {
    const auto value = static_cast<float>(values[c]);
    std::copy_n(reinterpret_cast<const unsigned char*>(&value), sizeof value, rounded + 4 * c);
  }
  quant::QuantizeActivations(tensor.type, false, reinterpret_cast<const float*>(values), cols, at);
}

}  // namespace halyard::reference
