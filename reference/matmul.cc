// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/contract.h"

#include <algorithm>

#include "reference/contraction.h"
#include "reference/reference.h"

namespace halyard::reference {
namespace {

constexpr int64_t kRows = 8;  // of x that share each decoded row of weights

const hy_matmul_args& Args(const void* raw) { return *static_cast<const hy_matmul_args*>(raw); }

int64_t Batches(const hy_matmul_args& args) { return args.x.rank == 3 ? args.x.shape[0] : 1; }
int64_t BatchRows(const hy_matmul_args& args) { return args.x.shape[args.x.rank - 2]; }

// First row of the weights of a batch.
int64_t WeightsRow(const hy_matmul_args& args, int64_t batch) {
  const bool own = args.w.rank == 3 && args.w.shape[0] > 1;
  return own ? batch * args.w.shape[1] : 0;
}

double Bias(const hy_matmul_args& args, int64_t column) {
  return hy_tensor_present(&args.bias) ? LoadElement(args.bias, args.bias.data, column) : 0;
}

int64_t Slice(const hy_matmul_args& args) {
  const int64_t cols = hy_tensor_cols(&args.x);
  return (kRows + 1) * cols + ActivationTemporaries(cols);
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, Slice(Args(raw)));
}

double Dot(const double* a, const double* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// Rows [first, first + rows) of one batch against this worker's columns.
void RunRows(const hy_matmul_args& args, const hy_kernel_context& context, int64_t batch,
             int64_t first, int64_t rows) {
  const int64_t cols = hy_tensor_cols(&args.x);
  const uint32_t activation = ActivationClass(args.activation, HY_QA_ANY, args.x.type);
  double* x = ScratchSlice(context, Slice(args));
  double* w = x + kRows * cols;
  const int64_t row = batch * BatchRows(args) + first;
  for (int64_t r = 0; r < rows && cols > 0; ++r)
    LoadActivations(args.x, row + r, activation, w + cols, x + r * cols);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_cols(&args.y), 1, context.index, context.count, &begin, &end);
  for (int64_t n = begin; n < end; ++n) {
    if (cols > 0) LoadRow(args.w, WeightsRow(args, batch) + n, w);
    for (int64_t r = 0; r < rows; ++r) {
      StoreElement(args.y, hy_tensor_row(&args.y, row + r), n,
                   Dot(x + r * cols, w, cols) + Bias(args, n));
    }
  }
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_matmul_args& args = Args(raw);
  for (int64_t batch = 0; batch < Batches(args); ++batch) {
    for (int64_t first = 0; first < BatchRows(args); first += kRows)
      RunRows(args, *context, batch, first, std::min(kRows, BatchRows(args) - first));
  }
  return HY_OK;
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_matmul_args& args = Args(raw);
  const auto rows = static_cast<size_t>(hy_tensor_rows(&args.x));
  const auto columns = static_cast<size_t>(hy_tensor_cols(&args.y));
  const uint32_t activation = ActivationClass(args.activation, numerics.activation, args.x.type);
  std::vector<Terms> x(rows);
  for (size_t r = 0; r < rows && columns > 0; ++r)
    x[r].LoadInput(args.x, static_cast<int64_t>(r), activation);
  ContractionJudge judge(numerics, activation, args.x, args.w.type, args.y);
  Terms w;
  const auto batch_rows = static_cast<size_t>(BatchRows(args));
  for (size_t first = 0; first < rows; first += batch_rows) {
    const auto batch = static_cast<int64_t>(first / batch_rows);
    for (size_t n = 0; n < columns; ++n) {
      const auto column = static_cast<int64_t>(n);
      w.LoadWeights(args.w, WeightsRow(args, batch) + column);
      for (size_t r = first; r < first + batch_rows; ++r)
        judge.Set(r * columns + n, x[r], w, Bias(args, column));
    }
  }
  judge.Finish(3, out);
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_MATMUL_VERSION,
    .id = "matmul/any/reference@halyard",
    .op = "matmul",
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

HALYARD_REFERENCE(matmul, halyard::reference::kKernel, halyard::reference::Expect)
