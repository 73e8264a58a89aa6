// SPDX-License-Identifier: Apache-2.0
#include "ops/rmsnorm/contract.h"

#include <cmath>
#include <utility>
#include <vector>

#include "reference/binary.h"
#include "reference/row_power.h"

namespace halyard::reference {
namespace {

const hy_rmsnorm_args& Args(const void* raw) { return *static_cast<const hy_rmsnorm_args*>(raw); }

// What is normalised, of one row: x, or the residual sum as it is stored. `s` has room for two rows.
void LoadSum(const hy_rmsnorm_args& args, int64_t row, double* s) {
  const int64_t cols = hy_tensor_cols(&args.x);
  LoadRow(args.x, row, s);
  if (!hy_tensor_present(&args.add)) return;
  double* add = s + cols;
  LoadRow(args.add, row, add);
  for (int64_t c = 0; c < cols; ++c) {
    s[c] += add[c];
    if (hy_tensor_present(&args.sum)) s[c] = RoundTo(args.sum.type, s[c]);
  }
}

// y of one row, unrounded.
void Normalise(const hy_rmsnorm_args& args, const double* s, double* y) {
  const int64_t cols = hy_tensor_cols(&args.x);
  double squares = 0;
  for (int64_t c = 0; c < cols; ++c) squares += s[c] * s[c];
  const double scale =
      1.0 / std::sqrt(squares / static_cast<double>(cols) + static_cast<double>(args.eps));
  for (int64_t c = 0; c < cols; ++c) {
    const double w = hy_tensor_present(&args.w) ? LoadElement(args.w, args.w.data, c) : 1.0;
    y[c] = s[c] * scale * w;
  }
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, 3 * hy_tensor_cols(&Args(raw).x));
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_rmsnorm_args& args = Args(raw);
  const int64_t cols = hy_tensor_cols(&args.x);
  double* s = ScratchSlice(*context, 3 * cols);
  double* y = s + 2 * cols;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && cols > 0; ++row) {
    LoadSum(args, row, s);
    Normalise(args, s, y);
    if (hy_tensor_present(&args.sum)) StoreRow(args.sum, row, s);
    StoreRow(args.y, row, y);
  }
  return HY_OK;
}

// An element left out of the sum moves all outputs of its row.
void CountTerms(const std::vector<double>& s, const ExpectedOutput& y, size_t cols, Expected* out) {
  const size_t step = 1 + cols / 256;
  for (size_t first = 0; first < s.size() && cols > 1; first += cols) {
    double squares = 0;
    for (size_t c = 0; c < cols; ++c) squares += s[first + c] * s[first + c];
    const double least = LeastRelativeBound(y, first, cols);
    for (size_t c = 0; c < cols; c += step)
      CountTerm(s[first + c] * s[first + c] / squares / 2, least, out);
  }
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_rmsnorm_args& args = Args(raw);
  const int64_t rows = args.x.shape[0];
  const auto cols = static_cast<size_t>(hy_tensor_cols(&args.x));
  constexpr double u = 0x1p-24;
  ExpectedOutput y(3);
  ExpectedOutput sum(4);
  std::vector<double> s(2 * cols);
  std::vector<double> row_y(cols);
  for (int64_t row = 0; row < rows && cols > 0; ++row) {
    LoadSum(args, row, s.data());
    Normalise(args, s.data(), row_y.data());
    sum.value.insert(sum.value.end(), s.data(), s.data() + cols);
    for (const double value : row_y) {
      y.value.push_back(value);
      y.bound.push_back(std::abs(value) * u * (2 * std::sqrt(static_cast<double>(cols)) + 5));
    }
  }
  AddStorageBound(args.y, &y);
  if (numerics.flags & HY_KERNEL_FTZ) AllowFlush(args.y, &y);
  CountTerms(sum.value, y, cols, out);
  out->outputs.push_back(std::move(y));
  if (hy_tensor_present(&args.sum)) ExpectExact(args.sum, numerics, std::move(sum), out);
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_RMSNORM_VERSION,
    .id = "rmsnorm/any/reference@halyard",
    .op = "rmsnorm",
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

HALYARD_REFERENCE(rmsnorm, halyard::reference::kKernel, halyard::reference::Expect)
