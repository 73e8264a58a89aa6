// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul_id/contract.h"

#include "ops/contract_check.h"
#include "ops/matmul/activation.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

void CheckShapes(ContractCheck* check, const hy_matmul_id_args& args) {
  check->Size("w", args.w, 2, hy_tensor_cols(&args.x), "the columns of x");
  check->Size("ids", args.ids, 0, args.x.shape[0], "the tokens of x");
  if (args.x.rank == 3) check->Size("x", args.x, 1, args.ids.shape[1], "the columns of ids");
  check->Size("y", args.y, 0, args.ids.shape[0], "the rows of ids");
  check->Size("y", args.y, 1, args.ids.shape[1], "the columns of ids");
  check->Size("y", args.y, 2, args.w.shape[1], "the rows of each expert");
}

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_matmul_id_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_matmul_id_args*>(raw);
  check.OperandOfAnyRank("x", args.x, kFloats | kA8);
  check.Require(args.x.rank == 2 || args.x.rank == 3, "x: rank must be 2 or 3");
  check.Weights("w", args.w, 3, kFloats | kWeightFormats);
  check.Operand("ids", args.ids, 2, kI32);
  check.Operand("y", args.y, 3, kFloats);
  if (!check.ok()) return check.Finish();
  CheckActivation(&check, args.activation, args.x);
  CheckShapes(&check, args);
  check.Apart("y", args.y, "x", args.x);
  check.Apart("y", args.y, "w", args.w);
  check.Apart("y", args.y, "ids", args.ids);
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_matmul_id_args*>(raw);
  return 2 * static_cast<uint64_t>(hy_tensor_rows(&args.y)) *
         static_cast<uint64_t>(hy_tensor_cols(&args.y)) *
         static_cast<uint64_t>(hy_tensor_cols(&args.x));
}

// Rows are no slice group: x has its tokens along an axis that depends on its rank.
constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_matmul_id_args, x), HY_OPERAND_READ | HY_OPERAND_TYPED},
    {"w", offsetof(hy_matmul_id_args, w),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_WEIGHTS | HY_OPERAND_SLICE(1, 2)},
    {"ids", offsetof(hy_matmul_id_args, ids), HY_OPERAND_READ},
    {"y", offsetof(hy_matmul_id_args, y),
     HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(1, 1)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP_WITH_ACTIVATION(matmul_id, hy_matmul_id_args, HY_MATMUL_ID_VERSION,
                           halyard::ops::kOperands, halyard::ops::Validate, halyard::ops::Flops,
                           nullptr, offsetof(hy_matmul_id_args, activation))
