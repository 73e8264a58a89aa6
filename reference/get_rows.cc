// SPDX-License-Identifier: Apache-2.0
#include "ops/get_rows/contract.h"

#include <cstring>
#include <utility>

#include "reference/moves.h"
#include "reference/reference.h"

namespace halyard::reference {
namespace {

const hy_get_rows_args& Args(const void* raw) { return *static_cast<const hy_get_rows_args*>(raw); }

bool Within(const hy_get_rows_args& args, int64_t t) {
  const int32_t row = static_cast<const int32_t*>(args.rows.data)[t];
  return row >= 0 && row < args.table.shape[0];
}

int64_t RowAt(const hy_get_rows_args& args, int64_t t) {
  return static_cast<const int32_t*>(args.rows.data)[t];
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return MoveScratch(workers, Args(raw).y.shape[1]);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_get_rows_args& args = Args(raw);
  const int64_t cols = args.y.shape[1];
  hy_status status = HY_OK;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.y.shape[0], 1, context->index, context->count, &begin, &end);
  for (int64_t t = begin; t < end && cols > 0; ++t) {
    if (Within(args, t)) {
      MoveRow(args.table, RowAt(args, t), args.y, t, MoveRoom(*context, cols));
    } else {
      std::memset(hy_tensor_row(&args.y, t), 0, hy_type_row_bytes(args.y.type, cols));
      status = HY_OUT_OF_RANGE;
    }
  }
  return status;
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_get_rows_args& args = Args(raw);
  const auto cols = static_cast<size_t>(args.y.shape[1]);
  ExpectedOutput y(2);
  for (int64_t t = 0; t < args.y.shape[0] && cols > 0; ++t) {
    if (Within(args, t)) {
      ExpectMovedRow(args.table, RowAt(args, t), args.y, &y);
      continue;
    }
    out->status = HY_OUT_OF_RANGE;
    if (args.table.type == args.y.type) {
      y.bytes.resize(y.bytes.size() + hy_type_row_bytes(args.y.type, args.y.shape[1]));
    } else {
      y.value.resize(y.value.size() + cols);
    }
  }
  ExpectMovedOutput(args.y, numerics, std::move(y), out);
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_GET_ROWS_VERSION,
    .id = "get_rows/any/reference@halyard",
    .op = "get_rows",
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

HALYARD_REFERENCE(get_rows, halyard::reference::kKernel, halyard::reference::Expect)
