// SPDX-License-Identifier: Apache-2.0
//
// matmul, matmul_id, attention and kv_append against vectors that gguf, numpy and torch made.
#include <cstring>

#include "gtest/gtest.h"
#include "ops/attention/contract.h"
#include "ops/kv_append/contract.h"
#include "ops/matmul/contract.h"
#include "ops/matmul_id/contract.h"
#include "ops/test_run.h"
#include "reference/golden.h"
#include "reference/test_expect.h"

namespace halyard::reference {
namespace {

using ops::TestTensor;

// The reference's values are f64 sums like those of torch, in another order.
constexpr double kTolerance = 1e-13;

template <typename Args>
Args ArgsOf(const GoldenCase& c, const TestTensor& y) {
  Args args = {};
  args.struct_size = sizeof args;
  args.x = c.view("x");
  args.w = c.view("w");
  args.activation = static_cast<uint32_t>(c.number("activation"));
  args.y = y.view();
  return args;
}

template <typename Args>
void CheckProduct(const char* op, const GoldenCase& c, const Args& args) {
  SCOPED_TRACE(c.name());
  const Numerics numerics = {args.activation, HY_ACC_F32, 0};
  const Expected expected = ExpectedOf(op, args, numerics);
  EXPECT_EQ(expected.status, HY_OK);
  EXPECT_EQ(FirstDifference(expected.outputs[0].value, c.tensor("y"), kTolerance), "");
}

TEST(ProductsGolden, Matmul) {
  const auto cases = ReadGolden("matmul");
  EXPECT_GE(cases.size(), 20u);
  for (const GoldenCase& c : cases) {
    const TestTensor y(HY_TYPE_F32, c.tensor("y").shape);
    auto args = ArgsOf<hy_matmul_args>(c, y);
    args.bias = c.view("bias");
    CheckProduct("matmul", c, args);
  }
}

TEST(ProductsGolden, MatmulId) {
  const auto cases = ReadGolden("matmul_id");
  EXPECT_EQ(cases.size(), 4u);
  for (const GoldenCase& c : cases) {
    const TestTensor y(HY_TYPE_F32, c.tensor("y").shape);
    auto args = ArgsOf<hy_matmul_id_args>(c, y);
    args.ids = c.view("ids");
    CheckProduct("matmul_id", c, args);
  }
}

TEST(ProductsGolden, Attention) {
  const auto cases = ReadGolden("attention");
  EXPECT_EQ(cases.size(), 6u);
  for (const GoldenCase& c : cases) {
    SCOPED_TRACE(c.name());
    const TestTensor y(HY_TYPE_F32, c.tensor("y").shape);
    hy_attention_args args = {};
    args.struct_size = sizeof args;
    args.causal = static_cast<uint32_t>(c.number("causal"));
    args.scale = static_cast<float>(c.number("scale"));
    args.soft_cap = static_cast<float>(c.number("soft_cap"));
    args.window = static_cast<int32_t>(c.number("window"));
    args.q = c.view("q");
    args.k_pages = c.view("k_pages");
    args.v_pages = c.view("v_pages");
    args.block_table = c.view("block_table");
    args.q_start = c.view("q_start");
    args.kv_len = c.view("kv_len");
    args.y = y.view();
    const Expected expected = ExpectedOf("attention", args);
    EXPECT_EQ(FirstDifference(expected.outputs[0].value, c.tensor("y"), kTolerance), "");
    ExpectAllKernelsAgree("attention", args);
  }
}

TEST(ProductsGolden, KvAppend) {
  const auto cases = ReadGolden("kv_append");
  ASSERT_EQ(cases.size(), 1u);
  const GoldenCase& c = cases[0];
  for (const hy_kernel_desc* kernel : ops::KernelsOf(ops::FindOp("kv_append"))) {
    SCOPED_TRACE(kernel->id);
    const TestTensor k(HY_TYPE_F32, c.tensor("k_pages").shape, c.tensor("k_pages").values);
    const TestTensor v(HY_TYPE_F32, c.tensor("v_pages").shape, c.tensor("v_pages").values);
    const hy_kv_append_args args = {sizeof args,     0,        c.view("k"), c.view("v"),
                                    c.view("slots"), k.view(), v.view()};
    EXPECT_EQ(ops::RunKernel(*kernel, &args, 3), HY_OK);
    EXPECT_EQ(FirstDifference(k.Get(), c.tensor("k_after"), 0), "");
    EXPECT_EQ(FirstDifference(v.Get(), c.tensor("v_after"), 0), "");
  }
}

}  // namespace
}  // namespace halyard::reference
