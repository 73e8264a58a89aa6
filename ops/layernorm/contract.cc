// SPDX-License-Identifier: Apache-2.0
#include "ops/layernorm/contract.h"

#include <cmath>

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_layernorm_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_layernorm_args*>(raw);
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
  if (check.Optional("b", args.b, 1, kF32)) {
    check.Size("b", args.b, 0, hy_tensor_cols(&args.x), "the columns of x");
    check.Apart("y", args.y, "b", args.b);
  }
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_layernorm_args*>(raw);
  return 8 * static_cast<uint64_t>(hy_tensor_rows(&args.x) * hy_tensor_cols(&args.x));
}

constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_layernorm_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | HY_OPERAND_SLICE(0, 2)},
    {"w", offsetof(hy_layernorm_args, w), HY_OPERAND_READ | HY_OPERAND_OPTIONAL},
    {"b", offsetof(hy_layernorm_args, b), HY_OPERAND_READ | HY_OPERAND_OPTIONAL},
    {"y", offsetof(hy_layernorm_args, y),
     HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(layernorm, hy_layernorm_args, HY_LAYERNORM_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, nullptr)
