// SPDX-License-Identifier: Apache-2.0
#include "ops/log_softmax/contract.h"

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

const hy_log_softmax_args& Args(const void* raw) {
  return *static_cast<const hy_log_softmax_args*>(raw);
}

// The maximum and the logarithm of the sum of a row, with the weighted mean of |x - max|.
struct Sums {
  double most = -kInf;
  double log_sum = 0;
  double mean_below = 0;
};

Sums SumsOf(int64_t n, const double* x) {
  Sums sums;
  for (int64_t c = 0; c < n; ++c) sums.most = std::max(sums.most, x[c]);
  double sum = 0;
  for (int64_t c = 0; c < n; ++c) {
    const double below = x[c] - sums.most;
    sum += std::exp(below);
    if (std::isfinite(below)) sums.mean_below -= std::exp(below) * below;
  }
  sums.log_sum = std::log(sum);
  sums.mean_below /= sum;
  return sums;
}

// What column `id` gives; sets `status` if there is none such.
double Named(int64_t n, const double* x, const Sums& sums, double id, hy_status* status) {
  if (id >= static_cast<double>(n)) *status = HY_OUT_OF_RANGE;
  if (id < 0 || id >= static_cast<double>(n)) return -kInf;
  return x[static_cast<int64_t>(id)] - sums.most - sums.log_sum;
}

// One row of y; `x` has been loaded.
void RowOf(const hy_log_softmax_args& args, int64_t row, const double* x, const Sums& sums,
           double* y, hy_status* status) {
  const int64_t n = args.x.shape[1];
  for (int64_t j = 0; j < args.y.shape[1]; ++j) {
    const bool named = hy_tensor_present(&args.ids);
    const double id =
        named ? LoadElement(args.ids, hy_tensor_row(&args.ids, row), j) : static_cast<double>(j);
    y[j] = Named(n, x, sums, id, status);
  }
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, Args(raw).x.shape[1] + Args(raw).y.shape[1]);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_log_softmax_args& args = Args(raw);
  const int64_t n = args.x.shape[1];
  const int64_t k = args.y.shape[1];
  double* x = ScratchSlice(*context, n + k);
  hy_status status = HY_OK;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && k > 0; ++row) {
    LoadRow(args.x, row, x);
    RowOf(args, row, x, SumsOf(n, x), x + n, &status);
    StoreRow(args.y, row, x + n);
  }
  return status;
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_log_softmax_args& args = Args(raw);
  const auto n = static_cast<size_t>(args.x.shape[1]);
  const auto k = static_cast<size_t>(args.y.shape[1]);
  ExpectedOutput y(2);
  std::vector<double> x(n);
  std::vector<double> row_y(k);
  const size_t step = 1 + n / 256;
  for (int64_t row = 0; row < args.x.shape[0] && k > 0; ++row) {
    LoadRow(args.x, row, x.data());
    const Sums sums = SumsOf(args.x.shape[1], x.data());
    RowOf(args, row, x.data(), sums, row_y.data(), &out->status);
    const double shared = 2 * std::abs(sums.log_sum) + 2 * sums.mean_below + 8 +
                          4 * std::sqrt(static_cast<double>(n));
    double least = kInf;
    for (const double value : row_y) {
      const double below = std::abs(value + sums.log_sum);
      y.value.push_back(value);
      y.bound.push_back(std::isfinite(value) ? kU * (2 * below + shared) : 0);
      if (std::isfinite(value)) least = std::min(least, y.bound.back());
    }
    for (size_t c = 0; c < n && n > 1; c += step)
      CountTerm(std::exp(x[c] - sums.most - sums.log_sum), least, out);
  }
  AddStorageBound(args.y, &y);
  if (numerics.flags & HY_KERNEL_FTZ) AllowFlush(args.y, &y);
  out->outputs.push_back(std::move(y));
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_LOG_SOFTMAX_VERSION,
    .id = "log_softmax/any/reference@halyard",
    .op = "log_softmax",
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

HALYARD_REFERENCE(log_softmax, halyard::reference::kKernel, halyard::reference::Expect)
