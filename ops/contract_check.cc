// SPDX-License-Identifier: Apache-2.0
#include "ops/contract_check.h"

#include <string.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace halyard::ops {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 56;  // beyond what any machine addresses

// Product, or -1 if it is above kMaxBytes.
int64_t Times(int64_t a, int64_t b) {
  if (a < 0 || b < 0) return -1;
  if (a != 0 && b > kMaxBytes / a) return -1;
  return a * b;
}

uint64_t RowBytes(const hy_tensor& t) { return hy_type_row_bytes(t.type, hy_tensor_cols(&t)); }

uint64_t Alignment(const hy_tensor& t) {
  if (hy_type_is_a8(t.type)) return 4;
  return hy_type_is_weights(t.type) ? 1 : hy_type_facts(t.type)->block_bytes;
}

bool IsEmpty(const hy_tensor& t) {
  for (uint32_t i = 0; i < t.rank; ++i) {
    if (t.shape[i] == 0) return true;
  }
  return false;
}

// First byte behind the tensor, relative to its data; -1 if that overflows.
int64_t Extent(const hy_tensor& t) {
  if (IsEmpty(t)) return 0;
  int64_t end = static_cast<int64_t>(RowBytes(t));
  for (uint32_t i = 0; i + 1 < t.rank; ++i) {
    const int64_t step = Times(t.shape[i] - 1, t.stride[i]);
    if (step < 0 || step > kMaxBytes - end) return -1;
    end += step;
  }
  return end;
}

bool SameView(const hy_tensor& a, const hy_tensor& b) {
  if (a.data != b.data || a.type != b.type || a.rank != b.rank) return false;
  for (uint32_t i = 0; i < a.rank; ++i) {
    if (a.shape[i] != b.shape[i]) return false;
    if (i + 1 < a.rank && a.shape[i] > 1 && a.stride[i] != b.stride[i]) return false;
  }
  return true;
}

// Bytes that one item of the outermost axis spans.
uint64_t ItemExtent(const hy_tensor& t) {
  hy_tensor one = t;
  one.shape[0] = 1;
  return static_cast<uint64_t>(Extent(t.rank > 1 ? one : t));
}

// Whether both lie in the same pitch, side by side, as views of the parts of a joined projection do.
bool Interleave(const hy_tensor& a, const hy_tensor& b) {
  if (a.rank < 2 || b.rank < 2) return false;
  const int64_t pitch = a.shape[0] > 1 ? a.stride[0] : b.stride[0];
  if ((a.shape[0] > 1 && a.stride[0] != pitch) || (b.shape[0] > 1 && b.stride[0] != pitch))
    return false;
  if (pitch <= 0 || (a.shape[0] == 1 && b.shape[0] == 1)) return false;
  const auto wide = static_cast<uint64_t>(pitch);
  const auto a_at = reinterpret_cast<uintptr_t>(a.data);
  const auto b_at = reinterpret_cast<uintptr_t>(b.data);
  const uint64_t apart = b_at >= a_at ? (b_at - a_at) % wide : wide - 1 - (a_at - b_at - 1) % wide;
  return apart >= ItemExtent(a) && apart + ItemExtent(b) <= wide;
}

bool Touch(const hy_tensor& a, const hy_tensor& b) {
  if (a.data == nullptr || b.data == nullptr || a.layout != 0 || b.layout != 0) return false;
  const auto a_at = reinterpret_cast<uintptr_t>(a.data);
  const auto b_at = reinterpret_cast<uintptr_t>(b.data);
  const auto a_bytes = static_cast<uintptr_t>(Extent(a));
  const auto b_bytes = static_cast<uintptr_t>(Extent(b));
  if (a_bytes == 0 || b_bytes == 0 || a_at >= b_at + b_bytes || b_at >= a_at + a_bytes)
    return false;
  return !Interleave(a, b);
}

// What is wrong with one axis's stride; empty if nothing is.
std::string StrideFault(const hy_tensor& t, uint32_t axis, uint64_t inner_bytes) {
  const int64_t stride = t.stride[axis];
  if (stride < 0) return "is negative: only strides from 0 on are taken";
  if (t.shape[axis] <= 1) return "";
  if (static_cast<uint64_t>(stride) % Alignment(t) != 0) {
    return absl::StrCat("is ", stride, " bytes, no multiple of the element's ", Alignment(t));
  }
  if (static_cast<uint64_t>(stride) < inner_bytes) {
    return absl::StrCat("is ", stride, " bytes, less than the ", inner_bytes,
                        " that lie along the inner axes");
  }
  return "";
}

}  // namespace

std::string TypeSet::Names() const {
  std::vector<std::string> names;
  for (uint32_t type = 1; type < HY_TYPE_COUNT; ++type) {
    if (Has(type)) names.emplace_back(hy_type_name(type));
  }
  return absl::StrJoin(names, ", ");
}

ContractCheck::ContractCheck(const void* args, uint32_t args_bytes, hy_why* why) : why_(why) {
  if (why != nullptr) why->text[0] = '\0';
  if (args == nullptr) {
    Fail("args is NULL");
    return;
  }
  uint32_t given = 0;
  memcpy(&given, args, sizeof given);
  if (given < args_bytes) {
    Fail(absl::StrCat("struct_size is ", given, ", this contract needs ", args_bytes));
    return;
  }
  for (uint32_t i = args_bytes; i < given; ++i) {
    if (static_cast<const unsigned char*>(args)[i] != 0) {
      Fail("args has fields that this version does not know: set them to 0");
    }
  }
}

void ContractCheck::Fail(const std::string& reason) {
  if (status_ != HY_OK) return;
  status_ = HY_INVALID_ARGUMENT;
  hy_refuse(why_, reason.c_str());
}

bool ContractCheck::CheckForm(absl::string_view name, const hy_tensor& t, bool packed_too) {
  if (t.rank == 0 || t.rank > HY_MAX_RANK) {
    Fail(absl::StrCat(name, ": rank ", t.rank, " is not within 1..", HY_MAX_RANK));
    return false;
  }
  int64_t elements = 4;  // the widest element's bytes
  for (uint32_t i = 0; i < t.rank; ++i) {
    elements = Times(elements, t.shape[i]);
    if (t.shape[i] < 0 || elements < 0) {
      Fail(absl::StrCat(name, ": shape[", i, "] = ", t.shape[i],
                        t.shape[i] < 0 ? " is negative" : " makes it larger than memory can be"));
      return false;
    }
  }
  const hy_type_info& facts = *hy_type_facts(t.type);
  if (facts.block != HY_BLOCK_ROW && hy_tensor_cols(&t) % facts.block != 0) {
    Fail(absl::StrCat(name, ": rows of ", hy_tensor_cols(&t), " elements are not whole blocks of ",
                      facts.block, ", as ", facts.name, " needs"));
    return false;
  }
  if (t.layout != HY_LAYOUT_CANONICAL) {
    if (!packed_too) Fail(absl::StrCat(name, ": packed layouts are taken for weights only"));
    return ok();
  }
  uint64_t inner = RowBytes(t);
  for (uint32_t i = t.rank - 1; i-- > 0;) {
    const std::string fault = IsEmpty(t) ? "" : StrideFault(t, i, inner);
    if (!fault.empty()) {
      Fail(absl::StrCat(name, ": stride[", i, "] ", fault));
      return false;
    }
    if (t.shape[i] > 1)
      inner += static_cast<uint64_t>(t.shape[i] - 1) * static_cast<uint64_t>(t.stride[i]);
    if (Extent(t) < 0) {
      Fail(absl::StrCat(name, ": stride[", i, "] makes it larger than memory can be"));
      return false;
    }
  }
  if (reinterpret_cast<uintptr_t>(t.data) % Alignment(t) != 0) {
    Fail(absl::StrCat(name, ": data is not aligned to the ", Alignment(t),
                      " bytes of its elements"));
    return false;
  }
  return true;
}

void ContractCheck::OperandOfAnyRank(absl::string_view name, const hy_tensor& t, TypeSet types) {
  if (!ok()) return;
  if (!hy_tensor_present(&t)) return Fail(absl::StrCat(name, " is missing"));
  if (!types.Has(t.type)) {
    return Fail(absl::StrCat(name, ": type ", hy_type_name(t.type), " (", t.type, ") is none of ",
                             types.Names()));
  }
  if (!CheckForm(name, t, false)) return;
  if (t.data != nullptr) ++with_data_;
  if (t.data == nullptr && !IsEmpty(t) && first_null_.empty()) first_null_ = std::string(name);
}

void ContractCheck::Operand(absl::string_view name, const hy_tensor& t, uint32_t rank,
                            TypeSet types) {
  if (!ok()) return;
  if (hy_tensor_present(&t) && t.rank != rank) {
    return Fail(absl::StrCat(name, ": rank ", t.rank, " where ", rank, " is needed"));
  }
  OperandOfAnyRank(name, t, types);
}

bool ContractCheck::Optional(absl::string_view name, const hy_tensor& t, uint32_t rank,
                             TypeSet types) {
  if (!hy_tensor_present(&t)) return false;
  Operand(name, t, rank, types);
  return ok();
}

void ContractCheck::Weights(absl::string_view name, const hy_tensor& t, uint32_t rank,
                            TypeSet types) {
  if (!ok()) return;
  hy_tensor canonical = t;
  if (t.layout != HY_LAYOUT_CANONICAL) {
    // Only the form of the shape is known; strides belong to the layout.
    canonical = hy_tensor_dense(t.data, t.type, t.rank, t.shape);
  }
  Operand(name, canonical, rank, types);
}

void ContractCheck::SameShape(absl::string_view a_name, const hy_tensor& a,
                              absl::string_view b_name, const hy_tensor& b) {
  if (!ok()) return;
  bool same = a.rank == b.rank;
  for (uint32_t i = 0; same && i < a.rank; ++i) same = a.shape[i] == b.shape[i];
  if (same) return;
  Fail(absl::StrCat(a_name, " has shape [", absl::StrJoin(a.shape, a.shape + a.rank, ", "), "], ",
                    b_name, " has [", absl::StrJoin(b.shape, b.shape + b.rank, ", "),
                    "]: they must be equal"));
}

void ContractCheck::Size(absl::string_view name, const hy_tensor& t, uint32_t axis, int64_t size,
                         absl::string_view what) {
  if (!ok() || t.shape[axis] == size) return;
  Fail(absl::StrCat(name, ": shape[", axis, "] is ", t.shape[axis], ", but ", what, " are ", size));
}

void ContractCheck::SameType(absl::string_view a_name, const hy_tensor& a, absl::string_view b_name,
                             const hy_tensor& b) {
  if (!ok() || a.type == b.type) return;
  Fail(absl::StrCat(a_name, " is ", hy_type_name(a.type), ", ", b_name, " is ",
                    hy_type_name(b.type), ": they must be equal"));
}

void ContractCheck::MayBeInPlace(absl::string_view out_name, const hy_tensor& out,
                                 absl::string_view in_name, const hy_tensor& in) {
  if (!ok() || SameView(out, in) || !Touch(out, in)) return;
  Fail(absl::StrCat(out_name, " overlaps ", in_name,
                    " in part: give it memory of its own, or exactly that of ", in_name));
}

void ContractCheck::Apart(absl::string_view out_name, const hy_tensor& out,
                          absl::string_view in_name, const hy_tensor& in) {
  if (!ok() || !hy_tensor_present(&in) || !hy_tensor_present(&out) || !Touch(out, in)) return;
  Fail(absl::StrCat(out_name, " overlaps ", in_name, ": give it memory of its own"));
}

void ContractCheck::Require(bool holds, absl::string_view reason) {
  if (!holds) Fail(std::string(reason));
}

hy_status ContractCheck::Finish() {
  if (ok() && with_data_ > 0 && !first_null_.empty())
    Fail(absl::StrCat(first_null_, ": data is NULL"));
  return status_;
}

uint64_t TensorBytes(const hy_tensor& t) {
  return hy_tensor_present(&t) ? static_cast<uint64_t>(hy_tensor_rows(&t)) * RowBytes(t) : 0;
}

uint64_t OperandBytes(const hy_op_desc& op, const void* args) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < op.operand_count; ++i)
    bytes += TensorBytes(*hy_operand_tensor(&op.operands[i], args));
  return bytes;
}

}  // namespace halyard::ops
