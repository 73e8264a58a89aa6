// SPDX-License-Identifier: Apache-2.0
//
// References of ops on rows, and all their kernels, against vectors that torch and numpy made.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "ops/add/contract.h"
#include "ops/argmax/contract.h"
#include "ops/gelu_mul/contract.h"
#include "ops/layernorm/contract.h"
#include "ops/log_softmax/contract.h"
#include "ops/mul/contract.h"
#include "ops/rmsnorm/contract.h"
#include "ops/rope/contract.h"
#include "ops/sample/contract.h"
#include "ops/scale/contract.h"
#include "ops/silu_mul/contract.h"
#include "ops/softmax/contract.h"
#include "ops/test_builtin.h"
#include "ops/test_run.h"
#include "ops/top_k/contract.h"
#include "reference/golden.h"

namespace halyard::reference {
namespace {

using ops::FindOp;
using ops::TestOp;
using ops::TestTensor;

// Settings of a case by their offset in the args.
struct Setting {
  const char* name;
  size_t offset;
  bool is_float;
};

struct RowOp {
  const char* name;
  std::vector<Setting> settings;
  double tolerance;  // relative, of the reference to the vectors
};

#define SETTING(OP, NAME, IS_FLOAT) \
  { #NAME, offsetof(hy_##OP##_args, NAME), IS_FLOAT }
const RowOp kOps[] = {
    // These are rounded to f32 by their contract; the others are as exact as double is.
    {"add", {}, 0},
    {"mul", {}, 0},
    {"scale", {SETTING(scale, factor, true)}, 0x1p-24},
    {"rmsnorm", {SETTING(rmsnorm, eps, true)}, 1e-13},
    {"layernorm", {SETTING(layernorm, eps, true)}, 1e-11},
    {"rope", {SETTING(rope, mode, false)}, 1e-13},
    {"softmax", {SETTING(softmax, scale, true)}, 1e-13},
    {"log_softmax", {}, 1e-13},
    {"silu_mul", {}, 1e-13},
    {"gelu_mul", {SETTING(gelu_mul, approximation, false)}, 1e-13},
    {"argmax", {}, 0},
    {"top_k", {}, 0},
    {"sample", {}, 0},
};
#undef SETTING

// Args of a golden case; outputs are in memory of their own.
class GoldenArgs {
 public:
  GoldenArgs(const TestOp& op, const RowOp& row_op, const GoldenCase& c)
      : memory_(op.desc->args_bytes / 8 + 1) {
    auto* bytes = reinterpret_cast<unsigned char*>(memory_.data());
    std::memcpy(bytes, &op.desc->args_bytes, sizeof op.desc->args_bytes);
    for (const Setting& setting : row_op.settings) {
      const auto as_float = static_cast<float>(c.number(setting.name));
      const auto as_integer = static_cast<uint32_t>(c.number(setting.name));
      std::memcpy(bytes + setting.offset,
                  setting.is_float ? static_cast<const void*>(&as_float) : &as_integer, 4);
    }
    for (uint32_t i = 0; i < op.desc->operand_count; ++i) {
      const hy_operand& operand = op.desc->operands[i];
      if (!c.has(operand.name)) continue;
      hy_tensor tensor = c.view(operand.name);
      if ((operand.flags & HY_OPERAND_WRITE) != 0) tensor = Output(c.tensor(operand.name));
      std::memcpy(bytes + operand.offset, &tensor, sizeof tensor);
    }
  }
  const void* get() const { return memory_.data(); }

 private:
  hy_tensor Output(const GoldenTensor& golden) {
    const uint32_t type = golden.type == HY_TYPE_NONE ? uint32_t{HY_TYPE_F32} : golden.type;
    outputs_.push_back(std::make_unique<TestTensor>(type, golden.shape));
    return outputs_.back()->view();
  }
  std::vector<uint64_t> memory_;
  std::vector<std::unique_ptr<TestTensor>> outputs_;
};

class RowsGolden : public testing::TestWithParam<RowOp> {};

TEST_P(RowsGolden, TheReferenceGivesWhatOthersGive) {
  const TestOp op = FindOp(GetParam().name);
  const std::vector<GoldenCase> cases = ReadGolden(GetParam().name);
  for (const GoldenCase& c : cases) {
    SCOPED_TRACE(c.name());
    const GoldenArgs args(op, GetParam(), c);
    hy_why why = {};
    ASSERT_EQ(op.desc->validate(args.get(), &why), HY_OK) << why.text;
    Expected expected;
    ASSERT_TRUE(op.reference->expect(args.get(), {}, &expected).ok());
    EXPECT_EQ(expected.status, HY_OK);
    for (const ExpectedOutput& output : expected.outputs) {
      const char* name = op.desc->operands[output.operand].name;
      EXPECT_EQ(FirstDifference(output.value, c.tensor(name), GetParam().tolerance), "") << name;
    }
  }
}

TEST_P(RowsGolden, KernelsGiveItWithinTheirBudget) {
  const TestOp op = FindOp(GetParam().name);
  for (const GoldenCase& c : ReadGolden(GetParam().name)) {
    const GoldenArgs args(op, GetParam(), c);
    Expected expected;
    ASSERT_TRUE(op.reference->expect(args.get(), {}, &expected).ok());
    for (const hy_kernel_desc* kernel : ops::KernelsOf(op)) {
      EXPECT_EQ(ops::RunKernel(*kernel, args.get(), 2), HY_OK) << kernel->id;
      EXPECT_EQ(ops::FaultOf(*op.desc, args.get(), expected), "") << kernel->id << " " << c.name();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, RowsGolden, testing::ValuesIn(kOps),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace halyard::reference
