// SPDX-License-Identifier: Apache-2.0
#include "ops/top_k/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_top_k_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_top_k_args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.Operand("x", args.x, 2, kFloats);
  check.Operand("values", args.values, 2, kF32);
  check.Size("values", args.values, 0, args.x.shape[0], "the rows of x");
  check.Operand("ids", args.ids, 2, kI32);
  check.SameShape("ids", args.ids, "values", args.values);
  check.Require(args.x.shape[1] <= INT32_MAX, "x has more columns than an i32 can number");
  check.Apart("values", args.values, "x", args.x);
  check.Apart("ids", args.ids, "x", args.x);
  check.Apart("ids", args.ids, "values", args.values);
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_top_k_args*>(raw);
  return static_cast<uint64_t>(hy_tensor_rows(&args.x) * hy_tensor_cols(&args.x));
}

constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_top_k_args, x), HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
    {"values", offsetof(hy_top_k_args, values), HY_OPERAND_WRITE | HY_OPERAND_SLICE(0, 2)},
    {"ids", offsetof(hy_top_k_args, ids), HY_OPERAND_WRITE | HY_OPERAND_SLICE(0, 2)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(top_k, hy_top_k_args, HY_TOP_K_VERSION, halyard::ops::kOperands, halyard::ops::Validate,
           halyard::ops::Flops, nullptr)
