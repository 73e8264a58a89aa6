// SPDX-License-Identifier: Apache-2.0
#include "reference/gated.h"

#include <cmath>
#include <utility>
#include <vector>

namespace halyard::reference {
namespace {

constexpr double kU = 0x1p-24;

// What a gate of an infinite `up` is multiplied with: as in f32, where it may be 0.
double AsMultiplied(double gate, double up) {
  return std::isinf(up) ? RoundTo(HY_TYPE_F32, gate) : gate;
}

double EightUlp(double value) {
  return value == 0 || !std::isfinite(value) ? 0 : std::ldexp(8.0, std::ilogb(value) - 23);
}

}  // namespace

uint64_t ScratchOfGated(const GatedOp& op, uint32_t workers) {
  return ScratchBytes(workers, 2 * hy_tensor_cols(op.y));
}

hy_status RunGated(const GatedOp& op, const hy_kernel_context& context) {
  const int64_t cols = hy_tensor_cols(op.y);
  double* y = ScratchSlice(context, 2 * cols);
  double* up = y + cols;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(op.y), 1, context.index, context.count, &begin, &end);
  for (int64_t row = begin; row < end && cols > 0; ++row) {
    LoadRow(*op.gate, row, y);
    LoadRow(*op.up, row, up);
    for (int64_t c = 0; c < cols; ++c) y[c] = AsMultiplied(op.function(y[c]).value, up[c]) * up[c];
    StoreRow(*op.y, row, y);
  }
  return HY_OK;
}

absl::Status ExpectGated(const GatedOp& op, const Numerics& numerics, Expected* out) {
  const auto cols = static_cast<size_t>(hy_tensor_cols(op.y));
  ExpectedOutput y(op.y_operand);
  std::vector<double> gate(cols);
  std::vector<double> up(cols);
  for (int64_t row = 0; row < hy_tensor_rows(op.y) && cols > 0; ++row) {
    LoadRow(*op.gate, row, gate.data());
    LoadRow(*op.up, row, up.data());
    for (size_t c = 0; c < cols; ++c) {
      const GateValue one = op.function(gate[c]);
      const double value = AsMultiplied(one.value, up[c]) * up[c];
      y.value.push_back(value);
      y.bound.push_back(EightUlp(value) + one.argument_error * kU * std::abs(value) +
                        0x1p-149 * std::abs(up[c]));
    }
  }
  AddStorageBound(*op.y, &y);
  if (numerics.flags & HY_KERNEL_FTZ) AllowFlush(*op.y, &y);
  out->outputs.push_back(std::move(y));
  return absl::OkStatus();
}

}  // namespace halyard::reference
