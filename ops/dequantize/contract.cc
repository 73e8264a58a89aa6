// SPDX-License-Identifier: Apache-2.0
#include "ops/dequantize/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_dequantize_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_dequantize_args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.Operand("x", args.x, 2, kWeightFormats | kA8);
  check.Operand("y", args.y, 2, kFloats);
  check.SameShape("y", args.y, "x", args.x);
  check.Apart("y", args.y, "x", args.x);
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_dequantize_args*>(raw);
  return static_cast<uint64_t>(hy_tensor_rows(&args.x) * hy_tensor_cols(&args.x));
}

constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_dequantize_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
    {"y", offsetof(hy_dequantize_args, y),
     HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(dequantize, hy_dequantize_args, HY_DEQUANTIZE_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, nullptr)
