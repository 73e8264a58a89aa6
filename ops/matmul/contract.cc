// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/contract.h"

#include "ops/contract_check.h"
#include "ops/matmul/activation.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

void CheckShapes(ContractCheck* check, const hy_matmul_args& args) {
  const uint32_t rank = args.x.rank;
  const uint32_t w_rank = args.w.rank;
  check->Size("w", args.w, w_rank - 1, hy_tensor_cols(&args.x), "the columns of x");
  check->Size("y", args.y, rank - 1, args.w.shape[w_rank - 2], "the rows of w");
  check->Size("y", args.y, rank - 2, args.x.shape[rank - 2], "the rows of x");
  if (rank == 3) {
    check->Size("y", args.y, 0, args.x.shape[0], "the batches of x");
    check->Require(w_rank == 2 || args.w.shape[0] == 1 || args.w.shape[0] == args.x.shape[0],
                   "w: shape[0] must be 1 or the batches of x");
  }
  if (check->Optional("bias", args.bias, 1, kF32)) {
    check->Size("bias", args.bias, 0, args.w.shape[w_rank - 2], "the rows of w");
    check->Apart("y", args.y, "bias", args.bias);
  }
}

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_matmul_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_matmul_args*>(raw);
  check.OperandOfAnyRank("x", args.x, kFloats | kA8);
  check.Require(args.x.rank == 2 || args.x.rank == 3, "x: rank must be 2 or 3");
  check.Weights("w", args.w, args.w.rank == 2 ? 2 : args.x.rank, kFloats | kWeightFormats);
  check.Operand("y", args.y, args.x.rank, kFloats);
  if (!check.ok()) return check.Finish();
  CheckActivation(&check, args.activation, args.x);
  CheckShapes(&check, args);
  check.Apart("y", args.y, "x", args.x);
  check.Apart("y", args.y, "w", args.w);
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_matmul_args*>(raw);
  return 2 * static_cast<uint64_t>(hy_tensor_rows(&args.x)) *
         static_cast<uint64_t>(hy_tensor_cols(&args.x)) *
         static_cast<uint64_t>(hy_tensor_cols(&args.y));
}

constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_matmul_args, x), HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
    {"w", offsetof(hy_matmul_args, w),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_WEIGHTS | HY_OPERAND_SLICE(1, 2)},
    {"bias", offsetof(hy_matmul_args, bias),
     HY_OPERAND_READ | HY_OPERAND_OPTIONAL | HY_OPERAND_WEIGHTS | HY_OPERAND_SLICE(1, 1)},
    {"y", offsetof(hy_matmul_args, y),
     HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2) | HY_OPERAND_SLICE(1, 1)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP_WITH_ACTIVATION(matmul, hy_matmul_args, HY_MATMUL_VERSION, halyard::ops::kOperands,
                           halyard::ops::Validate, halyard::ops::Flops, nullptr,
                           offsetof(hy_matmul_args, activation))
