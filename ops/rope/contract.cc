// SPDX-License-Identifier: Apache-2.0
#include "ops/rope/contract.h"

#include "absl/strings/str_cat.h"
#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_rope_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_rope_args*>(raw);
  check.Require(args.mode <= HY_ROPE_SPLIT, "mode must be one of HY_ROPE_*");
  check.Operand("x", args.x, 3, kFloats);
  check.Operand("table", args.table, 3, kF32);
  check.Size("table", args.table, 2, 2, "a cosine and a sine");
  check.Operand("positions", args.positions, 1, kI32);
  check.Size("positions", args.positions, 0, args.x.shape[0], "the tokens of x");
  check.Operand("y", args.y, 3, kFloats);
  check.SameShape("y", args.y, "x", args.x);
  check.SameType("y", args.y, "x", args.x);
  if (check.ok()) {
    check.Require(args.table.shape[1] <= args.x.shape[2] / 2,
                  absl::StrCat("table turns ", args.table.shape[1], " pairs, more than the ",
                               args.x.shape[2], " elements of a head of x hold"));
  }
  check.MayBeInPlace("y", args.y, "x", args.x);
  check.Apart("y", args.y, "table", args.table);
  check.Apart("y", args.y, "positions", args.positions);
  return check.Finish();
}

uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_rope_args*>(raw);
  return static_cast<uint64_t>(6 * hy_tensor_rows(&args.x) * args.table.shape[1]);
}

// The rows of the table that are read, not all of it.
uint64_t Bytes(const void* raw) {
  const auto& args = *static_cast<const hy_rope_args*>(raw);
  const auto tokens = static_cast<uint64_t>(args.x.shape[0]);
  return TensorBytes(args.x) + TensorBytes(args.y) +
         tokens * (8 * static_cast<uint64_t>(args.table.shape[1]) + 4);
}

constexpr hy_operand kOperands[] = {
    {"x", offsetof(hy_rope_args, x),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_IN_PLACE | HY_OPERAND_SLICE(0, 3) |
         HY_OPERAND_SLICE(1, 2)},
    {"table", offsetof(hy_rope_args, table), HY_OPERAND_READ},
    {"positions", offsetof(hy_rope_args, positions), HY_OPERAND_READ | HY_OPERAND_SLICE(0, 1)},
    {"y", offsetof(hy_rope_args, y),
     HY_OPERAND_WRITE | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 3) | HY_OPERAND_SLICE(1, 2)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(rope, hy_rope_args, HY_ROPE_VERSION, halyard::ops::kOperands, halyard::ops::Validate,
           halyard::ops::Flops, halyard::ops::Bytes)
