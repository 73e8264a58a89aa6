// SPDX-License-Identifier: Apache-2.0
#include "ops/get_rows/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_get_rows_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_get_rows_args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.Operand("table", args.table, 2, kFloats | kWeightFormats);
  check.Operand("rows", args.rows, 1, kI32);
  check.Operand("y", args.y, 2, kFloats);
  check.Size("y", args.y, 0, args.rows.shape[0], "the indices in rows");
  check.Size("y", args.y, 1, hy_tensor_cols(&args.table), "the columns of table");
  check.Apart("y", args.y, "table", args.table);
  check.Apart("y", args.y, "rows", args.rows);
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_get_rows_args*>(raw);
  if (hy_type_is_float(args.table.type)) return 0;
  return static_cast<uint64_t>(hy_tensor_rows(&args.y) * hy_tensor_cols(&args.y));
}

// The rows of the table that are read, not all of it.
uint64_t Bytes(const void* raw) {
  const auto& args = *static_cast<const hy_get_rows_args*>(raw);
  const auto rows = static_cast<uint64_t>(args.rows.shape[0]);
  return rows * (4 + hy_type_row_bytes(args.table.type, hy_tensor_cols(&args.table))) +
         TensorBytes(args.y);
}

constexpr hy_operand kOperands[] = {
    {"table", offsetof(hy_get_rows_args, table),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_WEIGHTS},
    {"rows", offsetof(hy_get_rows_args, rows), HY_OPERAND_READ | HY_OPERAND_SLICE(0, 1)},
    {"y", offsetof(hy_get_rows_args, y),
     HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(get_rows, hy_get_rows_args, HY_GET_ROWS_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, halyard::ops::Bytes)
