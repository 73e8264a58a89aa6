// SPDX-License-Identifier: Apache-2.0
#include "ops/log_softmax/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_log_softmax_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_log_softmax_args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.Operand("x", args.x, 2, kFloats);
  check.Operand("y", args.y, 2, kF32);
  if (check.Optional("ids", args.ids, 2, kI32)) {
    check.Size("ids", args.ids, 0, args.x.shape[0], "the rows of x");
    check.SameShape("y", args.y, "ids", args.ids);
    check.Apart("y", args.y, "x", args.x);
    check.Apart("y", args.y, "ids", args.ids);
  } else {
    check.SameShape("y", args.y, "x", args.x);
    check.MayBeInPlace("y", args.y, "x", args.x);
  }
  return check.Finish();
}

// The exponential counts as ten operations.
uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_log_softmax_args*>(raw);
  return 13 * static_cast<uint64_t>(hy_tensor_rows(&args.x) * hy_tensor_cols(&args.x)) +
         2 * static_cast<uint64_t>(hy_tensor_rows(&args.y) * hy_tensor_cols(&args.y));
}

constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_log_softmax_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | HY_OPERAND_SLICE(0, 2)},
    {"ids", offsetof(hy_log_softmax_args, ids),
     HY_OPERAND_READ | HY_OPERAND_OPTIONAL | HY_OPERAND_SLICE(0, 2)},
    {"y", offsetof(hy_log_softmax_args, y), HY_OPERAND_WRITE | HY_OPERAND_SLICE(0, 2)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(log_softmax, hy_log_softmax_args, HY_LOG_SOFTMAX_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, nullptr)
