// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/contract.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "reference/row_power.h"

namespace halyard::reference {
namespace {

constexpr double kU = 0x1p-24;
constexpr double kInf = std::numeric_limits<double>::infinity();

const hy_softmax_args& Args(const void* raw) { return *static_cast<const hy_softmax_args*>(raw); }

double MaskAt(const hy_softmax_args& args, int64_t row, int64_t col) {
  if (!hy_tensor_present(&args.mask)) return 0;
  const int64_t mask_row = args.mask.shape[0] == 1 ? 0 : row;
  return LoadElement(args.mask, hy_tensor_row(&args.mask, mask_row), col);
}

double OverflowedToF32(double value) {
  return std::isinf(RoundTo(HY_TYPE_F32, value)) ? std::copysign(kInf, value) : value;
}

// Scores of a row; infinite where f32 overflows.
void LoadScores(const hy_softmax_args& args, int64_t row, double* t) {
  LoadRow(args.x, row, t);
  for (int64_t c = 0; c < args.x.shape[1]; ++c) {
    const double scaled = OverflowedToF32(t[c] * static_cast<double>(args.scale));
    t[c] = OverflowedToF32(scaled + MaskAt(args, row, c));
  }
}

// Turns scores into y; gives the largest score. That of a row with a NaN may be any: all is NaN.
double Softmax(int64_t cols, double* t) {
  double most = -kInf;
  bool has_nan = false;
  for (int64_t c = 0; c < cols; ++c) {
    most = std::max(most, t[c]);
    has_nan = has_nan || std::isnan(t[c]);
  }
  if (most == -kInf && !has_nan) {
    std::fill_n(t, cols, 0.0);
    return most;
  }
  double sum = 0;
  for (int64_t c = 0; c < cols; ++c) {
    t[c] = std::exp(t[c] - most);
    sum += t[c];
  }
  for (int64_t c = 0; c < cols; ++c) t[c] /= sum;
  return most;
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, Args(raw).x.shape[1]);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_softmax_args& args = Args(raw);
  const int64_t cols = args.x.shape[1];
  double* t = ScratchSlice(*context, cols);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && cols > 0; ++row) {
    LoadScores(args, row, t);
    Softmax(cols, t);
    StoreRow(args.y, row, t);
  }
  return HY_OK;
}

// Error of each exponential, in units of u.
double ScoreError(const hy_softmax_args& args, double x, double t, double most) {
  double error = 2 * std::abs(t - most);
  if (args.scale != 1) error += std::abs(x * static_cast<double>(args.scale));
  if (hy_tensor_present(&args.mask)) error += std::abs(t);
  return error;
}

void ExpectRow(const hy_softmax_args& args, int64_t row, ExpectedOutput* out) {
  const auto cols = static_cast<size_t>(args.x.shape[1]);
  std::vector<double> x(cols);
  std::vector<double> t(cols);
  std::vector<double> error(cols);
  LoadRow(args.x, row, x.data());
  LoadScores(args, row, t.data());
  std::vector<double> y = t;
  const double most = Softmax(args.x.shape[1], y.data());
  double mean_error = 8 + 4 * std::sqrt(static_cast<double>(cols));
  for (size_t c = 0; c < cols; ++c) {
    error[c] = ScoreError(args, x[c], t[c], most);
    if (y[c] > 0) mean_error += y[c] * error[c];
  }
  for (size_t c = 0; c < cols; ++c) {
    const double relative = std::expm1(std::min(30.0, kU * (error[c] + mean_error)));
    out->value.push_back(y[c]);
    out->bound.push_back(y[c] > 0 ? y[c] * relative + 0x1p-149 : 0);
  }
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_softmax_args& args = Args(raw);
  const auto cols = static_cast<size_t>(args.x.shape[1]);
  ExpectedOutput y(2);
  for (int64_t row = 0; row < args.x.shape[0] && cols > 0; ++row) ExpectRow(args, row, &y);
  AddStorageBound(args.y, &y);
  for (size_t i = 0; i < y.value.size(); ++i) {
    if (y.value[i] == 0) y.bound[i] = 0;  // masked
  }
  if (numerics.flags & HY_KERNEL_FTZ) AllowFlush(args.y, &y);
  const size_t step = 1 + cols / 256;
  for (size_t first = 0; first < y.value.size(); first += cols) {
    const double least = LeastRelativeBound(y, first, cols);
    for (size_t c = 0; c < cols && cols > 1; c += step)
      CountTerm(y.value[first + c] / (1 - y.value[first + c]), least, out);
  }
  out->outputs.push_back(std::move(y));
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_SOFTMAX_VERSION,
    .id = "softmax/any/reference@halyard",
    .op = "softmax",
    .types = {},
    .isa = {},
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F64,
    .priority = HY_PRIORITY_REFERENCE,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 1,
    .param_count = 0,
    .flags = HY_KERNEL_REFERENCE | HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = Scratch,
    .run = Run,
};

}  // namespace
}  // namespace halyard::reference

HALYARD_REFERENCE(softmax, halyard::reference::kKernel, halyard::reference::Expect)
