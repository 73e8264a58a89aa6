// SPDX-License-Identifier: Apache-2.0
#include "ops/cast/contract.h"

#include <utility>

#include "reference/moves.h"
#include "reference/reference.h"

namespace halyard::reference {
namespace {

const hy_cast_args& Args(const void* raw) { return *static_cast<const hy_cast_args*>(raw); }

uint64_t Scratch(const void* raw, uint32_t workers) {
  return MoveScratch(workers, hy_tensor_cols(&Args(raw).x));
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_cast_args& args = Args(raw);
  const int64_t cols = hy_tensor_cols(&args.x);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(&args.x), 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && cols > 0; ++row)
    MoveRow(args.x, row, args.y, row, MoveRoom(*context, cols));
  return HY_OK;
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_cast_args& args = Args(raw);
  ExpectedOutput y(1);
  for (int64_t row = 0; row < hy_tensor_rows(&args.x); ++row)
    ExpectMovedRow(args.x, row, args.y, &y);
  ExpectMovedOutput(args.y, numerics, std::move(y), out);
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_CAST_VERSION,
    .id = "cast/any/reference@halyard",
    .op = "cast",
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

HALYARD_REFERENCE(cast, halyard::reference::kKernel, halyard::reference::Expect)
