// SPDX-License-Identifier: Apache-2.0
#include "reference/golden.h"

#include <cmath>

#include "gtest/gtest.h"

namespace halyard::reference {
namespace {

TEST(Golden, ReadsNumbersTensorsAndBytes) {
  const auto cases = ParseGolden(
      "# made by hand\n"
      "case one\n  eps = 1e-05\n  x : f32 [ 2 2 ] 0.5 -1.25\n    nan inf\n"
      "  ids : i32 [ 2 ] 7 -3\n  h : f16 [ 1 2 ] hex 003c 0080\n"
      "case two\n  w : q8_0 [ 1 32 ] hex 003c ff7f\n"
      "    000000000000000000000000000000000000000000000000000000000000\n  y : f64 [ 1 ] 0.1\n");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].name(), "one");
  EXPECT_EQ(cases[0].number("eps"), 1e-5);
  const GoldenTensor& x = cases[0].tensor("x");
  EXPECT_EQ(x.shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(x.values[1], -1.25);
  EXPECT_TRUE(std::isnan(x.values[2]));
  const hy_tensor view = x.view();
  EXPECT_EQ(static_cast<const float*>(hy_tensor_row(&view, 0))[1], -1.25f);
  EXPECT_EQ(static_cast<const float*>(hy_tensor_row(&view, 1))[1], INFINITY);
  EXPECT_EQ(static_cast<const int32_t*>(cases[0].view("ids").data)[1], -3);
  EXPECT_EQ(static_cast<const uint16_t*>(cases[0].view("h").data)[0], 0x3c00);
  EXPECT_EQ(cases[0].tensor("h").values[0], 1.0);
  const GoldenTensor& w = cases[1].tensor("w");
  EXPECT_EQ(w.values[0], -1.0);
  EXPECT_EQ(w.values[1], 127.0);
  EXPECT_EQ(static_cast<const uint8_t*>(w.view().data)[1], 0x3c);
  const hy_tensor y = cases[1].view("y");
  EXPECT_FALSE(hy_tensor_present(&y));
}

TEST(Golden, SaysWhereATextIsMalformed) {
  for (const char* text :
       {"x = 1", "case a x 1", "case a x = one", "case a x : f33 [ 1 ] 1",
        "case a x : f32 [ 1 ] hex 00", "case a x : f32 [ 1 ] hex 0000803g",
        "case a x : f32 [ 2 ] 1", "case a x : q8_0 [ 1 32 ] 1 2", "case a x : f32 [ ] 1",
        "case a x : f32 [ 1 1 1 1 1 ] 1", "case a x : f64 [ 1 ] hex 00"}) {
    const auto cases = ParseGolden(text);
    ASSERT_EQ(cases.size(), 1u) << text;
    EXPECT_EQ(cases[0].name().rfind("malformed", 0), 0u) << text;
  }
  EXPECT_EQ(ReadGolden("no such vectors")[0].name().rfind("missing", 0), 0u);
}

TEST(Golden, FirstDifference) {
  GoldenTensor want;
  want.values = {1, -100, NAN, INFINITY};
  EXPECT_EQ(FirstDifference({1, -100, NAN, INFINITY}, want, 0), "");
  EXPECT_EQ(FirstDifference({1 + 1e-10, -100, NAN, INFINITY}, want, 1e-9), "");
  EXPECT_NE(FirstDifference({1, -100.1, NAN, INFINITY}, want, 1e-9), "");
  EXPECT_NE(FirstDifference({1, -100, 0, INFINITY}, want, 1), "");
  EXPECT_NE(FirstDifference({1, -100, NAN, -INFINITY}, want, 1), "");
  EXPECT_NE(FirstDifference({NAN, -100, NAN, INFINITY}, want, 1), "");
  EXPECT_NE(FirstDifference({1}, want, 1), "");
}

}  // namespace
}  // namespace halyard::reference
