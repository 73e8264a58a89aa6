// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_quantize_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_quantize_args*>(raw);
  check.Require(args.asymmetric <= 1, "asymmetric must be 0 or 1");
  check.Operand("x", args.x, 2, kFloats);
  check.Operand("y", args.y, 2, kA8 | TypeSet{HY_TYPE_Q8_0});
  check.SameShape("y", args.y, "x", args.x);
  check.Require(args.asymmetric == 0 || args.y.type == HY_TYPE_A8_TOKEN,
                "asymmetric needs y of type a8_token");
  check.Apart("y", args.y, "x", args.x);
  return check.Finish();
}

// A comparison and a product for each element.
uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_quantize_args*>(raw);
  return static_cast<uint64_t>(2 * hy_tensor_rows(&args.x) * hy_tensor_cols(&args.x));
}

constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_quantize_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
    {"y", offsetof(hy_quantize_args, y),
     HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(quantize, hy_quantize_args, HY_QUANTIZE_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, nullptr)
