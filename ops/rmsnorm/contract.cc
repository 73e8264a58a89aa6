// SPDX-License-Identifier: Apache-2.0
#include "ops/rmsnorm/contract.h"

#include <cmath>

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_rmsnorm_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  check.Require(std::isfinite(args.eps) && args.eps >= 0, "eps must be finite and not negative");
  check.Operand("x", args.x, 2, kFloats);
  check.Operand("y", args.y, 2, kFloats | kA8);
  check.SameShape("y", args.y, "x", args.x);
  check.Require(args.y.type == args.x.type || args.y.type == HY_TYPE_F32 || kA8.Has(args.y.type),
                "y must be f32, of x's type, or quantised activations");
  check.MayBeInPlace("y", args.y, "x", args.x);
  if (check.Optional("w", args.w, 1, kF32)) {
    check.Size("w", args.w, 0, hy_tensor_cols(&args.x), "the columns of x");
    check.Apart("y", args.y, "w", args.w);
  }
  if (check.Optional("add", args.add, 2, kFloats)) {
    check.SameShape("add", args.add, "x", args.x);
    check.SameType("add", args.add, "x", args.x);
    check.Apart("y", args.y, "add", args.add);
  }
  if (check.Optional("sum", args.sum, 2, kFloats)) {
    check.Require(hy_tensor_present(&args.add), "sum needs add: leave it out, or give both");
    check.SameShape("sum", args.sum, "x", args.x);
    check.SameType("sum", args.sum, "x", args.x);
    check.MayBeInPlace("sum", args.sum, "x", args.x);
    check.MayBeInPlace("sum", args.sum, "add", args.add);
    check.Apart("sum", args.sum, "y", args.y);
    check.Apart("sum", args.sum, "w", args.w);
  }
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  const uint64_t per_element = hy_tensor_present(&args.add) ? 5 : 4;
  return per_element * static_cast<uint64_t>(hy_tensor_rows(&args.x) * hy_tensor_cols(&args.x));
}

constexpr uint32_t kRows = HY_OPERAND_SLICE(0, 2);
constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_rmsnorm_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | kRows},
    {"add", offsetof(hy_rmsnorm_args, add), HY_OPERAND_READ | HY_OPERAND_OPTIONAL | kRows},
    {"w", offsetof(hy_rmsnorm_args, w), HY_OPERAND_READ | HY_OPERAND_OPTIONAL},
    {"y", offsetof(hy_rmsnorm_args, y), HY_OPERAND_WRITE | HY_OPERAND_TYPED | kRows},
    {"sum", offsetof(hy_rmsnorm_args, sum), HY_OPERAND_WRITE | HY_OPERAND_OPTIONAL | kRows},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(rmsnorm, hy_rmsnorm_args, HY_RMSNORM_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, nullptr)
