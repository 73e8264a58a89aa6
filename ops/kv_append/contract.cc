// SPDX-License-Identifier: Apache-2.0
#include "ops/kv_append/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

constexpr TypeSet kPageTypes = kFloats | TypeSet{HY_TYPE_Q8_0};

const hy_kv_append_args& Args(const void* raw) {
  return *static_cast<const hy_kv_append_args*>(raw);
}

bool SameForm(const hy_tensor& a, const hy_tensor& b) {
  bool same = a.type == b.type && a.rank == b.rank;
  for (uint32_t i = 0; same && i < a.rank; ++i) {
    same = a.shape[i] == b.shape[i] &&
           (i + 1 == a.rank || a.shape[i] <= 1 || a.stride[i] == b.stride[i]);
  }
  return same;
}

// Whether each of two views of equal form lies in gaps that the strides of the other leave, though
// both span the same memory.
bool Interleave(const hy_tensor& a, const hy_tensor& b) {
  if (!SameForm(a, b) || a.data == nullptr || b.data == nullptr) return false;
  const auto a_at = reinterpret_cast<uintptr_t>(a.data);
  const auto b_at = reinterpret_cast<uintptr_t>(b.data);
  const auto distance = static_cast<uint64_t>(a_at < b_at ? b_at - a_at : a_at - b_at);
  uint64_t inner = hy_type_row_bytes(a.type, hy_tensor_cols(&a));
  for (uint32_t axis = a.rank - 1; axis-- > 0;) {
    if (a.shape[axis] <= 1) continue;
    const auto stride = static_cast<uint64_t>(a.stride[axis]);
    bool outer_fit = stride > 0;
    for (uint32_t i = 0; outer_fit && i < axis; ++i)
      outer_fit = a.shape[i] <= 1 || static_cast<uint64_t>(a.stride[i]) % stride == 0;
    if (outer_fit && distance % stride >= inner && distance % stride + inner <= stride) return true;
    inner += static_cast<uint64_t>(a.shape[axis] - 1) * stride;
  }
  return false;
}

void CheckPages(const hy_kv_append_args& args, ContractCheck* check) {
  check->Operand("k_pages", args.k_pages, 4, kPageTypes);
  check->Operand("v_pages", args.v_pages, 4, kPageTypes);
  check->SameType("v_pages", args.v_pages, "k_pages", args.k_pages);
  check->SameShape("v_pages", args.v_pages, "k_pages", args.k_pages);
  check->Size("k_pages", args.k_pages, 1, args.k.shape[1], "the heads of k");
  check->Size("k_pages", args.k_pages, 3, args.k.shape[2], "the elements of a head of k");
  if (!check->ok()) return;
  check->Require(args.k_pages.shape[2] >= 1,
                 "k_pages: shape[2], the size of a page, must be at least 1");
  if (!Interleave(args.k_pages, args.v_pages))
    check->Apart("v_pages", args.v_pages, "k_pages", args.k_pages);
}

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_kv_append_args), why);
  if (!check.ok()) return check.Finish();
  const hy_kv_append_args& args = Args(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.Operand("k", args.k, 3, kFloats);
  check.Operand("v", args.v, 3, kFloats);
  check.SameShape("v", args.v, "k", args.k);
  check.SameType("v", args.v, "k", args.k);
  check.Operand("slots", args.slots, 1, kI32);
  check.Size("slots", args.slots, 0, args.k.shape[0], "the rows of k");
  CheckPages(args, &check);
  check.Apart("k_pages", args.k_pages, "k", args.k);
  check.Apart("k_pages", args.k_pages, "v", args.v);
  check.Apart("k_pages", args.k_pages, "slots", args.slots);
  check.Apart("v_pages", args.v_pages, "k", args.k);
  check.Apart("v_pages", args.v_pages, "v", args.v);
  check.Apart("v_pages", args.v_pages, "slots", args.slots);
  return check.Finish();
}

uint64_t Flops(const void*) { return 0; }

// Not the pages: only the slots that are named.
uint64_t Bytes(const void* raw) {
  const hy_kv_append_args& args = Args(raw);
  const auto heads = static_cast<uint64_t>(hy_tensor_rows(&args.k));
  return TensorBytes(args.k) + TensorBytes(args.v) + TensorBytes(args.slots) +
         2 * heads * hy_type_row_bytes(args.k_pages.type, hy_tensor_cols(&args.k));
}

constexpr uint32_t kReadHeads = HY_OPERAND_READ | HY_OPERAND_SLICE(0, 2);
constexpr uint32_t kPageHeads = HY_OPERAND_READ | HY_OPERAND_WRITE | HY_OPERAND_SLICE(0, 3);

constexpr hy_operand kOperands[] = {
    {"k", offsetof(hy_kv_append_args, k), kReadHeads | HY_OPERAND_TYPED},
    {"v", offsetof(hy_kv_append_args, v), kReadHeads},
    {"slots", offsetof(hy_kv_append_args, slots), HY_OPERAND_READ},
    {"k_pages", offsetof(hy_kv_append_args, k_pages), kPageHeads | HY_OPERAND_TYPED},
    {"v_pages", offsetof(hy_kv_append_args, v_pages), kPageHeads},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(kv_append, hy_kv_append_args, HY_KV_APPEND_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, halyard::ops::Bytes)
