// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of matmul and matmul_id that this processor executes, against the reference, on the
// smaller of the op's quick cases: exact where the reference says so, within its bounds else. All cases
// are the conformance suite's.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cpu_features.h"
#include "gtest/gtest.h"
#include "ops/builtin.h"
#include "ops/data/plain_builder.h"
#include "ops/matmul/case_formats.h"
#include "ops/test_case_step.h"

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

// Args of a case without memory: as much as predicates look at.
class ShapeBuilder : public CaseBuilder {
 public:
  explicit ShapeBuilder(const Case* c) : CaseBuilder(c) {}
  hy_tensor Input(absl::string_view, uint32_t type, absl::Span<const int64_t> shape,
                  absl::string_view) override {
    return hy_tensor_dense(nullptr, type, static_cast<uint32_t>(shape.size()), shape.data());
  }
  hy_tensor Weights(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                    absl::string_view dist) override {
    return Input(name, type, shape, dist);
  }
  hy_tensor Ints(absl::string_view name, absl::Span<const int64_t> shape,
                 absl::Span<const int32_t>) override {
    return Input(name, HY_TYPE_I32, shape, "");
  }
  hy_tensor Floats(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                   absl::Span<const float>) override {
    return Input(name, type, shape, "");
  }
  hy_tensor Output(absl::string_view name, uint32_t type,
                   absl::Span<const int64_t> shape) override {
    return Input(name, type, shape, "");
  }
  hy_tensor InOut(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape) override {
    return Input(name, type, shape, "");
  }
  hy_tensor InPlace(absl::string_view, const hy_tensor& in) override { return in; }
};

bool Takes(const Op& op, const hy_kernel_desc& kernel, const Case& c) {
  for (size_t i = 0; i < c.types.size(); ++i) {
    if (kernel.types[i] != HY_TYPE_NONE && kernel.types[i] != c.types[i]) return false;
  }
  std::vector<uint64_t> args(op.desc->args_bytes / 8 + 1);
  ShapeBuilder builder(&c);
  if (!op.cases->build(c, builder, args.data()).ok()) return false;
  uint32_t allowed = 0;
  std::memcpy(&allowed, reinterpret_cast<const uint8_t*>(args.data()) + op.desc->activation_offset,
              sizeof allowed);
  if (allowed != HY_QA_ANY && kernel.activation != allowed) return false;
  hy_kernel_target target{};
  target.struct_size = sizeof target;
  target.workers = 1;
  hy_why why{};
  if (kernel.layout != HY_LAYOUT_CANONICAL) {
    const hy_tensor& w = *hy_operand_tensor(&op.desc->operands[1], args.data());
    const int64_t rows = w.shape[w.rank - 2];
    if (LayoutOf(kernel.layout)->supports(rows, hy_tensor_cols(&w), &why) == 0) return false;
  }
  return kernel.supports == nullptr || kernel.supports(args.data(), &target, &why) != 0;
}

// Weights in a kernel's layout.
class Packed {
 public:
  Packed(const hy_layout_desc& layout, const hy_tensor& canonical) : tensor_(canonical) {
    const int64_t rows = canonical.shape[canonical.rank - 2];
    const uint64_t step = hy_round_up(layout.packed_bytes(rows, hy_tensor_cols(&canonical)), 64);
    const auto matrices = static_cast<uint64_t>(rows == 0 ? 0 : hy_tensor_rows(&canonical) / rows);
    memory_.resize(matrices * step + 128, 0xff);
    auto base = (reinterpret_cast<uintptr_t>(memory_.data()) + 63) / 64 * 64;
    tensor_.data = reinterpret_cast<void*>(base);
    tensor_.layout = layout.id;
    for (uint64_t i = 0; i < matrices; ++i, base += step) {
      hy_tensor matrix = canonical;
      if (canonical.rank == 3) {
        matrix.rank = 2;
        matrix.data =
            static_cast<uint8_t*>(canonical.data) + static_cast<int64_t>(i) * canonical.stride[0];
        std::copy_n(canonical.shape + 1, 2, matrix.shape);
        std::copy_n(canonical.stride + 1, 2, matrix.stride);
      }
      for (uint32_t worker = 0; worker < 2; ++worker)
        layout.pack(&matrix, reinterpret_cast<void*>(base), worker, 2);
    }
  }
  const hy_tensor& tensor() const { return tensor_; }

 private:
  std::vector<uint8_t> memory_;
  hy_tensor tensor_;
};

// Products of a case, so that emulated runs are over in time.
bool IsSmall(const Case& c) {
  const int64_t rows =
      c.op == "matmul" ? c.dim("M") * std::max<int64_t>(1, c.dim("B")) : c.dim("T") * c.dim("U");
  return rows * c.dim("N") * c.dim("K") <= 200000;
}

using Kernels = std::vector<const hy_kernel_desc*>;

void CheckKernel(const Op& op, const hy_kernel_desc& kernel, const Case& c, void* args,
                 const reference::Expected& expected) {
  SCOPED_TRACE(kernel.id);
  if (c.dist == "lossless" && kernel.activation != HY_QA_TOKEN_ASYM) {
    EXPECT_TRUE(expected.outputs[0].exact);
  }
  const hy_tensor y = *hy_operand_tensor(&op.desc->operands[3], args);
  for (const Setting& setting : {Setting{1, false}, Setting{3, true}}) {
    for (int64_t row = 0; row < hy_tensor_rows(&y); ++row)
      std::memset(hy_tensor_row(&y, row), 0xff, hy_type_row_bytes(y.type, hy_tensor_cols(&y)));
    EXPECT_EQ(RunKernel(kernel, args, setting), expected.status);
    EXPECT_EQ(Compare(y, expected.outputs[0]), "")
        << setting.workers << " workers" << (setting.other_params ? ", other parameters" : "");
  }
}

// Runs all of the kernels that take the case.
void CheckCase(const Op& op, const Kernels& kernels, const Case& c) {
  SCOPED_TRACE(CaseText(c));
  PlainBuilder builder(&c);
  std::vector<uint64_t> args(op.desc->args_bytes / 8 + 1);
  hy_why why{};
  ASSERT_TRUE(op.cases->build(c, builder, args.data()).ok() && builder.status().ok());
  ASSERT_EQ(op.desc->validate(args.data(), &why), HY_OK) << why.text;
  std::map<std::pair<uint32_t, uint32_t>, reference::Expected> expected;
  const hy_tensor canonical = *hy_operand_tensor(&op.desc->operands[1], args.data());
  for (const hy_kernel_desc* kernel : kernels) {
    const auto [at, is_new] =
        expected.try_emplace(std::make_pair(kernel->activation, kernel->accumulator));
    const reference::Numerics numerics{kernel->activation, kernel->accumulator, kernel->flags};
    if (is_new) {
      ASSERT_TRUE(op.reference->expect(args.data(), numerics, &at->second).ok());
    }
    std::vector<uint64_t> own_args = args;
    auto& w = *reinterpret_cast<hy_tensor*>(reinterpret_cast<uint8_t*>(own_args.data()) +
                                            op.desc->operands[1].offset);
    std::optional<Packed> packed;
    if (kernel->layout != HY_LAYOUT_CANONICAL) {
      packed.emplace(*LayoutOf(kernel->layout), canonical);
      w = packed->tensor();
    }
    CheckKernel(op, *kernel, c, own_args.data(), at->second);
  }
}

using Param = std::tuple<const char*, uint32_t>;  // op, type of weights

class KernelsTest : public testing::TestWithParam<Param> {};

TEST_P(KernelsTest, AgreeWithTheReference) {
  const auto [name, w_type] = GetParam();
  const Op op = FindOp(name);
  const Kernels all = KernelsOf(name);
  std::vector<Case> cases;
  op.cases->enumerate(Tier::kQuick, &cases);
  cases.erase(
      std::remove_if(cases.begin(), cases.end(),
                     [type = w_type](const Case& c) { return c.types[1] != type || !IsSmall(c); }),
      cases.end());
  for (const Case& c : SampledCases(cases)) {
    if (HasFailure()) break;
    Kernels kernels;
    std::copy_if(all.begin(), all.end(), std::back_inserter(kernels),
                 [&](const hy_kernel_desc* kernel) { return Takes(op, *kernel, c); });
    if (!kernels.empty()) CheckCase(op, kernels, c);
  }
}

std::string NameOf(const testing::TestParamInfo<Param>& info) {
  return absl::StrCat(std::get<0>(info.param), "_", hy_type_name(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(All, KernelsTest,
                         testing::Combine(testing::Values("matmul", "matmul_id"),
                                          testing::ValuesIn(kProductWeights)),
                         NameOf);

TEST(KernelCasesTest, EachKernelTakesSome) {
  for (const char* name : {"matmul", "matmul_id"}) {
    const Op op = FindOp(name);
    std::vector<Case> cases;
    op.cases->enumerate(Tier::kQuick, &cases);
    for (const hy_kernel_desc* kernel : KernelsOf(name)) {
      const auto taken = std::count_if(cases.begin(), cases.end(),
                                       [&](const Case& c) { return Takes(op, *kernel, c); });
      EXPECT_GT(taken, 10) << kernel->id;
    }
  }
}

}  // namespace
}  // namespace halyard::ops
