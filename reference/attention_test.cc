// SPDX-License-Identifier: Apache-2.0
//
// The references of attention and kv_append: answers worked out by hand, and laws that hold whatever
// the data. All kernels are held to the former as well.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/attention/contract.h"
#include "ops/data/distribution.h"
#include "ops/kv_append/contract.h"
#include "reference/test_expect.h"

namespace halyard::reference {
namespace {

using ops::kInf;
using ops::kNan;
using ops::TestTensor;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::Pointwise;

// One number in braces would be taken for a gap.
using Row = std::vector<double>;

constexpr uint64_t kSeed = 31;

std::vector<double> Random(std::vector<int64_t> shape, const char* name) {
  TestTensor values(HY_TYPE_F32, std::move(shape));
  ops::Fill({ops::Dist::kNormal, kSeed, name, ops::Role::kInput}, values.view());
  return values.Get();
}

// One sequence, one head of each kind, pages of 2 slots in the order 0, 1, ..
struct Line {
  Line(int64_t rows, const std::vector<double>& keys, const std::vector<double>& values,
       const std::vector<double>& queries)
      : dim(static_cast<int64_t>(queries.size()) / rows),
        len(static_cast<int64_t>(keys.size()) / dim),
        pages((len + 1) / 2),
        q(HY_TYPE_F32, {rows, 1, dim}, queries),
        k(HY_TYPE_F32, {pages, 1, 2, dim}, keys),
        v(HY_TYPE_F32, {pages, 1, 2, dim}, values),
        table(HY_TYPE_I32, {1, pages}),
        q_start(HY_TYPE_I32, {2}, {0, static_cast<double>(rows)}),
        kv_len(HY_TYPE_I32, {1}, Row{static_cast<double>(len)}),
        y(HY_TYPE_F32, {rows, 1, dim}) {
    std::vector<double> ids(static_cast<size_t>(pages));
    std::iota(ids.begin(), ids.end(), 0.0);
    table.Set(ids);
    args = {sizeof args,
            1,
            1.0f,
            0,
            0,
            0,
            q.view(),
            k.view(),
            v.view(),
            table.view(),
            q_start.view(),
            kv_len.view(),
            y.view()};
  }
  // What is expected; every kernel must agree.
  std::vector<double> Values() const {
    ExpectAllKernelsAgree("attention", args);
    return ValuesOf("attention", args);
  }

  int64_t dim, len, pages;
  TestTensor q, k, v, table, q_start, kv_len, y;
  hy_attention_args args = {};
};

TEST(AttentionKnown, OneKeyGivesItsValue) {
  EXPECT_THAT(Line(1, {5, -3}, {7, 0.5}, {2, 9}).Values(), ElementsAre(7, 0.5));
}

TEST(AttentionKnown, TwoKeysByHand) {
  // Scores 0 and ln 3: weights 1/4 and 3/4.
  const double ln3 = 1.0986122886681098;
  const std::vector<double> y = Line(1, {0, ln3}, {4, 8}, {1}).Values();
  EXPECT_THAT(y, ElementsAre(DoubleNear(7, 1e-7)));
}

TEST(AttentionKnown, ScaleAndSoftCapByHand) {
  Line line(1, {0, 8}, {4, 8}, {1});
  line.args.scale = 0.25f;
  // Scores 0 and 2: the second weighs e^2 / (1 + e^2).
  EXPECT_THAT(line.Values(), ElementsAre(DoubleNear(4 + 4 * 0.8807970779778823, 1e-12)));
  line.args.soft_cap = 2;
  // 2 tanh(1) = 1.5231883119115297.
  EXPECT_THAT(line.Values(), ElementsAre(DoubleNear(4 + 4 * 0.8210074960059999, 1e-12)));
  line.args.scale = -0.25f;
  EXPECT_THAT(line.Values(), ElementsAre(DoubleNear(8 - 4 * 0.8210074960059999, 1e-12)));
}

TEST(AttentionKnown, ARowSeesWhatIsNotLaterThanItself) {
  // Zeros as queries weigh all keys alike.
  const std::vector<double> ones(3, 1);
  EXPECT_THAT(Line(3, ones, {1, 2, 6}, {0, 0, 0}).Values(), ElementsAre(1, 1.5, 3));
  Line all(3, ones, {1, 2, 6}, {0, 0, 0});
  all.args.causal = 0;
  EXPECT_THAT(all.Values(), Each(3));
}

TEST(AttentionKnown, AWindowEndsWhatIsSeen) {
  const std::vector<double> ones(5, 1);
  Line line(5, ones, {1, 3, 9, 27, 81}, {0, 0, 0, 0, 0});
  line.args.window = 2;
  EXPECT_THAT(line.Values(), ElementsAre(1, 2, 6, 18, 54));
  line.args.causal = 0;
  EXPECT_THAT(line.Values(), ElementsAre(2, DoubleNear(13 / 3.0, 1e-14), 13, 39, 54));
  line.args.window = 1;
  EXPECT_THAT(line.Values(), ElementsAre(1, 3, 9, 27, 81));
  line.args.window = INT32_MAX;
  line.args.causal = 1;
  EXPECT_THAT(line.Values(),
              ElementsAre(1, 2, DoubleNear(13 / 3.0, 1e-14), 10, DoubleNear(24.2, 1e-13)));
}

TEST(AttentionKnown, RowsBeforeTheFirstKeySeeNothing) {
  Line line(3, {1, 1}, {5, 7}, {0, 0, 0});
  EXPECT_THAT(line.Values(), ElementsAre(0, 5, 6));
  line.kv_len.Set({0});
  EXPECT_THAT(line.Values(), Each(0));
}

TEST(AttentionKnown, RowsOfNoSequenceAreZeros) {
  Line line(4, {1, 1}, {5, 7}, {0, 0, 0, 0});
  line.q_start.Set({1, 3});
  EXPECT_THAT(line.Values(), ElementsAre(0, 5, 6, 0));
}

TEST(AttentionKnown, GroupsOfHeadsShareAKvHead) {
  // Head h reads KV head h / 2; a value says which page, head and slot it comes from.
  TestTensor q(HY_TYPE_F32, {1, 4, 1}, {0, 0, 0, 0});
  TestTensor k(HY_TYPE_F32, {2, 2, 1, 1}, {0, 0, 0, 0});
  TestTensor v(HY_TYPE_F32, {2, 2, 1, 1}, {1, 10, 100, 1000});
  TestTensor table(HY_TYPE_I32, {1, 1}, Row{1});
  TestTensor q_start(HY_TYPE_I32, {2}, {0, 1});
  TestTensor kv_len(HY_TYPE_I32, {1}, Row{1});
  TestTensor y(HY_TYPE_F32, {1, 4, 1});
  const hy_attention_args args = {sizeof args,
                                  1,
                                  1,
                                  0,
                                  0,
                                  0,
                                  q.view(),
                                  k.view(),
                                  v.view(),
                                  table.view(),
                                  q_start.view(),
                                  kv_len.view(),
                                  y.view()};
  ExpectAllKernelsAgree("attention", args);
  EXPECT_THAT(ValuesOf("attention", args), ElementsAre(100, 100, 1000, 1000));
}

TEST(AttentionKnown, WhatIsNotFinite) {
  Line line(2, {1, 1}, {5, 7}, {1, 1});
  line.k.Set({1, kNan});
  EXPECT_THAT(line.Values(), ElementsAre(5, testing::IsNan())) << "a NaN in a key";
  line.k.Set({1, kInf});
  EXPECT_THAT(line.Values(), ElementsAre(5, testing::IsNan())) << "a score of +Inf";
  line.k.Set({1, -kInf});
  EXPECT_THAT(line.Values(), ElementsAre(5, 5)) << "a score of -Inf";
  line.k.Set({-kInf, -kInf});
  EXPECT_THAT(line.Values(), Each(0)) << "scores of -Inf only";
  line.k.Set({1, 1});
  line.v.Set({5, kInf});
  EXPECT_THAT(line.Values(), ElementsAre(5, kInf)) << "an infinity as value";
  line.v.Set({5, kNan});
  EXPECT_THAT(line.Values(), ElementsAre(5, testing::IsNan())) << "a NaN as value";
}

TEST(AttentionKnown, WrongDataConcernsItsRowsOnly) {
  Line line(4, {1, 1, 1, 1}, {2, 4, 6, 8}, {0, 0, 0, 0});
  const auto status = [&line] { return ExpectedOf("attention", line.args).status; };
  EXPECT_EQ(status(), HY_OK);
  line.table.Set({0, 2});
  EXPECT_EQ(status(), HY_OUT_OF_RANGE);
  EXPECT_THAT(line.Values(), ElementsAre(2, 3, 0, 0)) << "a page that is not there";
  line.table.Set({-1, 1});
  line.args.window = 2;
  EXPECT_THAT(line.Values(), ElementsAre(0, 0, 0, 7)) << "one that the last row does not see";
  line.table.Set({0, 1});
  line.args.window = 0;
  line.kv_len.Set({5});
  EXPECT_THAT(line.Values(), Each(0)) << "more keys than the table has slots";
  line.kv_len.Set({-1});
  EXPECT_THAT(line.Values(), Each(0)) << "a negative length";
  EXPECT_EQ(status(), HY_OUT_OF_RANGE);
  line.kv_len.Set({4});
  for (const std::vector<double>& starts : {std::vector<double>{-1, 4}, {0, 5}, {3, 2}}) {
    line.q_start.Set(starts);
    EXPECT_EQ(status(), HY_OUT_OF_RANGE);
    EXPECT_THAT(line.Values(), Each(0)) << "starts " << starts[0] << ", " << starts[1];
  }
}

TEST(AttentionProperty, ResultsAreMeansOfTheValues) {
  const int64_t keys = 20;
  const std::vector<double> v = Random({keys, 3}, "v");
  const std::vector<double> y = Line(2, Random({keys, 3}, "k"), v, Random({2, 3}, "q")).Values();
  for (size_t i = 0; i < y.size(); ++i) {
    double low = kInf;
    double high = -kInf;
    for (size_t j = i % 3; j < v.size(); j += 3) {
      low = std::min(low, v[j]);
      high = std::max(high, v[j]);
    }
    EXPECT_GT(y[i], low);
    EXPECT_LT(y[i], high);
  }
}

TEST(AttentionProperty, TheOrderOfKeysThatAreAllSeenIsNoMatter) {
  std::vector<double> k = Random({12, 4}, "k");
  std::vector<double> v = Random({12, 4}, "v");
  const std::vector<double> q = Random({1, 4}, "q");
  const std::vector<double> y = Line(1, k, v, q).Values();
  std::rotate(k.begin(), k.begin() + 20, k.end());
  std::rotate(v.begin(), v.begin() + 20, v.end());
  EXPECT_THAT(Line(1, k, v, q).Values(), Pointwise(DoubleNear(1e-14), y));
}

TEST(AttentionProperty, ScoresCountByTheirDifferencesOnly) {
  // A key's component along a direction in which the query is 1 shifts its score.
  std::vector<double> k = Random({8, 2}, "k");
  for (double& value : k) value = std::round(value * 256) / 256;
  const std::vector<double> v = Random({8, 2}, "v");
  const std::vector<double> y = Line(1, k, v, {1, 1}).Values();
  for (size_t i = 0; i < k.size(); i += 2) k[i] += 16;
  EXPECT_THAT(Line(1, k, v, {1, 1}).Values(), Pointwise(DoubleNear(1e-13), y));
}

// Appends row by row to pages in a shuffled order, attends after each, and compares with a softmax over
// the rows themselves.
TEST(AttentionProperty, AppendedKeysAreAttendedTo) {
  constexpr int64_t kRows = 11;
  constexpr int64_t kDim = 32;
  const std::vector<double> k = Random({kRows, kDim}, "k");
  const std::vector<double> v = Random({kRows, kDim}, "v");
  const std::vector<double> q = Random({kRows, kDim}, "q");
  const std::vector<double> table = {3, 0, 2};  // pages of 4
  const TestTensor k_pages(HY_TYPE_F32, {4, 1, 4, kDim});
  const TestTensor v_pages(HY_TYPE_F32, {4, 1, 4, kDim});
  for (int64_t row = 0; row < kRows; ++row) {
    const auto at = static_cast<size_t>(row * kDim);
    const auto row_of = [at](const std::vector<double>& of) {
      return std::vector<double>(of.begin() + static_cast<int64_t>(at),
                                 of.begin() + static_cast<int64_t>(at) + kDim);
    };
    const TestTensor new_k(HY_TYPE_F32, {1, 1, kDim}, row_of(k));
    const TestTensor new_v(HY_TYPE_F32, {1, 1, kDim}, row_of(v));
    const TestTensor slots(
        HY_TYPE_I32, {1},
        Row{table[static_cast<size_t>(row / 4)] * 4 + static_cast<double>(row % 4)});
    const hy_kv_append_args append = {
        sizeof append, 0, new_k.view(), new_v.view(), slots.view(), k_pages.view(), v_pages.view()};
    ASSERT_EQ(ops::RunKernel(*ops::FindOp("kv_append").reference->kernel, &append, 2), HY_OK);

    const TestTensor query(HY_TYPE_F32, {1, 1, kDim}, row_of(q));
    const TestTensor ids(HY_TYPE_I32, {1, 3}, table);
    const TestTensor q_start(HY_TYPE_I32, {2}, {0, 1});
    const TestTensor kv_len(HY_TYPE_I32, {1}, Row{static_cast<double>(row + 1)});
    const TestTensor y(HY_TYPE_F32, {1, 1, kDim});
    const hy_attention_args args = {sizeof args,
                                    1,
                                    0.25f,
                                    0,
                                    0,
                                    0,
                                    query.view(),
                                    k_pages.view(),
                                    v_pages.view(),
                                    ids.view(),
                                    q_start.view(),
                                    kv_len.view(),
                                    y.view()};
    std::vector<double> want(kDim, 0.0);
    double sum = 0;
    for (int64_t j = 0; j <= row; ++j) {
      double score = 0;
      for (size_t d = 0; d < kDim; ++d) score += q[at + d] * k[static_cast<size_t>(j * kDim) + d];
      const double weight = std::exp(0.25 * score);
      sum += weight;
      for (size_t d = 0; d < kDim; ++d) want[d] += weight * v[static_cast<size_t>(j * kDim) + d];
    }
    for (double& value : want) value /= sum;
    ASSERT_THAT(ValuesOf("attention", args), Pointwise(DoubleNear(1e-13), want)) << row;
  }
}

TEST(KvAppendKnown, WritesTheSlotsThatAreNamedAndNoOther) {
  TestTensor k(HY_TYPE_F32, {4, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  TestTensor v(HY_TYPE_F32, {4, 2, 2},
               {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16});
  TestTensor slots(HY_TYPE_I32, {4},
                   {5, -1, 0, 6});  // pages of 3: page 1 slot 2, none, page 0 slot 0
  const std::vector<double> before(24, 99);
  std::vector<double> want(24, 99);  // [page][head][slot][2]
  const auto set = [&want](size_t page, size_t head, size_t slot, double a, double b) {
    want[((page * 2 + head) * 3 + slot) * 2] = a;
    want[((page * 2 + head) * 3 + slot) * 2 + 1] = b;
  };
  set(1, 0, 2, 1, 2);
  set(1, 1, 2, 3, 4);
  set(0, 0, 0, 9, 10);
  set(0, 1, 0, 11, 12);
  for (const hy_kernel_desc* kernel : ops::KernelsOf(ops::FindOp("kv_append"))) {
    const TestTensor k_pages(HY_TYPE_F16, {2, 2, 3, 2}, before);
    const TestTensor v_pages(HY_TYPE_F16, {2, 2, 3, 2}, before);
    const hy_kv_append_args args = {
        sizeof args, 0, k.view(), v.view(), slots.view(), k_pages.view(), v_pages.view()};
    EXPECT_EQ(ops::RunKernel(*kernel, &args, 3), HY_OUT_OF_RANGE) << "slot 6 of 6";
    EXPECT_THAT(k_pages.Get(), testing::ElementsAreArray(want)) << kernel->id;
    std::vector<double> negative = want;
    for (double& value : negative) value = value == 99 ? 99 : -value;
    EXPECT_THAT(v_pages.Get(), testing::ElementsAreArray(negative)) << kernel->id;
  }
}

}  // namespace
}  // namespace halyard::reference
