// SPDX-License-Identifier: Apache-2.0
#include "ops/scale/contract.h"

#include <utility>
#include <vector>

#include "reference/binary.h"

namespace halyard::reference {
namespace {

const hy_scale_args& Args(const void* raw) { return *static_cast<const hy_scale_args*>(raw); }

void ScaleRow(const hy_scale_args& args, int64_t row, double* y) {
  LoadRow(args.x, row, y);
  for (int64_t c = 0; c < hy_tensor_cols(&args.x); ++c)
    y[c] = RoundTo(HY_TYPE_F32, y[c] * static_cast<double>(args.factor));
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, hy_tensor_cols(&Args(raw).x));
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_scale_args& args = Args(raw);
  const int64_t cols = hy_tensor_cols(&args.x);
  double* y = ScratchSlice(*context, cols);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(&args.x), 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && cols > 0; ++row) {
    ScaleRow(args, row, y);
    StoreRow(args.y, row, y);
  }
  return HY_OK;
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_scale_args& args = Args(raw);
  ExpectedOutput y(1);
  std::vector<double> row_y(static_cast<size_t>(hy_tensor_cols(&args.x)));
  for (int64_t row = 0; row < hy_tensor_rows(&args.x) && !row_y.empty(); ++row) {
    ScaleRow(args, row, row_y.data());
    y.value.insert(y.value.end(), row_y.begin(), row_y.end());
  }
  ExpectExact(args.y, numerics, std::move(y), out);
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_SCALE_VERSION,
    .id = "scale/any/reference@halyard",
    .op = "scale",
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

HALYARD_REFERENCE(scale, halyard::reference::kKernel, halyard::reference::Expect)
