// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/contract.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_softmax_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_softmax_args*>(raw);
  check.Require(std::isfinite(args.scale), "scale must be finite");
  check.Operand("x", args.x, 2, kFloats);
  check.Operand("y", args.y, 2, kFloats);
  check.SameShape("y", args.y, "x", args.x);
  check.Require(args.y.type == args.x.type || args.y.type == HY_TYPE_F32,
                "y must be f32 or of the type of x");
  check.MayBeInPlace("y", args.y, "x", args.x);
  if (check.Optional("mask", args.mask, 2, kF32)) {
    check.Require(args.mask.shape[0] == 1 || args.mask.shape[0] == args.x.shape[0],
                  absl::StrCat("mask: shape[0] is ", args.mask.shape[0], ", neither 1 nor the ",
                               args.x.shape[0], " rows of x"));
    check.Size("mask", args.mask, 1, args.x.shape[1], "the columns of x");
    check.Apart("y", args.y, "mask", args.mask);
  }
  return check.Finish();
}

// The exponential counts as ten operations.
uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_softmax_args*>(raw);
  return 16 * static_cast<uint64_t>(hy_tensor_rows(&args.x) * hy_tensor_cols(&args.x));
}

constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_softmax_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | HY_OPERAND_SLICE(0, 2)},
    {"mask", offsetof(hy_softmax_args, mask),
     HY_OPERAND_READ | HY_OPERAND_OPTIONAL | HY_OPERAND_SLICE(0, 2)},
    {"y", offsetof(hy_softmax_args, y),
     HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(softmax, hy_softmax_args, HY_SOFTMAX_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, nullptr)
