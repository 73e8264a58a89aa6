// SPDX-License-Identifier: Apache-2.0
#include "ops/sample/contract.h"

#include "ops/contract_check.h"
#include "ops/op_table.h"

namespace halyard::ops {
namespace {

void CheckSetting(const char* name, const hy_tensor& setting, TypeSet type,
                  const hy_sample_args& args, ContractCheck* check) {
  check->Operand(name, setting, 1, type);
  check->Size(name, setting, 0, args.logits.shape[0], "the rows of logits");
  check->Apart("id", args.id, name, setting);
}

hy_status Validate(const void* raw, hy_why* why) {
  ContractCheck check(raw, sizeof(hy_sample_args), why);
  if (!check.ok()) return check.Finish();
  const auto& args = *static_cast<const hy_sample_args*>(raw);
  check.Require(args.reserved == 0, "reserved must be 0");
  check.Operand("logits", args.logits, 2, kFloats);
  check.Require(args.logits.shape[1] <= INT32_MAX,
                "logits has more columns than an i32 can number");
  check.Operand("id", args.id, 1, kI32);
  check.Size("id", args.id, 0, args.logits.shape[0], "the rows of logits");
  check.Apart("id", args.id, "logits", args.logits);
  CheckSetting("temperature", args.temperature, kF32, args, &check);
  CheckSetting("u", args.u, kF32, args, &check);
  if (hy_tensor_present(&args.top_k)) CheckSetting("top_k", args.top_k, kI32, args, &check);
  if (hy_tensor_present(&args.top_p)) CheckSetting("top_p", args.top_p, kF32, args, &check);
  if (hy_tensor_present(&args.min_p)) CheckSetting("min_p", args.min_p, kF32, args, &check);
  return check.Finish();
}

// The exponential counts as ten operations.
uint64_t Flops(const void* raw) {
  const auto& args = *static_cast<const hy_sample_args*>(raw);
  return 14 * static_cast<uint64_t>(hy_tensor_rows(&args.logits) * hy_tensor_cols(&args.logits));
}

constexpr uint32_t kSetting = HY_OPERAND_READ | HY_OPERAND_SLICE(0, 1);
constexpr hy_operand kOperands[] = {
    {"logits", offsetof(hy_sample_args, logits),
     HY_OPERAND_READ | HY_OPERAND_TYPED | HY_OPERAND_SLICE(0, 2)},
    {"temperature", offsetof(hy_sample_args, temperature), kSetting},
    {"u", offsetof(hy_sample_args, u), kSetting},
    {"top_k", offsetof(hy_sample_args, top_k), kSetting | HY_OPERAND_OPTIONAL},
    {"top_p", offsetof(hy_sample_args, top_p), kSetting | HY_OPERAND_OPTIONAL},
    {"min_p", offsetof(hy_sample_args, min_p), kSetting | HY_OPERAND_OPTIONAL},
    {"id", offsetof(hy_sample_args, id), HY_OPERAND_WRITE | HY_OPERAND_SLICE(0, 1)},
};

}  // namespace
}  // namespace halyard::ops

HALYARD_OP(sample, hy_sample_args, HY_SAMPLE_VERSION, halyard::ops::kOperands,
           halyard::ops::Validate, halyard::ops::Flops, nullptr)
