// SPDX-License-Identifier: Apache-2.0
//
// References of products against answers worked out by hand, and what they say of exactness and bounds.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/quant/pack.h"
#include "gtest/gtest.h"
#include "ops/matmul/contract.h"
#include "ops/matmul_id/contract.h"
#include "reference/reference.h"

extern const halyard::reference::ReferenceOp halyard_reference_matmul;
extern const halyard::reference::ReferenceOp halyard_reference_matmul_id;

namespace halyard::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

hy_tensor Tensor(const void* data, uint32_t type, const std::vector<int64_t>& shape) {
  return hy_tensor_dense(const_cast<void*>(data), type, static_cast<uint32_t>(shape.size()),
                         shape.data());
}

hy_status RunAll(const hy_kernel_desc& kernel, const void* args, uint32_t workers) {
  std::vector<double> scratch(kernel.scratch_bytes(args, workers) / 8 + 8);
  hy_status worst = HY_OK;
  for (uint32_t i = 0; i < workers; ++i) {
    uint64_t ticket = 0;
    const auto base = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
    hy_kernel_context context{};
    context.struct_size = sizeof context;
    context.index = i;
    context.count = workers;
    context.scratch = reinterpret_cast<void*>(base);
    context.ticket = &ticket;
    const hy_status status = kernel.run(args, &context);
    if (status != HY_OK) worst = status;
  }
  return worst;
}

Expected ExpectOf(const ReferenceOp& op, const void* args, const Numerics& numerics = {}) {
  Expected expected;
  EXPECT_TRUE(op.expect(args, numerics, &expected).ok());
  return expected;
}

TEST(MatmulReferenceTest, MultipliesByTheTranspose) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<float> w = {1, 0, 0, 0, 1, -1};
  const std::vector<float> bias = {10, 20};
  std::vector<float> y(4, -1);
  hy_matmul_args args{};
  args.struct_size = sizeof args;
  args.x = Tensor(x.data(), HY_TYPE_F32, {2, 3});
  args.w = Tensor(w.data(), HY_TYPE_F32, {2, 3});
  args.bias = Tensor(bias.data(), HY_TYPE_F32, {2});
  args.y = Tensor(y.data(), HY_TYPE_F32, {2, 2});
  for (const uint32_t workers : {1u, 3u}) {
    y.assign(4, -1);
    EXPECT_EQ(RunAll(*halyard_reference_matmul.kernel, &args, workers), HY_OK);
    EXPECT_EQ(y, (std::vector<float>{11, 19, 14, 19}));
  }
  const Expected expected = ExpectOf(halyard_reference_matmul, &args);
  EXPECT_TRUE(expected.outputs[0].exact);
  EXPECT_EQ(expected.outputs[0].operand, 3u);
  EXPECT_EQ(expected.outputs[0].value, (std::vector<double>{11, 19, 14, 19}));
}

TEST(MatmulReferenceTest, EachBatchHasItsOwnWeightsOrSharesThem) {
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<float> w = {10, 1, 100, 1000};
  std::vector<float> y(2);
  hy_matmul_args args{};
  args.struct_size = sizeof args;
  args.x = Tensor(x.data(), HY_TYPE_F32, {2, 1, 2});
  args.y = Tensor(y.data(), HY_TYPE_F32, {2, 1, 1});
  args.w = Tensor(w.data(), HY_TYPE_F32, {2, 1, 2});
  EXPECT_EQ(RunAll(*halyard_reference_matmul.kernel, &args, 1), HY_OK);
  EXPECT_EQ(y, (std::vector<float>{12, 4300}));
  args.w = Tensor(w.data(), HY_TYPE_F32, {1, 2});
  EXPECT_EQ(RunAll(*halyard_reference_matmul.kernel, &args, 1), HY_OK);
  EXPECT_EQ(y, (std::vector<float>{12, 34}));
  EXPECT_EQ(ExpectOf(halyard_reference_matmul, &args).outputs[0].value,
            (std::vector<double>{12, 34}));
}

// One row of 32 columns with q4_0 weights.
struct Nibbles {
  Nibbles() : x(32) {
    quant::BlockScales scales;
    scales.scale = 0.5f;
    std::vector<int8_t> codes(32);
    for (int i = 0; i < 32; ++i) codes[static_cast<size_t>(i)] = static_cast<int8_t>(i % 16 - 8);
    quant::PackBlock(HY_TYPE_Q4_0, scales, codes.data(), 32, block);
    args.struct_size = sizeof args;
    args.x = Tensor(x.data(), HY_TYPE_F32, {1, 32});
    args.w = Tensor(block, HY_TYPE_Q4_0, {1, 32});
    args.y = Tensor(&y, HY_TYPE_F32, {1, 1});
  }
  std::vector<float> x;
  uint8_t block[18] = {};
  float y = 0;
  hy_matmul_args args{};
};

TEST(MatmulReferenceTest, RoundsActivationsAsTheClassSays) {
  Nibbles n;
  n.x[0] = 127;    // unit 1: all else is rounded to integers
  n.x[15] = 2.4f;  // codes -8 and 7
  EXPECT_EQ(ExpectOf(halyard_reference_matmul, &n.args).outputs[0].value[0],
            127 * -4 + 3.5 * static_cast<double>(2.4f));
  Numerics numerics;
  numerics.activation = HY_QA_BLOCK32;
  numerics.accumulator = HY_ACC_I32_F32;
  const Expected rounded = ExpectOf(halyard_reference_matmul, &n.args, numerics);
  EXPECT_EQ(rounded.outputs[0].value[0], 127 * -4 + 3.5 * 2);
  EXPECT_TRUE(rounded.outputs[0].exact);
  n.args.activation = HY_QA_BLOCK32;
  EXPECT_EQ(RunAll(*halyard_reference_matmul.kernel, &n.args, 1), HY_OK);
  EXPECT_EQ(n.y, 127 * -4 + 3.5 * 2);
}

TEST(MatmulReferenceTest, ANanInAQuantisedBlockMakesTheRowNan) {
  Nibbles n;
  n.x[3] = std::numeric_limits<float>::infinity();
  Numerics numerics;
  numerics.activation = HY_QA_BLOCK32;
  EXPECT_TRUE(
      std::isnan(ExpectOf(halyard_reference_matmul, &n.args, numerics).outputs[0].value[0]));
  EXPECT_EQ(ExpectOf(halyard_reference_matmul, &n.args).outputs[0].value[0], -kInfinity);
}

TEST(MatmulReferenceTest, BoundsShowADroppedProductAndPassAnotherOrder) {
  constexpr int64_t kCols = 256;
  std::vector<float> x(kCols);
  std::vector<float> w(kCols);
  float forwards = 0;
  float backwards = 0;
  for (size_t i = 0; i < kCols; ++i) {
    x[i] = std::sin(static_cast<float>(i) * 1.7f) * 3;
    w[i] = std::cos(static_cast<float>(i) * 0.9f);
  }
  for (size_t i = 0; i < kCols; ++i) {
    forwards += x[i] * w[i];
    backwards += x[kCols - 1 - i] * w[kCols - 1 - i];
  }
  float y = 0;
  hy_matmul_args args{};
  args.struct_size = sizeof args;
  args.x = Tensor(x.data(), HY_TYPE_F32, {1, kCols});
  args.w = Tensor(w.data(), HY_TYPE_F32, {1, kCols});
  args.y = Tensor(&y, HY_TYPE_F32, {1, 1});
  const Expected expected = ExpectOf(halyard_reference_matmul, &args);
  const ExpectedOutput& out = expected.outputs[0];
  EXPECT_FALSE(out.exact);
  EXPECT_LE(std::abs(forwards - out.value[0]), out.bound[0]);
  EXPECT_LE(std::abs(backwards - out.value[0]), out.bound[0]);
  int seen = 0;
  for (size_t i = 0; i < kCols; ++i)
    seen += std::abs(static_cast<double>(x[i] * w[i])) > 2 * out.bound[0] ? 1 : 0;
  EXPECT_GT(seen, kCols * 95 / 100);
  EXPECT_GE(expected.terms_visible * 100, expected.terms_sampled * 50);
  EXPECT_GT(expected.terms_sampled, 0u);
}

TEST(MatmulReferenceTest, NoColumnsGiveTheBias) {
  const float bias[] = {3, 4};
  float y[] = {-1, -1};
  hy_matmul_args args{};
  args.struct_size = sizeof args;
  args.x = Tensor(nullptr, HY_TYPE_F32, {1, 0});
  args.w = Tensor(nullptr, HY_TYPE_Q8_0, {2, 0});
  args.bias = Tensor(bias, HY_TYPE_F32, {2});
  args.y = Tensor(y, HY_TYPE_F32, {1, 2});
  EXPECT_EQ(RunAll(*halyard_reference_matmul.kernel, &args, 2), HY_OK);
  EXPECT_EQ(y[0], 3);
  EXPECT_EQ(y[1], 4);
  EXPECT_EQ(ExpectOf(halyard_reference_matmul, &args).outputs[0].value,
            (std::vector<double>{3, 4}));
}

TEST(MatmulIdReferenceTest, TakesTheNamedExpertOrZero) {
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<float> w = {1, 1, 10, 100};  // two experts of one column
  const std::vector<int32_t> ids = {1, 0, -1, 2};
  std::vector<float> y(4, -1);
  hy_matmul_id_args args{};
  args.struct_size = sizeof args;
  args.x = Tensor(x.data(), HY_TYPE_F32, {2, 2});
  args.w = Tensor(w.data(), HY_TYPE_F32, {2, 1, 2});
  args.ids = Tensor(ids.data(), HY_TYPE_I32, {2, 2});
  args.y = Tensor(y.data(), HY_TYPE_F32, {2, 2, 1});
  EXPECT_EQ(RunAll(*halyard_reference_matmul_id.kernel, &args, 2), HY_OUT_OF_RANGE);
  EXPECT_EQ(y, (std::vector<float>{210, 3, 0, 0}));
  const Expected expected = ExpectOf(halyard_reference_matmul_id, &args);
  EXPECT_EQ(expected.status, HY_OUT_OF_RANGE);
  EXPECT_EQ(expected.outputs[0].value, (std::vector<double>{210, 3, 0, 0}));
  // A row of x for each choice.
  const std::vector<int32_t> both = {1, 1};
  args.x = Tensor(x.data(), HY_TYPE_F32, {1, 2, 2});
  args.ids = Tensor(both.data(), HY_TYPE_I32, {1, 2});
  args.y = Tensor(y.data(), HY_TYPE_F32, {1, 2, 1});
  EXPECT_EQ(RunAll(*halyard_reference_matmul_id.kernel, &args, 1), HY_OK);
  EXPECT_EQ(y[0], 210);
  EXPECT_EQ(y[1], 430);
}

}  // namespace
}  // namespace halyard::reference
