// SPDX-License-Identifier: Apache-2.0
//
// Laws that the references of ops on rows must keep whatever the data: these find what no single value
// shows.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/argmax/contract.h"
#include "ops/data/distribution.h"
#include "ops/gelu_mul/contract.h"
#include "ops/layernorm/contract.h"
#include "ops/log_softmax/contract.h"
#include "ops/mul/contract.h"
#include "ops/rmsnorm/contract.h"
#include "ops/rope/contract.h"
#include "ops/silu_mul/contract.h"
#include "ops/softmax/contract.h"
#include "ops/top_k/contract.h"
#include "reference/test_expect.h"

namespace halyard::reference {
namespace {

using ops::TestTensor;
using testing::DoubleNear;
using testing::Pointwise;

constexpr uint64_t kSeed = 20;

std::vector<double> Random(int64_t count, const char* name) {
  TestTensor values(HY_TYPE_F32, {1, count});
  ops::Fill({ops::Dist::kNormal, kSeed, name, ops::Role::kInput}, values.view());
  return values.Get();
}

std::vector<double> Softmax(const std::vector<double>& x, double scale = 1) {
  const auto n = static_cast<int64_t>(x.size());
  const TestTensor in(HY_TYPE_F32, {1, n}, x);
  const TestTensor y(HY_TYPE_F32, {1, n});
  const hy_softmax_args args = {sizeof args, static_cast<float>(scale), in.view(), {}, y.view()};
  return ValuesOf("softmax", args);
}

TEST(RowsProperty, SoftmaxIsADistributionInTheOrderOfItsScores) {
  const std::vector<double> x = Random(301, "x");
  const std::vector<double> y = Softmax(x);
  EXPECT_NEAR(std::accumulate(y.begin(), y.end(), 0.0), 1, 1e-13);
  for (size_t i = 1; i < x.size(); ++i) EXPECT_EQ(x[i] < x[i - 1], y[i] < y[i - 1]) << i;
}

TEST(RowsProperty, SoftmaxDependsOnDifferencesOnly) {
  std::vector<double> x = Random(64, "x");
  for (double& value : x) value = std::round(value * 256) / 256;  // so that sums are exact
  std::vector<double> moved = x;
  for (double& value : moved) value += 64;
  EXPECT_THAT(Softmax(moved), Pointwise(DoubleNear(1e-14), Softmax(x)));
  for (double& value : moved) value = (value - 64) / 1024;
  EXPECT_THAT(Softmax(moved, 1024), Pointwise(DoubleNear(1e-14), Softmax(x)));
}

TEST(RowsProperty, LogSoftmaxIsTheLogarithmOfSoftmax) {
  const std::vector<double> x = Random(200, "x");
  const TestTensor in(HY_TYPE_F32, {1, 200}, x);
  const TestTensor y(HY_TYPE_F32, {1, 200});
  const hy_log_softmax_args args = {sizeof args, 0, in.view(), {}, y.view()};
  std::vector<double> logs = Softmax(x);
  for (double& value : logs) value = std::log(value);
  EXPECT_THAT(ValuesOf("log_softmax", args), Pointwise(DoubleNear(1e-12), logs));
}

std::vector<double> Rmsnorm(const std::vector<double>& x) {
  const auto n = static_cast<int64_t>(x.size());
  const TestTensor in(HY_TYPE_F32, {1, n}, x);
  const TestTensor y(HY_TYPE_F32, {1, n});
  const hy_rmsnorm_args args = {sizeof args, 0.0f, in.view(), {}, {}, y.view(), {}};
  return ValuesOf("rmsnorm", args);
}

std::vector<double> Layernorm(const std::vector<double>& x) {
  const auto n = static_cast<int64_t>(x.size());
  const TestTensor in(HY_TYPE_F32, {1, n}, x);
  const TestTensor y(HY_TYPE_F32, {1, n});
  const hy_layernorm_args args = {sizeof args, 0.0f, in.view(), {}, {}, y.view()};
  return ValuesOf("layernorm", args);
}

TEST(RowsProperty, NormsForgetTheSizeAndLayernormThePlaceToo) {
  const std::vector<double> x = Random(97, "x");
  std::vector<double> larger = x;
  for (double& value : larger) value *= 8;
  EXPECT_THAT(Rmsnorm(larger), Pointwise(DoubleNear(1e-14), Rmsnorm(x)));
  EXPECT_THAT(Layernorm(larger), Pointwise(DoubleNear(1e-14), Layernorm(x)));
  const std::vector<double> y = Layernorm(x);
  const double sum = std::accumulate(y.begin(), y.end(), 0.0);
  const double squares = std::inner_product(y.begin(), y.end(), y.begin(), 0.0);
  EXPECT_NEAR(sum, 0, 1e-12);
  EXPECT_NEAR(squares, 97, 1e-11);
  const std::vector<double> r = Rmsnorm(x);
  EXPECT_NEAR(std::inner_product(r.begin(), r.end(), r.begin(), 0.0), 97, 1e-11);
}

std::vector<double> Turned(uint32_t mode, const std::vector<double>& x, double sign) {
  std::vector<double> table;
  for (int position = 0; position < 5; ++position) {
    for (int i = 0; i < 8; ++i) {
      table.push_back(std::cos(position * 0.7 / (i + 1)));
      table.push_back(sign * std::sin(position * 0.7 / (i + 1)));
    }
  }
  const TestTensor turns(HY_TYPE_F32, {5, 8, 2}, table);
  const TestTensor in(HY_TYPE_F32, {3, 2, 20}, x);
  const TestTensor positions(HY_TYPE_I32, {3}, {4, 0, 2});
  const TestTensor y(HY_TYPE_F32, {3, 2, 20});
  const hy_rope_args args = {sizeof args,      mode,    in.view(), turns.view(),
                             positions.view(), y.view()};
  return ValuesOf("rope", args);
}

TEST(RowsProperty, RopeKeepsLengthsAndTurnsBack) {
  const std::vector<double> x = Random(120, "x");
  for (const uint32_t mode : {HY_ROPE_INTERLEAVED, HY_ROPE_SPLIT}) {
    const std::vector<double> y = Turned(mode, x, 1);
    for (size_t row = 0; row < 6; ++row) {
      for (size_t i = 0; i < 8; ++i) {
        const size_t a = row * 20 + (mode == HY_ROPE_SPLIT ? i : 2 * i);
        const size_t b = mode == HY_ROPE_SPLIT ? a + 8 : a + 1;
        EXPECT_NEAR(std::hypot(y[a], y[b]), std::hypot(x[a], x[b]), 1e-6);
      }
      for (size_t i = row * 20 + 16; i < row * 20 + 20; ++i) EXPECT_EQ(y[i], x[i]);
    }
    std::vector<double> rounded = y;
    for (double& value : rounded) value = RoundTo(HY_TYPE_F32, value);
    EXPECT_THAT(Turned(mode, rounded, -1), Pointwise(DoubleNear(1e-6), x));
  }
}

// g f(g) has f(g) + f(-g) = 1 for each of the gates.
TEST(RowsProperty, GatesOfOppositesDifferByTheGate) {
  const std::vector<double> gate = Random(200, "gate");
  std::vector<double> opposite = gate;
  for (double& value : opposite) value = -value;
  const TestTensor g(HY_TYPE_F32, {200}, gate);
  const TestTensor o(HY_TYPE_F32, {200}, opposite);
  const TestTensor up(HY_TYPE_F32, {200}, std::vector<double>(200, 1.0));
  const TestTensor y(HY_TYPE_F32, {200});
  const hy_silu_mul_args silu = {sizeof silu, 0, g.view(), up.view(), y.view()};
  const hy_silu_mul_args silu_of_opposite = {sizeof silu, 0, o.view(), up.view(), y.view()};
  std::vector<double> difference = ValuesOf("silu_mul", silu);
  const std::vector<double> other = ValuesOf("silu_mul", silu_of_opposite);
  for (size_t i = 0; i < 200; ++i) EXPECT_NEAR(difference[i] - other[i], gate[i], 1e-14);
  for (const uint32_t form : {HY_GELU_NONE, HY_GELU_TANH}) {
    const hy_gelu_mul_args gelu = {sizeof gelu, form, g.view(), up.view(), y.view()};
    const hy_gelu_mul_args gelu_of_opposite = {sizeof gelu, form, o.view(), up.view(), y.view()};
    const std::vector<double> a = ValuesOf("gelu_mul", gelu);
    const std::vector<double> b = ValuesOf("gelu_mul", gelu_of_opposite);
    for (size_t i = 0; i < 200; ++i) EXPECT_NEAR(a[i] - b[i], gate[i], 1e-14);
  }
}

TEST(RowsProperty, TheFirstOfTopKIsArgmax) {
  const TestTensor x(HY_TYPE_F32, {8, 50}, Random(400, "x"));
  const TestTensor values(HY_TYPE_F32, {8, 50});
  const TestTensor ids(HY_TYPE_I32, {8, 50});
  const TestTensor most(HY_TYPE_I32, {8});
  const hy_top_k_args top = {sizeof top, 0, x.view(), values.view(), ids.view()};
  const hy_argmax_args argmax = {sizeof argmax, 0, x.view(), most.view()};
  const Expected all = ExpectedOf("top_k", top);
  const std::vector<double> first = ValuesOf("argmax", argmax);
  for (size_t row = 0; row < 8; ++row) {
    const auto* id = &all.outputs[1].value[row * 50];
    EXPECT_EQ(id[0], first[row]);
    EXPECT_TRUE(std::is_sorted(&all.outputs[0].value[row * 50],
                               &all.outputs[0].value[row * 50 + 50], std::greater<>()));
    std::vector<double> sorted(id, id + 50);
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < 50; ++i) EXPECT_EQ(sorted[i], static_cast<double>(i)) << "each id once";
  }
}

TEST(RowsProperty, MulOfAPowerOfTwoIsExact) {
  const std::vector<double> x = Random(60, "x");
  const TestTensor a(HY_TYPE_F32, {3, 20}, x);
  const TestTensor b(HY_TYPE_F32, {1, 1}, std::vector<double>{0.25});
  const TestTensor y(HY_TYPE_F32, {3, 20});
  const hy_mul_args args = {sizeof args, 0, a.view(), b.view(), y.view()};
  const std::vector<double> product = ValuesOf("mul", args);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(product[i], x[i] / 4);
}

TEST(RowsProperty, WhatCannotBeMissedIsNotCounted) {
  // One key sees all: leaving out any other changes nothing, and none other is a term.
  const std::vector<double> x = {0, -1000, -1000, -1000};
  const TestTensor in(HY_TYPE_F32, {1, 4}, x);
  const TestTensor y(HY_TYPE_F32, {1, 4});
  const hy_softmax_args args = {sizeof args, 1.0f, in.view(), {}, y.view()};
  EXPECT_EQ(ExpectedOf("softmax", args).terms_sampled, 0u);
  const TestTensor even(HY_TYPE_F32, {1, 4}, {1, 1, 1, 1});
  const hy_softmax_args equal = {sizeof equal, 1.0f, even.view(), {}, y.view()};
  EXPECT_EQ(ExpectedOf("softmax", equal).terms_sampled, 4u);
  EXPECT_EQ(ExpectedOf("softmax", equal).terms_visible, 4u);
}

}  // namespace
}  // namespace halyard::reference
