// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of matmul and matmul_id that this processor executes, against the reference, on the
// quick cases of the op: exact where the reference says so, within its bounds else.
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cpu_features.h"
#include "gtest/gtest.h"
#include "ops/builtin.h"
#include "ops/data/plain_builder.h"

namespace halyard::ops {
namespace {

// Op, its cases and reference, by the name of the op.
struct Op {
  const hy_op_desc* desc;
  const OpCases* cases;
  const reference::ReferenceOp* reference;
};

Op FindOp(const std::string& name) {
  const BuiltinOps& all = TheBuiltinOps();
  for (size_t i = 0; i < all.ops.size(); ++i) {
    if (all.ops[i]->name == name) return {all.ops[i], all.cases[i], all.references[i]};
  }
  return {};
}

std::vector<const hy_kernel_desc*> KernelsOf(const std::string& op) {
  std::vector<const hy_kernel_desc*> kernels;
  const IsaMask live = LiveIsa();
  for (const KernelTableFn table : TheBuiltinOps().kernels) {
    uint64_t count = 0;
    const hy_kernel_desc* const* rows = table(&count);
    for (uint64_t i = 0; i < count; ++i) {
      const bool executes = (rows[i]->isa[0] & ~live[0]) == 0 && (rows[i]->isa[1] & ~live[1]) == 0;
      if (rows[i]->op == op && executes) kernels.push_back(rows[i]);
    }
  }
  return kernels;
}

const hy_layout_desc* LayoutOf(uint32_t id) {
  for (const LayoutTableFn table : TheBuiltinOps().layouts) {
    uint64_t count = 0;
    const hy_layout_desc* const* rows = table(&count);
    for (uint64_t i = 0; i < count; ++i) {
      if (rows[i]->id == id) return rows[i];
    }
  }
  return nullptr;
}

// How a kernel is run.
struct Setting {
  uint32_t workers;
  bool other_params;  // the last value of each parameter, not the first
};

hy_status RunKernel(const hy_kernel_desc& kernel, const void* args, const Setting& setting) {
  std::vector<int64_t> params;
  for (uint32_t i = 0; i < kernel.param_count; ++i) {
    const hy_tuning_param& param = kernel.params[i];
    params.push_back(param.values[setting.other_params ? param.value_count - 1 : 0]);
  }
  const uint64_t bytes =
      kernel.scratch_bytes == nullptr ? 0 : kernel.scratch_bytes(args, setting.workers);
  std::vector<uint8_t> memory(bytes + 128, 0xff);
  const auto base = (reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64;
  std::atomic<hy_status> worst = HY_OK;
  for (uint32_t phase = 0; phase < kernel.phases; ++phase) {
    alignas(64) uint64_t ticket = 0;
    const auto work = [&](uint32_t index) {
      hy_kernel_context context{};
      context.struct_size = sizeof context;
      context.index = index;
      context.count = setting.workers;
      context.phase = phase;
      context.scratch = reinterpret_cast<void*>(base);
      context.scratch_bytes = bytes;
      context.ticket = &ticket;
      context.params = params.data();
      const hy_status status = kernel.run(args, &context);
      if (status != HY_OK) worst = status;
    };
    std::vector<std::thread> others;
    for (uint32_t i = 1; i < setting.workers; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& other : others) other.join();
  }
  for (uint64_t i = bytes; i < bytes + 64; ++i) {
    if (reinterpret_cast<const uint8_t*>(base)[i] != 0xff) return HY_INTERNAL;  // past its scratch
  }
  return worst;
}

// The first element that is wrong; empty if none is.
std::string Compare(const hy_tensor& y, const reference::ExpectedOutput& expected) {
  const int64_t cols = hy_tensor_cols(&y);
  for (size_t i = 0; i < expected.value.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / cols;
    const int64_t col = static_cast<int64_t>(i) % cols;
    const double got = reference::LoadElement(y, hy_tensor_row(&y, row), col);
    const double want = expected.value[i];
    const bool nan = std::isnan(want) && std::isnan(got);
    if (nan || got == want || std::abs(got - want) <= expected.bound[i]) continue;
    return absl::StrCat("element [", row, ", ", col, "] is ", got, ", not ", want, " +- ",
                        expected.bound[i], expected.exact ? ", exactly" : "");
  }
  return "";
}

bool TakesTypes(const hy_kernel_desc& kernel, const Case& c) {
  for (size_t i = 0; i < c.types.size(); ++i) {
    if (kernel.types[i] != HY_TYPE_NONE && kernel.types[i] != c.types[i]) return false;
  }
  return true;
}

bool Takes(const Op& op, const hy_kernel_desc& kernel, const void* args) {
  uint32_t allowed = 0;
  std::memcpy(&allowed, static_cast<const uint8_t*>(args) + op.desc->activation_offset, 4);
  if (allowed != HY_QA_ANY && kernel.activation != allowed) return false;
  hy_kernel_target target{};
  target.struct_size = sizeof target;
  target.workers = 1;
  hy_why why{};
  return kernel.supports == nullptr || kernel.supports(args, &target, &why) != 0;
}

// Args of a case in plain memory.
class Built {
 public:
  Built(const Op& op, const Case& c, const hy_layout_desc* layout)
      : builder_(&c, layout), args_(op.desc->args_bytes / 8 + 1) {
    status_ = op.cases->build(c, builder_, args_.data());
    if (status_.ok()) status_ = builder_.status();
  }
  void* args() { return args_.data(); }
  const absl::Status& status() const { return status_; }

 private:
  PlainBuilder builder_;
  std::vector<uint64_t> args_;
  absl::Status status_;
};

// Runs one kernel on one case if it takes it; returns whether it did.
bool Check(const Op& op, const hy_kernel_desc& kernel, const Case& c) {
  const bool packed = kernel.layout != HY_LAYOUT_CANONICAL;
  if (packed != (c.lay == "packed") || !TakesTypes(kernel, c)) return false;
  Built built(op, c, LayoutOf(kernel.layout));
  Case plain_case = c;
  if (packed) plain_case.lay = "dense";
  Built plain(op, plain_case, nullptr);
  EXPECT_TRUE(built.status().ok() && plain.status().ok()) << built.status();
  hy_why why{};
  EXPECT_EQ(op.desc->validate(built.args(), &why), HY_OK) << why.text;
  if (!built.status().ok() || !Takes(op, kernel, built.args())) return false;
  reference::Numerics numerics;
  numerics.activation = kernel.activation;
  numerics.accumulator = kernel.accumulator;
  reference::Expected expected;
  EXPECT_TRUE(op.reference->expect(plain.args(), numerics, &expected).ok());
  if (c.dist == "lossless" && kernel.activation != HY_QA_TOKEN_ASYM) {
    EXPECT_TRUE(expected.outputs[0].exact);
  }
  const hy_tensor* y = hy_operand_tensor(&op.desc->operands[3], built.args());
  for (const Setting& setting : {Setting{1, false}, Setting{3, false}, Setting{2, true}}) {
    EXPECT_EQ(RunKernel(kernel, built.args(), setting), expected.status);
    const std::string fault = Compare(*y, expected.outputs[0]);
    EXPECT_EQ(fault, "") << setting.workers << " workers"
                         << (setting.other_params ? ", params" : "");
    if (!fault.empty()) return true;
  }
  return true;
}

class KernelsTest : public testing::TestWithParam<const hy_kernel_desc*> {};

TEST_P(KernelsTest, AgreesWithTheReference) {
  const hy_kernel_desc& kernel = *GetParam();
  const Op op = FindOp(kernel.op);
  std::vector<Case> cases;
  op.cases->enumerate(Tier::kQuick, &cases);
  int run = 0;
  int failed = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(CaseText(c));
    const bool had_failed = HasFailure();
    if (!had_failed && Check(op, kernel, c)) ++run;
    if (HasFailure() && !had_failed) ++failed;
    if (failed > 3) break;
  }
  EXPECT_GT(run, 0);
}

std::vector<const hy_kernel_desc*> AllKernels() {
  std::vector<const hy_kernel_desc*> all = KernelsOf("matmul");
  for (const hy_kernel_desc* kernel : KernelsOf("matmul_id")) all.push_back(kernel);
  return all;
}

std::string NameOf(const testing::TestParamInfo<const hy_kernel_desc*>& info) {
  std::string name = info.param->id;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, KernelsTest, testing::ValuesIn(AllKernels()), NameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KernelsTest);

}  // namespace
}  // namespace halyard::ops
