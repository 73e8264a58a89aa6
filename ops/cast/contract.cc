// SPDX-License-Identifier: Apache-2.0
#include "ops/cast/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_cast_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_cast_args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.OperandOfAnyRank("x", args.x, kFloats);
  check.OperandOfAnyRank("y", args.y, kFloats);
  check.SameShape("y", args.y, "x", args.x);
  check.MayBeInPlace("y", args.y, "x", args.x);
  return check.Finish();
}

uint64_t Flops(const void*) { return 0; }

constexpr uint32_t kSlices = HY_OPERAND_SLICE(0, 2) | HY_OPERAND_SLICE(1, 1);
constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_cast_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | kSlices},
    {"y", offsetof(hy_cast_args, y), HY_OPERAND_WRITE | HY_OPERAND_TYPED | kSlices},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(cast, hy_cast_args, HY_CAST_VERSION, halyard::ops::kOperands, halyard::ops::Validate,
           halyard::ops::Flops, nullptr)
