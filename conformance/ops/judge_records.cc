// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/judge_records.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace halyard::conformance {
namespace {

template <typename T>
T Get(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

int SumOf(const int8_t* codes, int64_t count) {
  int sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += codes[i];
  return sum;
}

int PeakOf(const int8_t* codes, int64_t count) {
  int peak = 0;
  for (int64_t i = 0; i < count; ++i) peak = std::max(peak, std::abs(int{codes[i]}));
  return peak;
}

// A symmetric scale is that of the largest magnitude, so some code is +-127; a scale of 0 or NaN has
// codes 0 only.
std::string ScaleFault(float scale, int peak) {
  if (std::isnan(scale) || scale == 0) {
    return peak == 0 ? "" : absl::StrCat("a scale of ", scale, " goes with codes up to ", peak);
  }
  if (std::isinf(scale) || scale < 0) return absl::StrCat("a scale is ", scale);
  return peak == 127 ? "" : absl::StrCat("codes reach ", peak, " where the largest must be 127");
}

std::string BlockFault(uint32_t type, const uint8_t* row, int64_t k) {
  const auto* codes = reinterpret_cast<const int8_t*>(row);
  const int64_t block = hy_type_facts(type)->block;
  const int64_t group = type == HY_TYPE_A8_B32 ? 32 : 16;
  const uint8_t* scales = row + hy_a8_scale_offset(type, k);
  const uint8_t* sums = row + hy_a8_sum_offset(type, k);
  for (int64_t b = 0; b < k / block; ++b) {
    const std::string fault =
        ScaleFault(Get<float>(scales + 4 * b), PeakOf(codes + b * block, block));
    if (!fault.empty()) return absl::StrCat("block ", b, ": ", fault);
  }
  for (int64_t g = 0; g < k / group; ++g) {
    const int sum = Get<int16_t>(sums + 2 * g);
    const int real = SumOf(codes + g * group, group);
    if (sum != real) return absl::StrCat("sum ", g, " is ", sum, ", its codes add up to ", real);
  }
  return "";
}

std::string TokenFault(const uint8_t* row, int64_t k) {
  const auto* codes = reinterpret_cast<const int8_t*>(row);
  const auto scale = Get<float>(row + hy_a8_scale_offset(HY_TYPE_A8_TOKEN, k));
  const uint8_t* zero_at = row + hy_a8_sum_offset(HY_TYPE_A8_TOKEN, k);
  const auto zero = Get<int32_t>(zero_at);
  const auto sum = Get<int32_t>(zero_at + 4);
  if (zero < -128 || zero > 127) return absl::StrCat("the zero point is ", zero);
  if (sum != SumOf(codes, k)) {
    return absl::StrCat("the sum is ", sum, ", the codes add up to ", SumOf(codes, k));
  }
  // With a zero point the ends of the range are used instead, of which one may be zero itself.
  return zero != 0 || k == 0 || PeakOf(codes, k) == 128 ? "" : ScaleFault(scale, PeakOf(codes, k));
}

std::string PaddingFault(uint32_t type, const uint8_t* row, int64_t k) {
  uint64_t used = hy_a8_sum_offset(type, k);
  used += type == HY_TYPE_A8_TOKEN
              ? 8
              : static_cast<uint64_t>(k) / (type == HY_TYPE_A8_B32 ? 32 : 16) * 2;
  for (uint64_t i = used; i < hy_type_row_bytes(type, k); ++i) {
    if (row[i] != 0) return absl::StrCat("byte ", i, " is padding and not 0");
  }
  for (auto i = static_cast<uint64_t>(k); i < hy_a8_scale_offset(type, k); ++i) {
    if (row[i] != 0) return absl::StrCat("byte ", i, " is padding behind the codes and not 0");
  }
  return "";
}

}  // namespace

std::string RecordFault(const hy_tensor& tensor) {
  const int64_t k = hy_tensor_cols(&tensor);
  for (int64_t r = 0; k > 0 && r < hy_tensor_rows(&tensor); ++r) {
    const auto* row = static_cast<const uint8_t*>(hy_tensor_row(&tensor, r));
    std::string fault =
        tensor.type == HY_TYPE_A8_TOKEN ? TokenFault(row, k) : BlockFault(tensor.type, row, k);
    if (fault.empty()) fault = PaddingFault(tensor.type, row, k);
    if (!fault.empty()) return absl::StrCat("record of row ", r, ": ", fault);
  }
  return "";
}

}  // namespace halyard::conformance
