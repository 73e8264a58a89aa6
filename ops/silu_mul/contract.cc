// SPDX-License-Identifier: Apache-2.0
#include "ops/silu_mul/contract.h"

#include "ops/gated_contract.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_silu_mul_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_silu_mul_args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  CheckGated(args, &check);
  return check.Finish();
}

uint64_t Flops(const void* raw) { return FlopsOfGated<hy_silu_mul_args>(raw, 14); }

// Columns may not be cut: a8_token has one scale for the row.
constexpr hy_operand kOperands[] = {
    {"gate", offsetof(hy_silu_mul_args, gate),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | HY_OPERAND_SLICE(0, 2)},
    {"up", offsetof(hy_silu_mul_args, up),
     HY_OPERAND_READ | HY_OPERAND_IN_PLACE | HY_OPERAND_SLICE(0, 2)},
    {"y", offsetof(hy_silu_mul_args, y),
     HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(silu_mul, hy_silu_mul_args, HY_SILU_MUL_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, nullptr)
