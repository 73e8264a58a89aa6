// SPDX-License-Identifier: Apache-2.0
//
// References of ops on rows against values worked out by hand, edges of the contracts among them; every
// kernel must agree.
#include <gmock/gmock.h>

#include <cmath>

#include "ops/argmax/contract.h"
#include "ops/gelu_mul/contract.h"
#include "ops/layernorm/contract.h"
#include "ops/log_softmax/contract.h"
#include "ops/rmsnorm/contract.h"
#include "ops/rope/contract.h"
#include "ops/scale/contract.h"
#include "ops/silu_mul/contract.h"
#include "ops/softmax/contract.h"
#include "ops/top_k/contract.h"
#include "reference/test_expect.h"

namespace halyard::reference {
namespace {

using ops::kInf;
using ops::kNan;
using ops::TestTensor;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

MATCHER(IsSame, "are the same number, or both NaN") {
  const double a = std::get<0>(arg);
  const double b = std::get<1>(arg);
  return std::isnan(b) ? std::isnan(a) : a == b || std::abs(a - b) <= 4e-15 * std::abs(b);
}

// What the reference gives for args; all kernels agree with it.
template <typename Args>
std::vector<double> Checked(const char* op, const Args& args) {
  ExpectAllKernelsAgree(op, args);
  return ValuesOf(op, args);
}

TEST(RowsKnown, Softmax) {
  const TestTensor x(HY_TYPE_F32, {5, 3},
                     {1, 2, 3, 7, 7, 7, -kInf, 0, -kInf,  //
                      -kInf, -kInf, -kInf, 0, kInf, 0});
  const TestTensor y(HY_TYPE_F32, {5, 3});
  const hy_softmax_args args = {sizeof args, 1.0f, x.view(), {}, y.view()};
  EXPECT_THAT(
      Checked("softmax", args),
      Pointwise(IsSame(), {0.0900305731703804629, 0.244728471054797646, 0.665240955774821891,
                           1.0 / 3, 1.0 / 3, 1.0 / 3, 0.0, 1.0, 0.0,  //
                           0.0, 0.0, 0.0, kNan, kNan, kNan}));
}

TEST(RowsKnown, SoftmaxScalesBeforeItMasks) {
  const TestTensor x(HY_TYPE_F32, {2, 3}, {1, 2, 3, 3, 2, 1});
  const TestTensor mask(HY_TYPE_F32, {1, 3}, {0, -kInf, -2});
  const TestTensor y(HY_TYPE_F32, {2, 3});
  const hy_softmax_args args = {sizeof args, 2.0f, x.view(), mask.view(), y.view()};
  // Scores 2, -Inf, 4 and 6, -Inf, 0.
  const double a = 1 / (1 + std::exp(2.0));
  const double b = 1 / (1 + std::exp(-6.0));
  EXPECT_THAT(Checked("softmax", args),
              Pointwise(DoubleNear(1e-15), {a, 0.0, 1 - a, b, 0.0, 1 - b}));
}

TEST(RowsKnown, LogSoftmax) {
  const TestTensor x(HY_TYPE_F32, {4, 2}, {5, 5, 0, -kInf, -kInf, -kInf, 1, kNan});
  const TestTensor all(HY_TYPE_F32, {4, 2});
  const hy_log_softmax_args args = {sizeof args, 0, x.view(), {}, all.view()};
  EXPECT_THAT(Checked("log_softmax", args),
              Pointwise(IsSame(), {-M_LN2, -M_LN2, 0.0, -kInf, kNan, kNan, kNan, kNan}));

  const TestTensor ids(HY_TYPE_I32, {4, 3}, {1, -1, 0, 1, 0, 0, 0, 0, -7, 0, 0, 0});
  const TestTensor y(HY_TYPE_F32, {4, 3});
  const hy_log_softmax_args named = {sizeof named, 0, x.view(), ids.view(), y.view()};
  EXPECT_THAT(Checked("log_softmax", named),
              Pointwise(IsSame(), {-M_LN2, -kInf, -M_LN2, -kInf, 0.0, 0.0,  //
                                   kNan, kNan, -kInf, kNan, kNan, kNan}));
}

TEST(RowsKnown, LogSoftmaxOfAColumnThatIsNotThere) {
  const TestTensor x(HY_TYPE_F32, {1, 2}, {3, 3});
  const TestTensor ids(HY_TYPE_I32, {1, 2}, {2, 1});
  const TestTensor y(HY_TYPE_F32, {1, 2});
  const hy_log_softmax_args args = {sizeof args, 0, x.view(), ids.view(), y.view()};
  EXPECT_EQ(ExpectedOf("log_softmax", args).status, HY_OUT_OF_RANGE);
  EXPECT_THAT(Checked("log_softmax", args), Pointwise(IsSame(), {-kInf, -M_LN2}));
}

TEST(RowsKnown, Norms) {
  const TestTensor x(HY_TYPE_F32, {1, 2}, {3, 4});
  const TestTensor y(HY_TYPE_F32, {1, 2});
  const TestTensor w(HY_TYPE_F32, {2}, {2, -1});
  const hy_rmsnorm_args rms = {sizeof rms, 0.0f, x.view(), {}, w.view(), y.view(), {}};
  EXPECT_THAT(Checked("rmsnorm", rms),
              Pointwise(IsSame(), {6 / std::sqrt(12.5), -4 / std::sqrt(12.5)}));

  const TestTensor four(HY_TYPE_F32, {1, 4}, {1, 2, 3, 4});
  const TestTensor z(HY_TYPE_F32, {1, 4});
  const TestTensor b(HY_TYPE_F32, {4}, {0, 0, 0, 10});
  const hy_layernorm_args layer = {sizeof layer, 0.75f, four.view(), {}, b.view(), z.view()};
  // Mean 2.5, variance 1.25, so the root is that of 2.
  const double r = std::sqrt(2.0);
  EXPECT_THAT(Checked("layernorm", layer),
              Pointwise(IsSame(), {-1.5 / r, -0.5 / r, 0.5 / r, 1.5 / r + 10}));
}

TEST(RowsKnown, RmsnormNormalisesTheSumAsItIsStored) {
  // 2048 + 1 is no f16: the stored sum, which is normalised, is 2048.
  const TestTensor x(HY_TYPE_F16, {1, 2}, {2048, 0});
  const TestTensor add(HY_TYPE_F16, {1, 2}, {1, 2048});
  const TestTensor y(HY_TYPE_F16, {1, 2});
  const TestTensor sum(HY_TYPE_F16, {1, 2});
  const hy_rmsnorm_args args = {sizeof args, 0.0f, x.view(), add.view(), {}, y.view(), sum.view()};
  EXPECT_THAT(Checked("rmsnorm", args), ElementsAre(1.0, 1.0));
  EXPECT_THAT(ExpectedOf("rmsnorm", args).outputs[1].value, ElementsAre(2048, 2048));
}

TEST(RowsKnown, Gates) {
  const TestTensor gate(HY_TYPE_F32, {6}, {1, -1, 0, -kInf, kInf, kNan});
  const TestTensor up(HY_TYPE_F32, {6}, {1, 2, 5, 3, 1, 1});
  const TestTensor y(HY_TYPE_F32, {6});
  const hy_silu_mul_args silu = {sizeof silu, 0, gate.view(), up.view(), y.view()};
  EXPECT_THAT(
      Checked("silu_mul", silu),
      Pointwise(IsSame(), {0.731058578630004879, -0.537882842739990242, 0.0, 0.0, kInf, kNan}));
  hy_gelu_mul_args gelu = {sizeof gelu, HY_GELU_NONE, gate.view(), up.view(), y.view()};
  EXPECT_THAT(
      Checked("gelu_mul", gelu),
      Pointwise(IsSame(), {0.841344746068542949, -0.317310507862914102, 0.0, 0.0, kInf, kNan}));
  gelu.approximation = HY_GELU_TANH;
  const double t = std::tanh(std::sqrt(2 / M_PI) * 1.044715);
  EXPECT_THAT(Checked("gelu_mul", gelu),
              Pointwise(IsSame(), {0.5 * (1 + t), t - 1, 0.0, 0.0, kInf, kNan}));
}

TEST(RowsKnown, GatesFallToZeroWithoutCancelling) {
  const TestTensor gate(HY_TYPE_F32, {3}, {-90, -10, -8});
  const TestTensor up(HY_TYPE_F32, {3}, {1, 1, 1});
  const TestTensor y(HY_TYPE_F32, {3});
  const hy_silu_mul_args silu = {sizeof silu, 0, gate.view(), up.view(), y.view()};
  EXPECT_NEAR(Checked("silu_mul", silu)[0] / (-90 * std::exp(-90.0)), 1, 1e-15);
  const hy_gelu_mul_args gelu = {sizeof gelu, HY_GELU_NONE, gate.view(), up.view(), y.view()};
  // Phi(-10) of the tables.
  EXPECT_NEAR(Checked("gelu_mul", gelu)[1] / (-10 * 7.61985302416052606e-24), 1, 1e-14);
}

TEST(RowsKnown, RopeTurnsByQuarters) {
  // Position p turns by p quarters of a circle.
  const TestTensor table(HY_TYPE_F32, {4, 1, 2}, {1, 0, 0, 1, -1, 0, 0, -1});
  const TestTensor x(HY_TYPE_F32, {4, 1, 3}, {3, 5, 8, 3, 5, 8, 3, 5, 8, 3, 5, 8});
  const TestTensor positions(HY_TYPE_I32, {4}, {0, 1, 2, 3});
  const TestTensor y(HY_TYPE_F32, {4, 1, 3});
  const hy_rope_args args = {sizeof args,  HY_ROPE_INTERLEAVED, x.view(),
                             table.view(), positions.view(),    y.view()};
  EXPECT_THAT(Checked("rope", args), ElementsAre(3, 5, 8, -5, 3, 8, -3, -5, 8, 5, -3, 8));
}

TEST(RowsKnown, RopePairsElementsByMode) {
  const TestTensor table(HY_TYPE_F32, {1, 2, 2}, {0, 1, 1, 0});  // a quarter, then nothing
  const TestTensor x(HY_TYPE_F32, {1, 1, 4}, {1, 2, 3, 4});
  const TestTensor positions(HY_TYPE_I32, {1}, std::vector<double>{0});
  const TestTensor y(HY_TYPE_F32, {1, 1, 4});
  hy_rope_args args = {sizeof args,  HY_ROPE_INTERLEAVED, x.view(),
                       table.view(), positions.view(),    y.view()};
  EXPECT_THAT(Checked("rope", args), ElementsAre(-2, 1, 3, 4));
  args.mode = HY_ROPE_SPLIT;
  EXPECT_THAT(Checked("rope", args), ElementsAre(-3, 2, 1, 4));
}

TEST(RowsKnown, RopeOfAPositionThatIsNotThereCopies) {
  const TestTensor table(HY_TYPE_F32, {2, 1, 2}, {1, 0, 0, 1});
  const TestTensor x(HY_TYPE_F32, {3, 1, 2}, {1, 2, 3, 4, 5, 6});
  const TestTensor positions(HY_TYPE_I32, {3}, {2, 1, -1});
  const TestTensor y(HY_TYPE_F32, {3, 1, 2});
  const hy_rope_args args = {sizeof args,  HY_ROPE_SPLIT,    x.view(),
                             table.view(), positions.view(), y.view()};
  EXPECT_EQ(ExpectedOf("rope", args).status, HY_OUT_OF_RANGE);
  EXPECT_THAT(Checked("rope", args), ElementsAre(1, 2, -4, 3, 5, 6));
}

TEST(RowsKnown, ScaleRoundsToF32ThenToTheOutput) {
  // The product lies just below the middle of two f16; in f32 it is the middle, which goes to the
  // even one, 0x1.008p0.
  const TestTensor x(HY_TYPE_F16, {1}, std::vector<double>{0x1.004p0});
  const TestTensor y(HY_TYPE_F16, {1});
  const hy_scale_args args = {sizeof args, 0x1.001ff8p0f, x.view(), y.view()};
  ASSERT_EQ(RoundTo(HY_TYPE_F16, 0x1.004p0 * 0x1.001ff8p0), 0x1.004p0);
  EXPECT_EQ(RoundTo(HY_TYPE_F16, Checked("scale", args)[0]), 0x1.008p0);
  const TestTensor zeros(HY_TYPE_F32, {3}, {-0.0, kInf, kNan});
  const TestTensor out(HY_TYPE_F32, {3});
  const hy_scale_args none = {sizeof none, 0.0f, zeros.view(), out.view()};
  EXPECT_THAT(Checked("scale", none), Pointwise(IsSame(), {-0.0, kNan, kNan}));
}

TEST(RowsKnown, Argmax) {
  const TestTensor x(HY_TYPE_F32, {5, 3},
                     {1, 3, 3, -0.0, 0, 0, -kInf, -kInf, -kInf,  //
                      kInf, 0, kInf, 0, kNan, 9});
  const TestTensor y(HY_TYPE_I32, {5});
  const hy_argmax_args args = {sizeof args, 0, x.view(), y.view()};
  EXPECT_EQ(ExpectedOf("argmax", args).status, HY_INVALID_ARGUMENT);
  EXPECT_THAT(Checked("argmax", args), ElementsAre(1, 0, 0, 0, -1));
  const TestTensor none(HY_TYPE_F32, {2, 0});
  const TestTensor of_none(HY_TYPE_I32, {2});
  const hy_argmax_args empty = {sizeof empty, 0, none.view(), of_none.view()};
  EXPECT_EQ(ExpectedOf("argmax", empty).status, HY_OK);
  EXPECT_THAT(Checked("argmax", empty), ElementsAre(-1, -1));
}

TEST(RowsKnown, TopK) {
  const TestTensor x(HY_TYPE_F32, {3, 4}, {5, 7, 7, 5, 0, -0.0, 1, 0, 1, 2, kNan, 4});
  const TestTensor values(HY_TYPE_F32, {3, 5});
  const TestTensor ids(HY_TYPE_I32, {3, 5});
  const hy_top_k_args args = {sizeof args, 0, x.view(), values.view(), ids.view()};
  EXPECT_EQ(ExpectedOf("top_k", args).status, HY_INVALID_ARGUMENT);
  EXPECT_THAT(Checked("top_k", args),
              Pointwise(IsSame(), {7.0, 7.0, 5.0, 5.0, -kInf, 1.0, 0.0, 0.0, 0.0, -kInf,  //
                                   kNan, kNan, kNan, kNan, kNan}));
  EXPECT_THAT(ExpectedOf("top_k", args).outputs[1].value,
              ElementsAre(1, 2, 0, 3, -1, 2, 0, 1, 3, -1, -1, -1, -1, -1, -1));
}

}  // namespace
}  // namespace halyard::reference
