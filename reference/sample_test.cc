// SPDX-License-Identifier: Apache-2.0
#include "ops/sample/contract.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "reference/test_expect.h"

namespace halyard::reference {
namespace {

using ops::kInf;
using ops::kNan;
using ops::TestTensor;
using testing::ElementsAre;
using testing::ElementsAreArray;

struct Settings {
  double temperature = 1;
  double top_k = 0;
  double top_p = 1;
  double min_p = 0;
};

// One row of logits, drawn from with many random numbers.
class Draws {
 public:
  Draws(const std::vector<double>& logits, const std::vector<double>& u, const Settings& settings)
      : rows_(static_cast<int64_t>(u.size())),
        logits_(HY_TYPE_F32, {rows_, static_cast<int64_t>(logits.size())}, Repeated(logits)),
        temperature_(HY_TYPE_F32, {rows_}, All(settings.temperature)),
        u_(HY_TYPE_F32, {rows_}, u),
        top_k_(HY_TYPE_I32, {rows_}, All(settings.top_k)),
        top_p_(HY_TYPE_F32, {rows_}, All(settings.top_p)),
        min_p_(HY_TYPE_F32, {rows_}, All(settings.min_p)),
        id_(HY_TYPE_I32, {rows_}) {}

  hy_sample_args args() const {
    hy_sample_args args = {};
    args.struct_size = sizeof args;
    args.logits = logits_.view();
    args.temperature = temperature_.view();
    args.u = u_.view();
    args.top_k = top_k_.view();
    args.top_p = top_p_.view();
    args.min_p = min_p_.view();
    args.id = id_.view();
    return args;
  }
  std::vector<double> ids() const {
    ExpectAllKernelsAgree("sample", args());
    return ValuesOf("sample", args());
  }
  hy_status status() const { return ExpectedOf("sample", args()).status; }

 private:
  std::vector<double> All(double value) const {
    return std::vector<double>(static_cast<size_t>(rows_), value);
  }
  std::vector<double> Repeated(const std::vector<double>& row) const {
    std::vector<double> all;
    for (int64_t r = 0; r < rows_; ++r) all.insert(all.end(), row.begin(), row.end());
    return all;
  }
  const int64_t rows_;
  TestTensor logits_, temperature_, u_, top_k_, top_p_, min_p_, id_;
};

std::vector<double> Ids(const std::vector<double>& logits, const std::vector<double>& u,
                        const Settings& settings = {}) {
  return Draws(logits, u, settings).ids();
}

// Weights 1, 1/2, 1/4 and 1/4 in falling order are columns 2, 0, 1, 3.
const std::vector<double> kLogits = {-M_LN2, -2 * M_LN2, 0, -2 * M_LN2};

TEST(Sample, DrawsInOrderOfFallingProbability) {
  // Sums are 1, 3/2, 7/4, 2.
  EXPECT_THAT(Ids(kLogits, {0, 0.49, 0.51, 0.74, 0.76, 0.87, 0.88, 0.99, 1}),
              ElementsAre(2, 2, 0, 0, 1, 1, 3, 3, 3));
  EXPECT_THAT(Ids({4, 4, 4, 4}, {0, 0.24, 0.26, 0.6, 0.9}), ElementsAre(0, 0, 1, 2, 3));
}

TEST(Sample, TopKLeavesTheFirst) {
  Settings settings;
  settings.top_k = 2;
  // Sums are 1, 3/2: the bound lies at 2/3.
  EXPECT_THAT(Ids(kLogits, {0, 0.66, 0.67, 1}, settings), ElementsAre(2, 2, 0, 0));
  settings.top_k = 3;
  EXPECT_THAT(Ids(kLogits, {0.86, 1}, settings), ElementsAre(1, 1)) << "of equals the lower column";
  settings.top_k = 9;
  EXPECT_THAT(Ids(kLogits, {0.99}, settings), ElementsAre(3));
}

TEST(Sample, TopPKeepsTheOneThatCrosses) {
  Settings settings;
  settings.top_p = 0.6;  // of 2: 1.2, crossed by the second
  EXPECT_THAT(Ids(kLogits, {0.66, 0.67, 1}, settings), ElementsAre(2, 0, 0));
  settings.top_p = 0.4;
  EXPECT_THAT(Ids(kLogits, {0, 1}, settings), ElementsAre(2, 2));
  settings.top_p = 0;
  EXPECT_THAT(Ids(kLogits, {0, 1}, settings), ElementsAre(2, 2));
  settings.top_p = 0.5;
  settings.top_k = 2;  // of 3/2, not of 2: the first has 2/3 of it
  EXPECT_THAT(Ids(kLogits, {0, 1}, settings), ElementsAre(2, 2));
}

TEST(Sample, MinPIsAShareOfTheLargest) {
  Settings settings;
  settings.min_p = 0.4;
  EXPECT_THAT(Ids(kLogits, {0.66, 0.67, 1}, settings), ElementsAre(2, 0, 0));
  settings.min_p = 0.2;
  EXPECT_THAT(Ids(kLogits, {1}, settings), ElementsAre(3));
  settings.min_p = 3;
  EXPECT_THAT(Ids(kLogits, {1}, settings), ElementsAre(2));
}

TEST(Sample, TemperatureFlattensOrSharpens) {
  Settings settings;
  settings.temperature = 0.5;  // weights 1, 1/4, 1/16, 1/16
  EXPECT_THAT(Ids(kLogits, {0.72, 0.73, 0.90, 0.92}, settings), ElementsAre(2, 0, 0, 1));
  settings.temperature = 1e-8;
  EXPECT_THAT(Ids(kLogits, {0, 0.5, 1}, settings), ElementsAre(2, 2, 2));
  settings.temperature = 0;
  EXPECT_THAT(Ids({1, 3, 3}, {0, 0.99}, settings), ElementsAre(1, 1)) << "ties to the lower column";
}

TEST(Sample, InfinitiesAreDrawnAlwaysOrNever) {
  EXPECT_THAT(Ids({-kInf, 1, -kInf}, {0, 0.5, 1}), ElementsAre(1, 1, 1));
  EXPECT_THAT(Ids({0, kInf, 5, kInf}, {0, 1}), ElementsAre(1, 1));
}

TEST(Sample, WhatCannotBeDrawnIsMinusOne) {
  EXPECT_EQ(Draws({-kInf, -kInf}, {0.5}, {}).status(), HY_INVALID_ARGUMENT);
  EXPECT_THAT(Ids({-kInf, -kInf}, {0.5}), ElementsAre(-1));
  EXPECT_THAT(Ids({1, kNan}, {0.5}), ElementsAre(-1));
  EXPECT_THAT(Ids({}, {0.5}), ElementsAre(-1));
  EXPECT_THAT(Ids({0, 0}, {kNan, -0.5, 0.25}), ElementsAre(-1, -1, 0)) << "row by row";
  for (const double temperature : {-1.0, kNan, kInf})
    EXPECT_THAT(Ids({0, 0}, {0.5}, {temperature}), ElementsAre(-1)) << temperature;
  EXPECT_THAT(Ids({0, 0}, {0.5}, {1, 0, kNan}), ElementsAre(-1));
  EXPECT_THAT(Ids({0, 0}, {0.5}, {1, 0, 1, kNan}), ElementsAre(-1));
}

TEST(Sample, ManyEvenDrawsGiveTheProbabilities) {
  constexpr int kCount = 4096;
  std::vector<double> u(kCount);
  for (int i = 0; i < kCount; ++i) u[static_cast<size_t>(i)] = (i + 0.5) / kCount;
  const std::vector<double> ids = Draws(kLogits, u, {}).ids();
  std::vector<int> drawn(4);
  for (const double id : ids) ++drawn[static_cast<size_t>(id)];
  EXPECT_THAT(drawn, ElementsAre(kCount / 4, kCount / 8, kCount / 2, kCount / 8));
}

}  // namespace
}  // namespace halyard::reference
