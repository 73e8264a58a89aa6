// SPDX-License-Identifier: Apache-2.0
#include "base/half.h"

#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace halyard {
namespace {

// What a signalling NaN becomes; any other number keeps its bits.
uint16_t Quieted(uint16_t bits, uint16_t infinity, uint16_t quiet) {
  return (bits & 0x7fffu) > infinity ? static_cast<uint16_t>(bits | quiet) : bits;
}

TEST(Half, EveryPatternComesBack) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = HalfToFloat(bits);
    ASSERT_EQ(FloatToHalf(value), Quieted(bits, 0x7c00, 0x200)) << i;
    if (!std::isnan(value)) {
      ASSERT_EQ(DoubleToHalf(double{value}), bits) << i;
    }
  }
}

TEST(Bf16, EveryPatternComesBack) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = Bf16ToFloat(bits);
    ASSERT_EQ(FloatToBf16(value), Quieted(bits, 0x7f80, 0x40)) << i;
    if (!std::isnan(value)) {
      ASSERT_EQ(DoubleToBf16(double{value}), bits) << i;
    }
  }
}

TEST(Half, PatternsMeanWhatIeeeSays) {
  for (uint32_t i = 0; i < 0x7c00; ++i) {
    const int exponent = static_cast<int>(i >> 10);
    const double mantissa = (i & 0x3ff) + (exponent == 0 ? 0 : 1024);
    const double value = std::ldexp(mantissa, (exponent == 0 ? 1 : exponent) - 25);
    ASSERT_EQ(double{HalfToFloat(static_cast<uint16_t>(i))}, value) << i;
    ASSERT_EQ(double{HalfToFloat(static_cast<uint16_t>(i | 0x8000))}, -value) << i;
  }
  EXPECT_TRUE(std::isinf(HalfToFloat(0x7c00)));
  EXPECT_TRUE(std::isnan(HalfToFloat(0x7c01)));
}

// Between every two neighbours: the middle goes to the even one, what is a bit off it to its side.
template <typename ToFloat, typename FromDouble>
void CheckTies(uint32_t largest, ToFloat to_float, FromDouble from_double) {
  for (uint32_t i = 0; i < largest; ++i) {
    const double low = double{to_float(static_cast<uint16_t>(i))};
    const double high = double{to_float(static_cast<uint16_t>(i + 1))};
    const double middle = (low + high) / 2;
    ASSERT_EQ(from_double(middle), i + (i & 1)) << i;
    ASSERT_EQ(from_double(std::nextafter(middle, low)), i) << i;
    ASSERT_EQ(from_double(std::nextafter(middle, high)), i + 1) << i;
    ASSERT_EQ(from_double(-middle), 0x8000u | (i + (i & 1))) << i;
  }
}

TEST(Half, TiesGoToEven) {
  CheckTies(0x7bff, HalfToFloat, DoubleToHalf);
  CheckTies(0x7bff, HalfToFloat, [](double x) {
    // Middles are floats; what is beside them is not, and tests only the double.
    const auto narrow = static_cast<float>(x);
    return double{narrow} == x ? FloatToHalf(narrow) : DoubleToHalf(x);
  });
}

TEST(Bf16, TiesGoToEven) {
  CheckTies(0x7f7f, Bf16ToFloat, DoubleToBf16);
  CheckTies(0x7f7f, Bf16ToFloat, [](double x) {
    const auto narrow = static_cast<float>(x);
    return double{narrow} == x ? FloatToBf16(narrow) : DoubleToBf16(x);
  });
}

TEST(Half, ADoubleIsRoundedOnce) {
  // Rounded to f32 first, this is the middle of two halves and would go down.
  EXPECT_EQ(DoubleToHalf(1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(DoubleToHalf(1 + 0x1p-11 - 0x1p-40), 0x3c00);
  EXPECT_EQ(DoubleToBf16(1 + 0x1p-8 + 0x1p-40), 0x3f81);
}

TEST(Half, Ends) {
  EXPECT_EQ(FloatToHalf(65504.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65519.996f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToHalf(-1e30f), 0xfc00);
  EXPECT_EQ(DoubleToHalf(1e300), 0x7c00);
  EXPECT_EQ(DoubleToHalf(5e-324), 0);
  EXPECT_EQ(DoubleToHalf(-5e-324), 0x8000);
  EXPECT_EQ(FloatToHalf(0x1p-24f), 1);
  EXPECT_EQ(FloatToHalf(0x1p-25f), 0);
  EXPECT_EQ(FloatToHalf(0x1.8p-25f), 1);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(FloatToBf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(FloatToBf16(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(DoubleToBf16(0x1p-134), 0);
  EXPECT_EQ(DoubleToBf16(0x1.8p-134), 1);
}

TEST(Half, NanKeepsTheTopOfItsPayload) {
  EXPECT_EQ(FloatToHalf(FloatFromBits(0x7fc00000)), 0x7e00);
  EXPECT_EQ(FloatToHalf(FloatFromBits(0xffffffff)), 0xffff);
  EXPECT_EQ(FloatToHalf(FloatFromBits(0x7f800001)), 0x7e00);
  EXPECT_EQ(FloatToBf16(FloatFromBits(0x7f800001)), 0x7fc0);
  EXPECT_EQ(FloatToBf16(FloatFromBits(0xffc10000)), 0xffc1);
  EXPECT_TRUE(std::isnan(HalfToFloat(DoubleToHalf(std::numeric_limits<double>::quiet_NaN()))));
}

TEST(Half, FloatAndDoubleAgree) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const float value = FloatFromBits(static_cast<uint32_t>(random()));
    if (std::isnan(value)) continue;
    ASSERT_EQ(FloatToHalf(value), DoubleToHalf(double{value})) << value;
    ASSERT_EQ(FloatToBf16(value), DoubleToBf16(double{value})) << value;
  }
}

}  // namespace
}  // namespace halyard
