// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "base/quant/format.h"

namespace halyard::reference {
namespace {

// Bits of the significand and the exponent of the smallest subnormal.
struct FloatFormat {
  int significand_bits;
  int smallest_exponent;
  double largest;
};

FloatFormat FormatOf(uint32_t type) {
  switch (type) {
    case HY_TYPE_F16:
      return {11, -24, 65504.0};
    case HY_TYPE_BF16:
      return {8, -133, 0x1.fep127};
    default:
      return {24, -149, 0x1.fffffep127};
  }
}

// Distance of neighbours of the type at `value`.
double UlpAt(uint32_t type, double value) {
  const FloatFormat format = FormatOf(type);
  const double smallest = std::ldexp(1.0, format.smallest_exponent);
  if (!std::isfinite(value) || value == 0) return smallest;
  return std::max(smallest, std::ldexp(1.0, std::ilogb(value) - format.significand_bits + 1));
}

// Half a quantisation step of each element of a row of activations. A block with a value that is not
// finite is NaN as a whole.
void AddStepBounds(const hy_tensor& tensor, double* value, double* bound) {
  const int64_t cols = hy_tensor_cols(&tensor);
  const int64_t block = tensor.type == HY_TYPE_A8_TOKEN ? cols : hy_type_facts(tensor.type)->block;
  for (int64_t first = 0; first < cols; first += block) {
    double amplitude = 0;
    for (int64_t i = first; i < first + block; ++i) {
      amplitude = std::isfinite(value[i]) ? std::max(amplitude, std::abs(value[i]) + bound[i])
                                          : std::numeric_limits<double>::infinity();
      if (std::isinf(amplitude)) break;
    }
    if (!std::isfinite(amplitude)) {
      std::fill_n(value + first, block, std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    // An asymmetric scale of a row is at most twice as fine; the symmetric one is the wider.
    const double half_step = amplitude / 127 * 0.5;
    // Below 2^-120 all codes are 0; which side of it a kernel comes out at is open near it.
    const bool vanishes = amplitude < 0x1p-119;
    for (int64_t i = first; i < first + block; ++i)
      bound[i] += half_step * (1 + 0x1p-10) + (vanishes ? std::abs(value[i]) : 0);
  }
}

// A value beyond the type's range is stored as infinity; one that the arithmetic may carry there may
// be. Bounds are still those of the arithmetic.
void AllowOverflow(uint32_t type, size_t i, ExpectedOutput* out) {
  const double largest = FormatOf(type).largest;
  const double end = largest + 0.5 * UlpAt(type, largest);
  const double size = std::abs(out->value[i]);
  if (!std::isfinite(size) || size + out->bound[i] < end) return;
  const double infinity = std::copysign(std::numeric_limits<double>::infinity(), out->value[i]);
  if (size - out->bound[i] >= end) {
    out->value[i] = infinity;
    return;
  }
  out->alternatives.resize(out->value.size());
  out->alternatives[i].push_back(infinity);
}

}  // namespace

double UnitRoundoff(uint32_t type) { return std::ldexp(1.0, -FormatOf(type).significand_bits); }

double RoundTo(uint32_t type, double value) {
  switch (type) {
    case HY_TYPE_F16:
      return HalfToFloat(DoubleToHalf(value));
    case HY_TYPE_BF16:
      return Bf16ToFloat(DoubleToBf16(value));
    default:
      return static_cast<float>(value);
  }
}

double LoadElement(const hy_tensor& tensor, const void* row, int64_t col) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  const auto at = static_cast<size_t>(col);
  switch (tensor.type) {
    case HY_TYPE_F32: {
      float value;
      std::memcpy(&value, bytes + 4 * at, sizeof value);
      return value;
    }
    case HY_TYPE_I32: {
      int32_t value;
      std::memcpy(&value, bytes + 4 * at, sizeof value);
      return value;
    }
    case HY_TYPE_I8:
      return static_cast<int8_t>(bytes[at]);
    default: {
      uint16_t half;
      std::memcpy(&half, bytes + 2 * at, sizeof half);
      return tensor.type == HY_TYPE_F16 ? HalfToFloat(half) : Bf16ToFloat(half);
    }
  }
}

void LoadRow(const hy_tensor& tensor, int64_t row, double* out) {
  const void* at = hy_tensor_row(&tensor, row);
  const int64_t cols = hy_tensor_cols(&tensor);
  if (tensor.type == HY_TYPE_I32) {
    for (int64_t c = 0; c < cols; ++c) out[c] = LoadElement(tensor, at, c);
  } else {
    quant::DecodeRow(tensor.type, at, cols, out);
  }
}

void StoreElement(const hy_tensor& tensor, void* row, int64_t col, double value) {
  auto* bytes = static_cast<unsigned char*>(row);
  const auto at = static_cast<size_t>(col);
  if (tensor.type == HY_TYPE_F32) {
    const auto rounded = static_cast<float>(value);
    std::memcpy(bytes + 4 * at, &rounded, sizeof rounded);
  } else if (tensor.type == HY_TYPE_I32) {
    const auto integer = static_cast<int32_t>(value);
    std::memcpy(bytes + 4 * at, &integer, sizeof integer);
  } else {
    const uint16_t half = tensor.type == HY_TYPE_F16 ? DoubleToHalf(value) : DoubleToBf16(value);
    std::memcpy(bytes + 2 * at, &half, sizeof half);
  }
}

double* ScratchSlice(const hy_kernel_context& context, int64_t doubles) {
  const uint64_t slice = ScratchBytes(1, doubles);
  return reinterpret_cast<double*>(static_cast<unsigned char*>(context.scratch) +
                                   context.index * slice);
}

void AddStorageBound(const hy_tensor& tensor, ExpectedOutput* out) {
  if (hy_type_is_a8(tensor.type)) {
    const int64_t cols = hy_tensor_cols(&tensor);
    for (size_t first = 0; cols > 0 && first < out->value.size();
         first += static_cast<size_t>(cols)) {
      AddStepBounds(tensor, &out->value[first], &out->bound[first]);
    }
    return;
  }
  for (size_t i = 0; i < out->value.size(); ++i) {
    AllowOverflow(tensor.type, i, out);
    // The stored value lies near value +- bound, whose ulp may be the next larger one.
    out->bound[i] += 0.5 * UlpAt(tensor.type, std::abs(out->value[i]) + out->bound[i]) +
                     std::ldexp(1.0, FormatOf(tensor.type).smallest_exponent);
  }
}

void AllowFlush(const hy_tensor& tensor, ExpectedOutput* out) {
  const FloatFormat format = FormatOf(tensor.type);
  const double smallest_normal =
      std::ldexp(1.0, format.smallest_exponent + format.significand_bits - 1);
  for (double& bound : out->bound) bound += smallest_normal;
}

}  // namespace halyard::reference
