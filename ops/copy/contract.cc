// SPDX-License-Identifier: Apache-2.0
#include "ops/copy/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

constexpr TypeSet kAll = kFloats | kI32 | TypeSet{HY_TYPE_I8} | kWeightFormats | kA8;

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_copy_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_copy_args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.OperandOfAnyRank("x", args.x, kAll);
  check.OperandOfAnyRank("y", args.y, kAll);
  check.SameType("y", args.y, "x", args.x);
  check.SameShape("y", args.y, "x", args.x);
  check.MayBeInPlace("y", args.y, "x", args.x);
  return check.Finish();
}

uint64_t Flops(const void*) { return 0; }

// Rows of formats cannot be cut into columns.
constexpr uint32_t kSlices = HY_OPERAND_SLICE(0, 2);
constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_copy_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | kSlices},
    {"y", offsetof(hy_copy_args, y), HY_OPERAND_WRITE | HY_OPERAND_TYPED | kSlices},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(copy, hy_copy_args, HY_COPY_VERSION, halyard::ops::kOperands, halyard::ops::Validate,
           halyard::ops::Flops, nullptr)
