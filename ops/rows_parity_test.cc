// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of the ops on rows that this processor runs, against the reference, over the quick
// cases and several counts of workers. Conformance does more; this needs neither team nor registry.
#include <gtest/gtest.h>

#include <set>

#include "base/cpu_features.h"
#include "ops/builtin.h"
#include "ops/data/plain_builder.h"
#include "ops/test_run.h"

namespace halyard::ops {
namespace {

struct Op {
  const hy_op_desc* desc;
  const OpCases* cases;
  const reference::ReferenceOp* reference;
};

Op FindOp(const std::string& name) {
  const BuiltinOps& all = TheBuiltinOps();
  for (size_t i = 0; i < all.ops.size(); ++i) {
    if (name == all.ops[i]->name) return {all.ops[i], all.cases[i], all.references[i]};
  }
  return {};
}

std::vector<const hy_kernel_desc*> KernelsOf(const Op& op) {
  const IsaMask live = LiveIsa();
  std::vector<const hy_kernel_desc*> kernels = {op.reference->kernel};
  for (const KernelTableFn table : TheBuiltinOps().kernels) {
    uint64_t count = 0;
    const hy_kernel_desc* const* list = table(&count);
    for (uint64_t i = 0; i < count; ++i) {
      const bool runs = (list[i]->isa[0] & ~live[0]) == 0 && (list[i]->isa[1] & ~live[1]) == 0;
      if (runs && std::string(list[i]->op) == op.desc->name) kernels.push_back(list[i]);
    }
  }
  return kernels;
}

// All bits of the outputs, to compare runs.
std::string Bits(const Op& op, const void* args) {
  std::string bits;
  for (uint32_t i = 0; i < op.desc->operand_count; ++i) {
    const hy_tensor& t = *hy_operand_tensor(&op.desc->operands[i], args);
    if ((op.desc->operands[i].flags & HY_OPERAND_WRITE) == 0 || !hy_tensor_present(&t)) continue;
    for (int64_t row = 0; row < hy_tensor_rows(&t); ++row) {
      bits.append(static_cast<const char*>(hy_tensor_row(&t, row)),
                  hy_type_row_bytes(t.type, hy_tensor_cols(&t)));
    }
  }
  return bits;
}

// Runs one case; gives what is wrong, and the bits of the outputs.
std::string RunCase(const Op& op, const Case& c, const hy_kernel_desc& kernel, uint32_t workers,
                    std::string* bits) {
  PlainBuilder builder(&c);
  std::vector<uint64_t> memory(op.desc->args_bytes / 8 + 1);
  void* args = memory.data();
  if (absl::Status built = op.cases->build(c, builder, args); !built.ok()) return built.ToString();
  if (!builder.status().ok()) return builder.status().ToString();
  hy_why why;
  if (op.desc->validate(args, &why) != HY_OK) return absl::StrCat("refused: ", why.text);
  const hy_kernel_target target = {sizeof target, workers, {0, 0}, LiveVectorBytes(), 0};
  if (kernel.supports != nullptr && kernel.supports(args, &target, &why) == 0) return "";
  reference::Expected expected;
  const reference::Numerics numerics = {kernel.activation, kernel.accumulator, kernel.flags};
  if (absl::Status known = op.reference->expect(args, numerics, &expected); !known.ok())
    return known.ToString();
  const hy_status status = RunKernel(kernel, args, workers);
  if (status != expected.status)
    return absl::StrCat("status ", status, " where ", expected.status, " is expected");
  *bits = Bits(op, args);
  return FaultOf(*op.desc, args, expected);
}

class RowsParity : public testing::TestWithParam<std::string> {};

TEST_P(RowsParity, EveryKernelMeetsTheReference) {
  const Op op = FindOp(GetParam());
  ASSERT_NE(op.desc, nullptr);
  std::vector<Case> cases;
  op.cases->enumerate(Tier::kQuick, &cases);
  ASSERT_GE(cases.size(), 10u);
  for (const hy_kernel_desc* kernel : KernelsOf(op)) {
    for (const Case& c : cases) {
      if (c.dist == "random-bits") continue;
      std::string first;
      for (const uint32_t workers : {1u, 2u, 3u, 19u}) {
        std::string bits;
        EXPECT_EQ(RunCase(op, c, *kernel, workers, &bits), "")
            << kernel->id << ", " << workers << " workers, " << CaseText(c);
        if (workers == 1) first = bits;
        if ((kernel->flags & HY_KERNEL_COUNT_INVARIANT) != 0) {
          EXPECT_EQ(first, bits) << kernel->id << ", " << workers << " workers, " << CaseText(c);
        }
      }
    }
  }
}

// Products and attention have tests of their own.
std::vector<std::string> OpsOnRows() {
  const std::set<std::string> others = {"matmul", "matmul_id", "attention", "kv_append"};
  std::vector<std::string> names;
  for (const hy_op_desc* op : TheBuiltinOps().ops) {
    if (others.count(op->name) == 0) names.emplace_back(op->name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Ops, RowsParity, testing::ValuesIn(OpsOnRows()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace halyard::ops
