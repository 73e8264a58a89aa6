// SPDX-License-Identifier: Apache-2.0
#include "ops/top_k/contract.h"

#include <limits>
#include <utility>
#include <vector>

#include "reference/ranking.h"
#include "reference/reference.h"

namespace halyard::reference {
namespace {

const hy_top_k_args& Args(const void* raw) { return *static_cast<const hy_top_k_args*>(raw); }

// Values and ids of a row, from all of its elements `x` in `columns`' order.
void TakeFirst(const hy_top_k_args& args, bool ranked, const double* x, const int64_t* columns,
               double* values, double* ids) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (int64_t j = 0; j < args.values.shape[1]; ++j) {
    const bool there = ranked && j < args.x.shape[1];
    values[j] = there ? x[columns[j]] : ranked ? -kInf : kNan;
    ids[j] = there ? static_cast<double>(columns[j]) : -1;
  }
}

int64_t Room(const hy_top_k_args& args) { return 2 * args.x.shape[1] + 2 * args.values.shape[1]; }

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, Room(Args(raw)));
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  static_assert(sizeof(int64_t) == sizeof(double));
  const hy_top_k_args& args = Args(raw);
  const int64_t n = args.x.shape[1];
  const int64_t k = args.values.shape[1];
  double* x = ScratchSlice(*context, Room(args));
  auto* columns = reinterpret_cast<int64_t*>(x + n);
  double* values = x + 2 * n;
  hy_status status = HY_OK;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && k > 0; ++row) {
    LoadRow(args.x, row, x);
    const bool ranked = RankColumns(x, n, columns);
    if (!ranked) status = HY_INVALID_ARGUMENT;
    TakeFirst(args, ranked, x, columns, values, values + k);
    StoreRow(args.values, row, values);
    StoreRow(args.ids, row, values + k);
  }
  return status;
}

absl::Status Expect(const void* raw, const Numerics& /*numerics*/, Expected* out) {
  const hy_top_k_args& args = Args(raw);
  const int64_t n = args.x.shape[1];
  const auto k = static_cast<size_t>(args.values.shape[1]);
  ExpectedOutput values(1);
  ExpectedOutput ids(2);
  values.exact = ids.exact = true;
  std::vector<double> x(static_cast<size_t>(n));
  std::vector<int64_t> columns(static_cast<size_t>(n));
  std::vector<double> row_values(k);
  std::vector<double> row_ids(k);
  for (int64_t row = 0; row < args.x.shape[0] && k > 0; ++row) {
    LoadRow(args.x, row, x.data());
    const bool ranked = RankColumns(x.data(), n, columns.data());
    if (!ranked) out->status = HY_INVALID_ARGUMENT;
    TakeFirst(args, ranked, x.data(), columns.data(), row_values.data(), row_ids.data());
    values.value.insert(values.value.end(), row_values.begin(), row_values.end());
    ids.value.insert(ids.value.end(), row_ids.begin(), row_ids.end());
  }
  values.bound.assign(values.value.size(), 0);
  ids.bound.assign(ids.value.size(), 0);
  out->outputs.push_back(std::move(values));
  out->outputs.push_back(std::move(ids));
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_TOP_K_VERSION,
    .id = "top_k/any/reference@halyard",
    .op = "top_k",
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

HALYARD_REFERENCE(top_k, halyard::reference::kKernel, halyard::reference::Expect)
