// SPDX-License-Identifier: Apache-2.0
//
// What the contracts of add and mul demand: two inputs, the second of which may be repeated.
#ifndef HALYARD_OPS_BINARY_CONTRACT_H_
#define HALYARD_OPS_BINARY_CONTRACT_H_

#include "absl/strings/str_cat.h"
#include "ops/contract_check.h"

namespace halyard::ops {

inline void CheckRepeats(const hy_tensor& b, const hy_tensor& a, ContractCheck* check) {
  if (!check->ok()) return;
  check->Require(b.rank == a.rank, absl::StrCat("b has rank ", b.rank, ", a has ", a.rank,
                                                ": they must be equal; give b axes of size 1"));
  for (uint32_t i = 0; check->ok() && i < a.rank; ++i) {
    check->Require(b.shape[i] == a.shape[i] || b.shape[i] == 1,
                   absl::StrCat("b: shape[", i, "] is ", b.shape[i], ", neither 1 nor the ",
                                a.shape[i], " of a"));
  }
}

template <typename Args>
hy_status ValidateBinary(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(Args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const Args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.OperandOfAnyRank("a", args.a, kFloats);
  check.OperandOfAnyRank("b", args.b, kFloats);
  check.OperandOfAnyRank("y", args.y, kFloats);
  CheckRepeats(args.b, args.a, &check);
  check.SameShape("y", args.y, "a", args.a);
  check.Require(args.b.type == args.a.type || args.b.type == HY_TYPE_F32,
                "b must be f32 or of the type of a");
  check.Require(args.y.type == args.a.type || args.y.type == HY_TYPE_F32,
                "y must be f32 or of the type of a");
  check.MayBeInPlace("y", args.y, "a", args.a);
  check.MayBeInPlace("y", args.y, "b", args.b);
  return check.Finish();
}

template <typename Args>
uint64_t FlopsOfBinary(const void* raw) {
  const auto& args = *static_cast<const Args*>(raw);
  return static_cast<uint64_t>(hy_tensor_rows(&args.y) * hy_tensor_cols(&args.y));
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_BINARY_CONTRACT_H_
