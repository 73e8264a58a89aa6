// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of attention and kv_append that this processor runs, against the reference, over the
// cases and several counts of workers that run at the same time. Slots that no row sees hold NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "ops/data/plain_builder.h"
#include "ops/test_builtin.h"
#include "ops/test_case_step.h"
#include "ops/test_run.h"

#ifdef HALYARD_TEST_SIMDE
extern "C" const hy_kernel_desc* const* halyard_kernels_attention_simde(uint64_t* count);
#endif

namespace halyard::ops {
namespace {

// Those of the tree, and AVX-512 as plain code where the test has it.
std::vector<const hy_kernel_desc*> AllKernelsOf(const TestOp& op) {
  std::vector<const hy_kernel_desc*> kernels = KernelsOf(op);
#ifdef HALYARD_TEST_SIMDE
  uint64_t count = 0;
  const hy_kernel_desc* const* list = halyard_kernels_attention_simde(&count);
  for (uint64_t i = 0; i < count; ++i) {
    if (std::string(list[i]->op) == op.desc->name) kernels.push_back(list[i]);
  }
#endif
  return kernels;
}

// Workers that really run at the same time, so that each claims some of the items.
hy_status RunTeam(const hy_kernel_desc& kernel, const void* args, uint32_t workers) {
  const uint64_t bytes = kernel.scratch_bytes == nullptr ? 0 : kernel.scratch_bytes(args, workers);
  std::vector<unsigned char> memory(bytes + 64, 0xff);
  const auto gap = static_cast<size_t>(64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
  std::vector<hy_status> status(workers, HY_OK);
  for (uint32_t phase = 0; phase < kernel.phases; ++phase) {
    uint64_t ticket = 0;
    std::vector<std::thread> team;
    for (uint32_t index = 0; index < workers; ++index) {
      team.emplace_back([&, index] {
        const hy_kernel_context context = {sizeof context,      index, workers, phase,
                                           memory.data() + gap, bytes, &ticket, nullptr};
        const hy_status one = kernel.run(args, &context);
        if (one != HY_OK) status[index] = one;
      });
    }
    for (std::thread& worker : team) worker.join();
  }
  for (const hy_status one : status) {
    if (one != HY_OK) return one;
  }
  return HY_OK;
}

std::string Bits(const hy_tensor& t) {
  std::string bits;
  const auto row_bytes = static_cast<size_t>(hy_type_row_bytes(t.type, hy_tensor_cols(&t)));
  for (int64_t row = 0; row < hy_tensor_rows(&t); ++row)
    bits.append(static_cast<const char*>(hy_tensor_row(&t, row)), row_bytes);
  return bits;
}

// All outputs, to compare runs.
std::string OutputBits(const TestOp& op, const void* args) {
  std::string bits;
  for (uint32_t i = 0; i < op.desc->operand_count; ++i) {
    if ((op.desc->operands[i].flags & HY_OPERAND_WRITE) != 0)
      bits += Bits(*hy_operand_tensor(&op.desc->operands[i], args));
  }
  return bits;
}

// Of outputs that are bytes.
std::string ByteFault(const TestOp& op, const void* args, const reference::Expected& expected) {
  for (const reference::ExpectedOutput& want : expected.outputs) {
    const hy_operand& operand = op.desc->operands[want.operand];
    const std::string got = Bits(*hy_operand_tensor(&operand, args));
    if (!want.value.empty() || got == std::string(want.bytes.begin(), want.bytes.end())) continue;
    size_t at = 0;
    while (at < got.size() && static_cast<uint8_t>(got[at]) == want.bytes[at]) ++at;
    return absl::StrCat(operand.name, " differs from byte ", at, " on");
  }
  return "";
}

// A case with its args and what they must give to kernels of some numerics.
class Trial {
 public:
  Trial(const TestOp& op, const Case& c) : op_(op), case_(c) {}

  /// Args anew, outputs and pages as before any run; empty if all is well.
  std::string Reset() {
    builder_ = std::make_unique<PlainBuilder>(&case_);
    args_.assign(op_.desc->args_bytes / 8 + 1, 0);
    const absl::Status built = op_.cases->build(case_, *builder_, args());
    if (!built.ok()) return built.ToString();
    if (!builder_->status().ok()) return builder_->status().ToString();
    hy_why why;
    return op_.desc->validate(args(), &why) == HY_OK ? "" : absl::StrCat("refused: ", why.text);
  }
  const reference::Expected& Expect(uint32_t accumulator) {
    const auto [at, is_new] = expected_.try_emplace(accumulator);
    const reference::Numerics numerics = {HY_QA_ANY, accumulator, 0};
    if (is_new) {
      EXPECT_TRUE(op_.reference->expect(args(), numerics, &at->second).ok());
    }
    return at->second;
  }
  /// What is wrong with a run; `bits` are those of the outputs.
  std::string Run(const hy_kernel_desc& kernel, uint32_t workers, std::string* bits) {
    std::string fault = Reset();
    if (!fault.empty()) return fault;
    const reference::Expected& expected = Expect(kernel.accumulator);
    const hy_status status = RunTeam(kernel, args(), workers);
    if (status != expected.status)
      return absl::StrCat("status ", status, " where ", expected.status, " is expected");
    *bits = OutputBits(op_, args());
    fault = FaultOf(*op_.desc, args(), expected);
    return fault.empty() ? ByteFault(op_, args(), expected) : fault;
  }
  void* args() { return args_.data(); }

 private:
  const TestOp& op_;
  const Case& case_;
  std::unique_ptr<PlainBuilder> builder_;
  std::vector<uint64_t> args_;
  std::map<uint32_t, reference::Expected> expected_;
};

class AttentionKernels : public testing::TestWithParam<const char*> {};

// Runs a kernel with each count of workers; all must give the same bits.
void ExpectRight(Trial* trial, const hy_kernel_desc& kernel, std::initializer_list<uint32_t> counts,
                 const Case& c) {
  std::string first;
  for (const uint32_t workers : counts) {
    std::string bits;
    EXPECT_EQ(trial->Run(kernel, workers, &bits), "")
        << kernel.id << ", " << workers << " workers, " << CaseText(c);
    if (workers == *counts.begin()) first = bits;
    EXPECT_EQ(first, bits) << kernel.id << ", " << workers << " workers, " << CaseText(c);
  }
}

TEST_P(AttentionKernels, MeetTheReferenceWithAnyCountOfWorkers) {
  const TestOp op = FindOp(GetParam());
  ASSERT_NE(op.desc, nullptr);
  std::vector<Case> cases;
  op.cases->enumerate(Tier::kQuick, &cases);
  ASSERT_GE(cases.size(), 50u);
  const std::vector<const hy_kernel_desc*> kernels = AllKernelsOf(op);
  for (const Case& c : SampledCases(cases)) {
    Trial trial(op, c);
    for (const hy_kernel_desc* kernel : kernels) ExpectRight(&trial, *kernel, {1, 2, 5}, c);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, AttentionKernels, testing::Values("attention", "kv_append"),
                         [](const auto& one) { return one.param; });

// Long contexts, whose keys several workers share. Without the reference as a kernel, which is slow.
TEST(AttentionKernelsOnLongContexts, MeetTheReference) {
  const TestOp op = FindOp("attention");
  std::vector<Case> cases;
  op.cases->enumerate(Tier::kStandard, &cases);
  const auto is_long = [](const Case& c) {
    return c.dim("ctx") >= 1000 && (c.types[1] == HY_TYPE_F16 || c.types[1] == HY_TYPE_Q8_0);
  };
  cases.erase(std::remove_if(cases.begin(), cases.end(), std::not_fn(is_long)), cases.end());
  ASSERT_FALSE(cases.empty());
  for (const Case& c : SampledCases(cases)) {
    Trial trial(op, c);
    for (const hy_kernel_desc* kernel : AllKernelsOf(op)) {
      if ((kernel->flags & HY_KERNEL_REFERENCE) == 0) ExpectRight(&trial, *kernel, {1, 3}, c);
    }
  }
}

}  // namespace
}  // namespace halyard::ops
