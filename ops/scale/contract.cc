// SPDX-License-Identifier: Apache-2.0
#include "ops/scale/contract.h"

#include <cmath>

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_scale_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_scale_args*>(raw);
  check.Require(std::isfinite(args.factor), "factor must be finite");
  check.OperandOfAnyRank("x", args.x, kFloats);
  check.OperandOfAnyRank("y", args.y, kFloats);
  check.SameShape("y", args.y, "x", args.x);
  check.Require(args.y.type == args.x.type || args.y.type == HY_TYPE_F32,
                "y must be f32 or of the type of x");
  check.MayBeInPlace("y", args.y, "x", args.x);
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_scale_args*>(raw);
  return static_cast<uint64_t>(hy_tensor_rows(&args.x) * hy_tensor_cols(&args.x));
}

constexpr uint32_t kSlices = HY_OPERAND_SLICE(0, 2) | HY_OPERAND_SLICE(1, 1);
constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_scale_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | kSlices},
    {"y", offsetof(hy_scale_args, y), HY_OPERAND_WRITE | HY_OPERAND_TYPED | kSlices},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(scale, hy_scale_args, HY_SCALE_VERSION, halyard::ops::kOperands, halyard::ops::Validate,
           halyard::ops::Flops, nullptr)
