// SPDX-License-Identifier: Apache-2.0
#include "base/simd/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Distance of neighbouring floats at `value`.
double Ulp(double value) {
  const double size = std::abs(value);
  return size < 0x1p-126 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(size) - 23);
}

// Compares with f64 over every 3,989th float of all, both signs, NaNs left out. `bound` gives the
// accepted error in ulp at x.
template <typename Function, typename Exact, typename Bound>
void ExpectClose(Function function, Exact exact, Bound bound) {
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 3989) {
    const float x = hyk_from_bits(static_cast<uint32_t>(bits));
    if (std::isnan(x)) continue;
    const double want = exact(static_cast<double>(x));
    const float got = function(x);
    const auto rounded = static_cast<float>(want);
    if (rounded == got || (std::isnan(rounded) && std::isnan(got))) continue;
    ASSERT_TRUE(std::isfinite(rounded)) << "x = " << x << " gives " << got << ", not " << want;
    ASSERT_LE(std::abs(static_cast<double>(got) - want), bound(x) * Ulp(want))
        << "x = " << x << " gives " << got << ", not " << want;
  }
}

double Sigmoid(double t) { return 1 / (1 + std::exp(-t)); }
double TanhArgument(double x) {
  return 2 * std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
}
auto Ulps(double count) {
  return [count](double) { return count; };
}

TEST(SimdMath, ExpIsWithinOneUlpEverywhere) {
  ExpectClose(
      hyk_exp, [](double x) { return std::exp(x); }, Ulps(1));
}

TEST(SimdMath, ExpAtTheEndsOfItsRange) {
  EXPECT_EQ(hyk_exp(0.0f), 1.0f);
  EXPECT_EQ(hyk_exp(-0.0f), 1.0f);
  EXPECT_EQ(hyk_exp(kInf), kInf);
  EXPECT_EQ(hyk_exp(-kInf), 0.0f);
  EXPECT_TRUE(std::isnan(hyk_exp(kNan)));
  EXPECT_EQ(hyk_exp(0x1.62e42ep6f), 0x1.ffff08p127f) << "the largest x whose power is finite";
  EXPECT_EQ(hyk_exp(0x1.62e430p6f), kInf);
  EXPECT_EQ(hyk_exp(-103.9f), 0x1p-149f) << "the smallest subnormal";
  EXPECT_EQ(hyk_exp(-104.0f), 0.0f);
}

TEST(SimdMath, SiluIsWithinFourUlpEverywhere) {
  ExpectClose(
      hyk_silu, [](double x) { return std::isinf(x) && x < 0 ? 0.0 : x * Sigmoid(x); }, Ulps(4));
}

TEST(SimdMath, GeluIsWithinSevenUlpEverywhere) {
  const auto exact = [](double x) {
    return x < -40 ? 0.0 : x * 0.5 * std::erfc(-x / std::sqrt(2.0));
  };
  ExpectClose(hyk_gelu_erf, exact, Ulps(7));
}

TEST(SimdMath, GeluOfTheTanhFormKeepsTheErrorOfItsArgument) {
  const auto exact = [](double x) { return x < -40 ? 0.0 : x * Sigmoid(TanhArgument(x)); };
  ExpectClose(hyk_gelu_tanh, exact, [](double x) {
    return x < -40 ? 1.0 : 4 + 3 * std::abs(TanhArgument(x)) * Sigmoid(-TanhArgument(x));
  });
}

TEST(SimdMath, GatesHaveTheirLimits) {
  for (float (*gate)(float) : {hyk_silu, hyk_gelu_erf, hyk_gelu_tanh}) {
    EXPECT_EQ(gate(kInf), kInf);
    EXPECT_EQ(gate(-kInf), 0.0f);
    EXPECT_EQ(gate(0.0f), 0.0f);
    EXPECT_TRUE(std::isnan(gate(kNan)));
    EXPECT_EQ(gate(std::numeric_limits<float>::max()), std::numeric_limits<float>::max());
    EXPECT_EQ(gate(std::numeric_limits<float>::lowest()), 0.0f);
  }
}

TEST(SimdMath, TanhIsWithinTwoUlpEverywhere) {
  ExpectClose(
      hyk_tanh, [](double x) { return std::tanh(x); }, Ulps(2));
}

TEST(SimdMath, TanhHasItsLimits) {
  EXPECT_EQ(hyk_tanh(kInf), 1.0f);
  EXPECT_EQ(hyk_tanh(-kInf), -1.0f);
  EXPECT_TRUE(std::isnan(hyk_tanh(kNan)));
  EXPECT_EQ(hyk_bits(hyk_tanh(-0.0f)), 0x80000000u);
  EXPECT_EQ(hyk_tanh(0x1p-149f), 0x1p-149f);
}

TEST(SimdMath, LogIsWithinOneUlpEverywhere) {
  ExpectClose(
      hyk_log, [](double x) { return std::log(x); }, Ulps(1));
  EXPECT_EQ(hyk_log(1.0f), 0.0f);
  EXPECT_EQ(hyk_log(0.0f), -kInf);
  EXPECT_EQ(hyk_log(kInf), kInf);
  EXPECT_TRUE(std::isnan(hyk_log(kNan)));
  EXPECT_TRUE(std::isnan(hyk_log(-1.0f)));
}

}  // namespace
