// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of the ops on rows that this processor runs, against the reference, over the quick
// cases and several counts of workers. Conformance does more; this needs neither team nor registry.
#include <gtest/gtest.h>

#include "ops/data/plain_builder.h"
#include "ops/test_builtin.h"
#include "ops/test_run.h"

namespace halyard::ops {
namespace {

// All bits of the outputs, to compare runs.
std::string Bits(const TestOp& op, const void* args) {
  std::string bits;
  for (uint32_t i = 0; i < op.desc->operand_count; ++i) {
    const hy_tensor& t = *hy_operand_tensor(&op.desc->operands[i], args);
    if ((op.desc->operands[i].flags & HY_OPERAND_WRITE) == 0 || !hy_tensor_present(&t)) continue;
    if (hy_tensor_cols(&t) == 0) continue;
    for (int64_t row = 0; row < hy_tensor_rows(&t); ++row) {
      bits.append(static_cast<const char*>(hy_tensor_row(&t, row)),
                  hy_type_row_bytes(t.type, hy_tensor_cols(&t)));
    }
  }
  return bits;
}

// Runs one case; gives what is wrong, and the bits of the outputs.
std::string RunCase(const TestOp& op, const Case& c, const hy_kernel_desc& kernel, uint32_t workers,
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
  const TestOp op = FindOp(GetParam());
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

INSTANTIATE_TEST_SUITE_P(Ops, RowsParity, testing::ValuesIn(OpsOnRows()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace halyard::ops
