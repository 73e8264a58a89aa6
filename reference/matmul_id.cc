// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul_id/contract.h"

#include "reference/contraction.h"
#include "reference/reference.h"

namespace halyard::reference {
namespace {

const hy_matmul_id_args& Args(const void* raw) {
  return *static_cast<const hy_matmul_id_args*>(raw);
}

int64_t Choices(const hy_matmul_id_args& args) { return args.ids.shape[1]; }
int64_t Outputs(const hy_matmul_id_args& args) { return args.ids.shape[0] * Choices(args); }

// Expert of row `row` of y; -1: zeros. Sets `wrong` if the id names none.
int64_t ExpertOf(const hy_matmul_id_args& args, int64_t row, bool* wrong) {
  const void* ids = hy_tensor_row(&args.ids, row / Choices(args));
  const auto id = static_cast<int64_t>(LoadElement(args.ids, ids, row % Choices(args)));
  if (id >= args.w.shape[0]) *wrong = true;
  return id < 0 || id >= args.w.shape[0] ? -1 : id;
}

int64_t InputRow(const hy_matmul_id_args& args, int64_t row) {
  return args.x.rank == 2 ? row / Choices(args) : row;
}

int64_t Slice(const hy_matmul_id_args& args) {
  const int64_t cols = hy_tensor_cols(&args.x);
  return 2 * cols + ActivationTemporaries(cols);
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, Slice(Args(raw)));
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_matmul_id_args& args = Args(raw);
  const int64_t cols = hy_tensor_cols(&args.x);
  const uint32_t activation = ActivationClass(args.activation, HY_QA_ANY, args.x.type);
  double* x = ScratchSlice(*context, Slice(args));
  double* w = x + cols;
  int64_t begin = 0;
  int64_t end = 0;
  bool wrong = false;
  hy_split(args.w.shape[1], 1, context->index, context->count, &begin, &end);
  for (int64_t row = 0; row < Outputs(args); ++row) {
    const int64_t expert = ExpertOf(args, row, &wrong);
    if (expert >= 0 && begin < end && cols > 0)
      LoadActivations(args.x, InputRow(args, row), activation, w + cols, x);
    for (int64_t n = begin; n < end; ++n) {
      double sum = 0;
      if (expert >= 0 && cols > 0) LoadRow(args.w, expert * args.w.shape[1] + n, w);
      for (int64_t k = 0; k < cols && expert >= 0; ++k) sum += x[k] * w[k];
      StoreElement(args.y, hy_tensor_row(&args.y, row), n, sum);
    }
  }
  return wrong ? HY_OUT_OF_RANGE : HY_OK;
}

// Rows of y of one expert, so that its weights are decoded once.
void ExpectExpert(const hy_matmul_id_args& args, int64_t expert, uint32_t activation,
                  const std::vector<int64_t>& rows, ContractionJudge* judge) {
  const int64_t columns = args.w.shape[1];
  std::vector<Terms> x(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    x[i].LoadInput(args.x, InputRow(args, rows[i]), activation);
  Terms w;
  for (int64_t n = 0; n < columns && !rows.empty(); ++n) {
    w.LoadWeights(args.w, expert * columns + n);
    for (size_t i = 0; i < rows.size(); ++i)
      judge->Set(static_cast<size_t>(rows[i] * columns + n), x[i], w, 0);
  }
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_matmul_id_args& args = Args(raw);
  const uint32_t activation = ActivationClass(args.activation, numerics.activation, args.x.type);
  ContractionJudge judge(numerics, activation, args.x, args.w.type, args.y);
  std::vector<std::vector<int64_t>> rows_of(static_cast<size_t>(args.w.shape[0]));
  bool wrong = false;
  for (int64_t row = 0; row < Outputs(args); ++row) {
    const int64_t expert = ExpertOf(args, row, &wrong);
    if (expert >= 0) rows_of[static_cast<size_t>(expert)].push_back(row);
  }
  for (size_t e = 0; e < rows_of.size(); ++e)
    ExpectExpert(args, static_cast<int64_t>(e), activation, rows_of[e], &judge);
  judge.Finish(3, out);
  out->status = wrong ? HY_OUT_OF_RANGE : HY_OK;
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_MATMUL_ID_VERSION,
    .id = "matmul_id/any/reference@halyard",
    .op = "matmul_id",
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

HALYARD_REFERENCE(matmul_id, halyard::reference::kKernel, halyard::reference::Expect)
