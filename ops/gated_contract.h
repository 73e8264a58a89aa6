// SPDX-License-Identifier: Apache-2.0
//
// What the contracts of silu_mul and gelu_mul demand of their operands.
#ifndef HALYARD_OPS_GATED_CONTRACT_H_
#define HALYARD_OPS_GATED_CONTRACT_H_

#include "ops/contract_check.h"

namespace halyard::ops {

template <typename Args>
void CheckGated(const Args& args, ContractCheck* check) {
  check->OperandOfAnyRank("gate", args.gate, kFloats);
  check->OperandOfAnyRank("up", args.up, kFloats);
  check->OperandOfAnyRank("y", args.y, kFloats | kA8);
  check->SameShape("up", args.up, "gate", args.gate);
  check->SameType("up", args.up, "gate", args.gate);
  check->SameShape("y", args.y, "gate", args.gate);
  check->Require(
      args.y.type == args.gate.type || args.y.type == HY_TYPE_F32 || kA8.Has(args.y.type),
      "y must be f32, of the type of gate, or quantised activations");
  check->MayBeInPlace("y", args.y, "gate", args.gate);
  check->MayBeInPlace("y", args.y, "up", args.up);
}

/// `each`: operations an element; exp counts as ten.
template <typename Args>
uint64_t FlopsOfGated(const void* raw, uint64_t each) {
  const auto& args = *static_cast<const Args*>(raw);
  return each * static_cast<uint64_t>(hy_tensor_rows(&args.gate) * hy_tensor_cols(&args.gate));
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_GATED_CONTRACT_H_
