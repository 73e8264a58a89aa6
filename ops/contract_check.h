// SPDX-License-Identifier: Apache-2.0
//
// What every contract's Validate is made of. The first thing that is wrong gives the reason; later
// checks then do nothing, so a contract reads as a plain list of what it demands.
#ifndef HALYARD_OPS_CONTRACT_CHECK_H_
#define HALYARD_OPS_CONTRACT_CHECK_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "halyard/kernel.h"

namespace halyard::ops {

/// A set of HY_TYPE_*.
class TypeSet {
 public:
  constexpr TypeSet(std::initializer_list<uint32_t> types) {
    for (const uint32_t type : types) bits_ |= uint64_t{1} << type;
  }
  constexpr TypeSet operator|(TypeSet other) const { return TypeSet(bits_ | other.bits_); }
  constexpr bool Has(uint32_t type) const { return type < 64 && (bits_ >> type & 1) != 0; }
  std::string Names() const;

 private:
  constexpr explicit TypeSet(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

inline constexpr TypeSet kFloats = {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16};
inline constexpr TypeSet kF32 = {HY_TYPE_F32};
inline constexpr TypeSet kI32 = {HY_TYPE_I32};
inline constexpr TypeSet kWeightFormats = {
    HY_TYPE_Q8_0, HY_TYPE_Q4_0, HY_TYPE_Q4_1, HY_TYPE_Q5_0, HY_TYPE_Q5_1, HY_TYPE_Q2_K,
    HY_TYPE_Q3_K, HY_TYPE_Q4_K, HY_TYPE_Q5_K, HY_TYPE_Q6_K, HY_TYPE_W8A8, HY_TYPE_W4A8_G128};
inline constexpr TypeSet kA8 = {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN};

class ContractCheck {
 public:
  /// `args_bytes`: size of the args struct of this contract version; args->struct_size must be that,
  /// or larger with a tail of zeros.
  ContractCheck(const void* args, uint32_t args_bytes, hy_why* why);

  /// A required operand: rank, one of the types, sizes that make sense (no negative or overflowing
  /// ones, whole blocks, strides that keep rows apart and aligned), data aligned and not NULL. NULL
  /// is taken when all operands of the call are NULL: a plan, before there is memory.
  /// Outputs may not have rows that overlap each other.
  void Operand(absl::string_view name, const hy_tensor& tensor, uint32_t rank, TypeSet types);
  /// As Operand, with any rank from 1 to HY_MAX_RANK.
  void OperandOfAnyRank(absl::string_view name, const hy_tensor& tensor, TypeSet types);
  /// As Operand; absent is fine. Returns whether it is there.
  bool Optional(absl::string_view name, const hy_tensor& tensor, uint32_t rank, TypeSet types);
  /// As Operand, for weights: a packed layout is taken, too.
  void Weights(absl::string_view name, const hy_tensor& tensor, uint32_t rank, TypeSet types);

  void SameShape(absl::string_view a_name, const hy_tensor& a, absl::string_view b_name,
                 const hy_tensor& b);
  /// shape[axis] must be `size`; `what` says what that is ("the columns of x").
  void Size(absl::string_view name, const hy_tensor& tensor, uint32_t axis, int64_t size,
            absl::string_view what);
  void SameType(absl::string_view a_name, const hy_tensor& a, absl::string_view b_name,
                const hy_tensor& b);
  /// `out` may be exactly `in` (data, type, shape, strides); otherwise they may not touch.
  void MayBeInPlace(absl::string_view out_name, const hy_tensor& out, absl::string_view in_name,
                    const hy_tensor& in);
  /// `out` and `in` may not touch.
  void Apart(absl::string_view out_name, const hy_tensor& out, absl::string_view in_name,
             const hy_tensor& in);
  /// Anything else; `reason` names the field and what it should be.
  void Require(bool holds, absl::string_view reason);

  bool ok() const { return status_ == HY_OK; }
  /// HY_OK or INVALID_ARGUMENT. Call last: it checks NULLs over all operands seen.
  hy_status Finish();

 private:
  void Fail(const std::string& reason);
  bool CheckForm(absl::string_view name, const hy_tensor& tensor, bool packed_too);

  hy_why* const why_;
  hy_status status_ = HY_OK;
  int with_data_ = 0;
  std::string first_null_;
};

/// Bytes of a tensor's elements, without gaps; packed ones as canonical.
uint64_t TensorBytes(const hy_tensor& tensor);

/// Sum of TensorBytes over the operands of args that are there.
uint64_t OperandBytes(const hy_op_desc& op, const void* args);

}  // namespace halyard::ops

#endif  // HALYARD_OPS_CONTRACT_CHECK_H_
