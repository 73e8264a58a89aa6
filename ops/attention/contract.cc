// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/contract.h"

#include <algorithm>
#include <cmath>

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

constexpr TypeSet kPageTypes = kFloats | TypeSet{HY_TYPE_Q8_0};

const hy_attention_args& Args(const void* raw) {
  return *static_cast<const hy_attention_args*>(raw);
}

void CheckOptions(const hy_attention_args& args, ContractCheck* check) {
  check->Require(args.causal <= 1, "causal must be 0 or 1");
  check->Require(std::isfinite(args.scale), "scale must be finite");
  check->Require(std::isfinite(args.soft_cap) && args.soft_cap >= 0,
                 "soft_cap must be finite and not negative; 0 is none");
  check->Require(args.window >= 0, "window must not be negative; 0 is none");
  check->Require(args.reserved == 0, "reserved must be 0");
}

void CheckPages(const hy_attention_args& args, ContractCheck* check) {
  check->Operand("k_pages", args.k_pages, 4, kPageTypes);
  check->Operand("v_pages", args.v_pages, 4, kPageTypes);
  check->SameType("v_pages", args.v_pages, "k_pages", args.k_pages);
  check->SameShape("v_pages", args.v_pages, "k_pages", args.k_pages);
  check->Size("k_pages", args.k_pages, 3, args.q.shape[2], "the elements of a head of q");
  if (!check->ok()) return;
  check->Require(args.k_pages.shape[2] >= 1,
                 "k_pages: shape[2], the size of a page, must be at least 1");
  const int64_t heads = args.q.shape[1];
  const int64_t kv_heads = args.k_pages.shape[1];
  check->Require(kv_heads == 0 ? heads == 0 : heads % kv_heads == 0,
                 "q: shape[1], the heads, must be a multiple of the heads of k_pages");
}

void CheckSequences(const hy_attention_args& args, ContractCheck* check) {
  check->Operand("block_table", args.block_table, 2, kI32);
  const int64_t sequences = args.block_table.shape[0];
  check->Operand("q_start", args.q_start, 1, kI32);
  check->Size("q_start", args.q_start, 0, sequences + 1,
              "the sequences of block_table and one more");
  check->Operand("kv_len", args.kv_len, 1, kI32);
  check->Size("kv_len", args.kv_len, 0, sequences, "the sequences of block_table");
}

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_attention_args), why);
  if (!check.ok()) return check.Finish();
  const hy_attention_args& args = Args(raw);
  CheckOptions(args, &check);
  check.Operand("q", args.q, 3, kFloats);
  CheckPages(args, &check);
  CheckSequences(args, &check);
  check.Operand("y", args.y, 3, kFloats);
  check.SameShape("y", args.y, "q", args.q);
  check.Require(args.y.type == args.q.type || args.y.type == HY_TYPE_F32,
                "y must be f32 or of q's type");
  check.Apart("y", args.y, "q", args.q);
  check.Apart("y", args.y, "k_pages", args.k_pages);
  check.Apart("y", args.y, "v_pages", args.v_pages);
  check.Apart("y", args.y, "block_table", args.block_table);
  check.Apart("y", args.y, "q_start", args.q_start);
  check.Apart("y", args.y, "kv_len", args.kv_len);
  return check.Finish();
}

// Lengths are data, which a cost may not look at: each sequence counts as long as its table, and
// its rows as seeing all of it.
uint64_t Capacity(const hy_attention_args& args) {
  return static_cast<uint64_t>(args.block_table.shape[1]) *
         static_cast<uint64_t>(args.k_pages.shape[2]);
}

uint64_t Flops(const void* raw) {
  const hy_attention_args& args = Args(raw);
  return 4 * static_cast<uint64_t>(hy_tensor_rows(&args.q) * hy_tensor_cols(&args.q)) *
         Capacity(args);
}

uint64_t Bytes(const void* raw) {
  const hy_attention_args& args = Args(raw);
  const auto named = static_cast<uint64_t>(args.block_table.shape[0] * args.block_table.shape[1]);
  const auto pages = static_cast<uint64_t>(args.k_pages.shape[0]);
  // Pages that sequences share are read once.
  const uint64_t read = std::min(named, pages);
  const uint64_t page_bytes = pages == 0 ? 0 : TensorBytes(args.k_pages) / pages;
  return 2 * read * page_bytes + TensorBytes(args.q) + TensorBytes(args.y) +
         TensorBytes(args.block_table) + TensorBytes(args.q_start) + TensorBytes(args.kv_len);
}

constexpr hy_operand kOperands[] = {
    {"q", offsetof(hy_attention_args, q), HY_OPERAND_READ | HY_OPERAND_TYPED},
    {"k_pages", offsetof(hy_attention_args, k_pages), HY_OPERAND_READ | HY_OPERAND_TYPED},
    {"v_pages", offsetof(hy_attention_args, v_pages), HY_OPERAND_READ},
    {"block_table", offsetof(hy_attention_args, block_table), HY_OPERAND_READ},
    {"q_start", offsetof(hy_attention_args, q_start), HY_OPERAND_READ},
    {"kv_len", offsetof(hy_attention_args, kv_len), HY_OPERAND_READ},
    {"y", offsetof(hy_attention_args, y), HY_OPERAND_WRITE | HY_OPERAND_TYPED},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(attention, hy_attention_args, HY_ATTENTION_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, halyard::ops::Bytes)
