// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "base/quant/format.h"
#include "ops/data/code_rows.h"
#include "ops/data/distribution.h"
#include "ops/data/value_rows.h"

namespace halyard::ops {
namespace {

// Integers: the values of the distribution in units of what it makes of them.
double IntegerScale(const FillSpec& spec, uint32_t type) {
  switch (spec.dist) {
    case Dist::kLossless:
    case Dist::kLosslessAsym:
    case Dist::kWalking:
      return spec.role == Role::kWeights ? 512 : 64;
    case Dist::kEqual:
      return 256;
    case Dist::kOnehot:
      return 1;
    default:
      return type == HY_TYPE_I8 ? 127 : 1000;
  }
}

void StoreIntegers(const FillSpec& spec, uint32_t type, const float* values, int64_t cols,
                   unsigned char* out) {
  const double scale = IntegerScale(spec, type);
  const double limit = type == HY_TYPE_I8 ? 127 : 0x1p31 - 1;
  for (int64_t c = 0; c < cols; ++c) {
    const double scaled = static_cast<double>(values[c]) * scale;
    const double kept = scaled >= -limit && scaled <= limit ? scaled : scaled > 0 ? limit : -limit;
    const auto value = static_cast<int32_t>(kept);  // of a NaN: -limit
    if (type == HY_TYPE_I8) {
      out[c] = static_cast<unsigned char>(value);
    } else {
      std::memcpy(out + 4 * c, &value, sizeof value);
    }
  }
}

void StoreValues(const FillSpec& spec, const hy_tensor& tensor, const float* values, void* row) {
  const int64_t cols = hy_tensor_cols(&tensor);
  if (tensor.type == HY_TYPE_I8 || tensor.type == HY_TYPE_I32) {
    StoreIntegers(spec, tensor.type, values, cols, static_cast<unsigned char*>(row));
  } else if (hy_type_is_a8(tensor.type)) {
    const bool symmetric = spec.dist == Dist::kLossless || spec.dist == Dist::kWalking;
    quant::QuantizeActivations(tensor.type, tensor.type == HY_TYPE_A8_TOKEN && !symmetric, values,
                               cols, row);
  } else {
    quant::EncodeRow(tensor.type, values, cols, row);
  }
}

}  // namespace

void Fill(const FillSpec& spec, const hy_tensor& tensor) {
  // A tensor without elements has no bytes, though a row of w8a8 or a8_token would.
  const int64_t rows = hy_tensor_cols(&tensor) == 0 ? 0 : hy_tensor_rows(&tensor);
  if (hy_type_is_weights(tensor.type) && ChoosesCodes(spec.dist)) {
    const CodeRows source(spec, tensor);
    for (int64_t r = 0; r < rows; ++r) {
      source.Row(r, static_cast<uint8_t*>(hy_tensor_row(&tensor, r)));
    }
    return;
  }
  const ValueRows source(spec, tensor);
  std::vector<float> values(static_cast<size_t>(hy_tensor_cols(&tensor)));
  for (int64_t r = 0; r < rows; ++r) {
    source.Row(r, values.data());
    StoreValues(spec, tensor, values.data(), hy_tensor_row(&tensor, r));
  }
}

}  // namespace halyard::ops
