// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/weak_values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace halyard::conformance {
namespace {

using reference::Expected;
using reference::ExpectedOutput;

ValueStrength Strength(const Expected& expected, const Expected* other = nullptr) {
  hy_operand operand = {};
  operand.name = "y";
  hy_op_desc op = {};
  op.operands = &operand;
  op.operand_count = 1;
  return StrengthOf(op, expected, other);
}

Expected Values(std::vector<double> values) {
  Expected expected;
  expected.outputs.emplace_back(0u);
  expected.outputs[0].value = std::move(values);
  return expected;
}

TEST(WeakValuesTest, ValuesThatDifferSpeak) {
  EXPECT_TRUE(Strength(Values({1, 2, 3, 4, 5, 6, 7, 8, 9})).speaks());
  EXPECT_TRUE(Strength(Values({0, 0, 3, 4, 0, 6, 0, 8})).speaks()) << "half of them zero";
}

TEST(WeakValuesTest, ValuesThatCouldDifferAndDoNotAreWeak) {
  EXPECT_EQ(Strength(Values(std::vector<double>(9, 4.0))).weak, "all elements of y are the same");
  EXPECT_EQ(Strength(Values(std::vector<double>(9, NAN))).weak, "all elements of y are the same");
  EXPECT_EQ(Strength(Values({0, 0, 0, 0, 0, 6, 7, 8})).weak, "most elements of y are zero");
  const Expected other = Values({1, 2, 3, 4, 5, 6, 7, 9});
  EXPECT_EQ(Strength(Values({0, 0, 0, 0, 0, 0, 7.5, 8}), &other).weak,
            "most elements of y are zero");
}

TEST(WeakValuesTest, WhatIsTheSameForAnyDataIsAnEdge) {
  const Expected zeros = Values(std::vector<double>(15, 0.0));
  EXPECT_EQ(Strength(zeros, &zeros).weak, "");
  EXPECT_EQ(Strength(zeros, &zeros).edge, "every element is the same for any data");
}

TEST(WeakValuesTest, FixedElementsAreLeftOutOfTheCount) {
  // Masked: zeros whatever the data is. What is left differs.
  const Expected here = Values({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3});
  const Expected other = Values({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 5, 6});
  EXPECT_TRUE(Strength(here, &other).speaks());
  EXPECT_EQ(Strength(here).weak, "most elements of y are zero");
}

TEST(WeakValuesTest, TooFewElementsAreAnEdge) {
  EXPECT_EQ(Strength(Values({3})).edge, "too few elements to differ");
  EXPECT_EQ(Strength(Values({3, 3, 3})).edge, "too few elements to differ");
  EXPECT_TRUE(Strength(Values({3, 4})).speaks());
  EXPECT_EQ(Strength(Values({})).edge, "there is nothing to compute");
}

TEST(WeakValuesTest, ARefusalAndBytes) {
  Expected refused = Values({1, 2});
  refused.status = HY_INVALID_ARGUMENT;
  EXPECT_EQ(Strength(refused).edge, "it must be refused");
  Expected bytes = Values({});
  bytes.outputs[0].bytes = {1, 2, 3};
  EXPECT_TRUE(Strength(bytes).speaks());
}

TEST(WeakValuesTest, UntouchedElementsDoNotCount) {
  Expected expected = Values({1, 2, 0, 0, 0, 0, 0, 0, 0, 0});
  expected.outputs[0].untouched = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_TRUE(Strength(expected).speaks());
}

}  // namespace
}  // namespace halyard::conformance
