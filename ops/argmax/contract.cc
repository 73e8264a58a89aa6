// SPDX-License-Identifier: Apache-2.0
#include "ops/argmax/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_argmax_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_argmax_args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.Operand("x", args.x, 2, kFloats);
  check.Operand("y", args.y, 1, kI32);
  check.Size("y", args.y, 0, args.x.shape[0], "the rows of x");
  check.Require(args.x.shape[1] <= INT32_MAX, "x has more columns than an i32 can number");
  check.Apart("y", args.y, "x", args.x);
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_argmax_args*>(raw);
  return static_cast<uint64_t>(hy_tensor_rows(&args.x) * hy_tensor_cols(&args.x));
}

constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_argmax_args, x), HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
    {"y", offsetof(hy_argmax_args, y), HY_OPERAND_WRITE | HY_OPERAND_SLICE(0, 1)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(argmax, hy_argmax_args, HY_ARGMAX_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, nullptr)
