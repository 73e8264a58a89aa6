// SPDX-License-Identifier: Apache-2.0
#include "ops/layernorm/contract.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "reference/row_power.h"

namespace halyard::reference {
namespace {

constexpr double kU = 0x1p-24;

const hy_layernorm_args& Args(const void* raw) {
  return *static_cast<const hy_layernorm_args*>(raw);
}

double ElementOr(const hy_tensor& tensor, int64_t col, double otherwise) {
  return hy_tensor_present(&tensor) ? LoadElement(tensor, tensor.data, col) : otherwise;
}

struct Moments {
  double mean = 0;
  double scale = 0;
  double mean_error = 0;  // of a kernel
};

Moments MomentsOf(const hy_layernorm_args& args, const double* x) {
  const int64_t cols = args.x.shape[1];
  const auto n = static_cast<double>(cols);
  double sum = 0;
  double squares = 0;
  for (int64_t c = 0; c < cols; ++c) {
    sum += x[c];
    squares += x[c] * x[c];
  }
  Moments moments;
  moments.mean = sum / n;
  moments.mean_error = kU * (4 * (std::abs(sum) + 3 * std::sqrt(squares)) / std::sqrt(n) +
                             2 * std::abs(moments.mean));
  double deviations = 0;
  for (int64_t c = 0; c < cols; ++c) deviations += (x[c] - moments.mean) * (x[c] - moments.mean);
  moments.scale = 1 / std::sqrt(deviations / n + static_cast<double>(args.eps));
  return moments;
}

double Normalised(const hy_layernorm_args& args, const Moments& moments, double x, int64_t col) {
  return (x - moments.mean) * moments.scale * ElementOr(args.w, col, 1) + ElementOr(args.b, col, 0);
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, Args(raw).x.shape[1]);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_layernorm_args& args = Args(raw);
  const int64_t cols = args.x.shape[1];
  double* x = ScratchSlice(*context, cols);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && cols > 0; ++row) {
    LoadRow(args.x, row, x);
    const Moments moments = MomentsOf(args, x);
    for (int64_t c = 0; c < cols; ++c) x[c] = Normalised(args, moments, x[c], c);
    StoreRow(args.y, row, x);
  }
  return HY_OK;
}

double BoundOf(const hy_layernorm_args& args, const Moments& moments, double x, int64_t col) {
  const double w = std::abs(ElementOr(args.w, col, 1));
  const double d = std::abs(x - moments.mean);
  const double s = moments.scale;
  const double e = moments.mean_error;
  const double n = static_cast<double>(args.x.shape[1]);
  return w * s * e * (1 + e * d * s * s / 2) + kU * (2 * std::sqrt(n) + 8) * w * d * s +
         kU * std::abs(Normalised(args, moments, x, col));
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_layernorm_args& args = Args(raw);
  const int64_t cols = args.x.shape[1];
  ExpectedOutput y(3);
  std::vector<double> x(static_cast<size_t>(cols));
  for (int64_t row = 0; row < args.x.shape[0] && cols > 0; ++row) {
    LoadRow(args.x, row, x.data());
    const Moments moments = MomentsOf(args, x.data());
    double least = std::numeric_limits<double>::infinity();
    for (int64_t c = 0; c < cols; ++c) {
      const double value = x[static_cast<size_t>(c)];
      y.value.push_back(Normalised(args, moments, value, c));
      y.bound.push_back(BoundOf(args, moments, value, c));
      const double half_ulp = UnitRoundoff(args.y.type) * std::abs(y.value.back());
      least = std::min(least, (y.bound.back() + half_ulp) / std::abs(ElementOr(args.w, c, 1)));
    }
    // An element left out of the mean moves all outputs by its share.
    const int64_t step = 1 + cols / 256;
    for (int64_t c = 0; c < cols && cols > 1; c += step) {
      const double share = std::abs(x[static_cast<size_t>(c)]) / static_cast<double>(cols);
      CountTerm(share * moments.scale, least, out);
    }
  }
  AddStorageBound(args.y, &y);
  if (numerics.flags & HY_KERNEL_FTZ) AllowFlush(args.y, &y);
  out->outputs.push_back(std::move(y));
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_LAYERNORM_VERSION,
    .id = "layernorm/any/reference@halyard",
    .op = "layernorm",
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

HALYARD_REFERENCE(layernorm, halyard::reference::kKernel, halyard::reference::Expect)
