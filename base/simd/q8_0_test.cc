// SPDX-License-Identifier: Apache-2.0
#include "base/simd/q8_0.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/half.h"
#include "base/quant/format.h"

namespace halyard {
namespace {

using Block = std::array<uint8_t, HYK_Q8_0_BYTES>;

uint32_t Next(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state;
}

void ExpectSame(const float* x, const std::string& what) {
  Block want;
  Block got;
  quant::EncodeRow(HY_TYPE_Q8_0, x, 32, want.data());
  hyk_encode_q8_0(x, got.data());
  ASSERT_EQ(got, want) << what;
  float decoded[32];
  float reference[32];
  hyk_decode_q8_0(want.data(), decoded);
  quant::DecodeRowF32(HY_TYPE_Q8_0, want.data(), 32, reference);
  for (int i = 0; i < 32; ++i) {
    if (std::isnan(reference[i])) {
      ASSERT_TRUE(std::isnan(decoded[i])) << what;
    } else {
      ASSERT_EQ(FloatBits(decoded[i]), FloatBits(reference[i])) << what;
    }
  }
}

TEST(SimdQ8, EncodesAsTheReferenceAtEveryMagnitude) {
  uint32_t state = 7;
  for (int exponent = -149; exponent < 128; ++exponent) {
    for (int round = 0; round < 20; ++round) {
      float x[32];
      for (float& value : x) {
        const auto word = static_cast<int32_t>(Next(&state));
        value = std::ldexp(static_cast<float>(word >> 8) * 0x1p-23f, exponent);
      }
      ExpectSame(x, "2^" + std::to_string(exponent));
    }
  }
}

TEST(SimdQ8, EncodesBitsOfEveryKind) {
  uint32_t state = 11;
  for (int round = 0; round < 2000; ++round) {
    float x[32];
    for (float& value : x) value = FloatFromBits(Next(&state) ^ Next(&state) << 16);
    ExpectSame(x, "round " + std::to_string(round));
  }
}

TEST(SimdQ8, EncodesZerosTiesAndWhatIsNotFinite) {
  float x[32] = {};
  ExpectSame(x, "zeros");
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i) - 15.5f;
  x[3] = 127;
  ExpectSame(x, "ties");
  x[3] = -127;
  ExpectSame(x, "a negative end");
  for (const float odd :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    x[31] = odd;
    ExpectSame(x, "not finite");
  }
}

TEST(SimdQ8, RoundsToHalvesOnce) {
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    const double low = double{HalfToFloat(static_cast<uint16_t>(half))};
    const double high = double{HalfToFloat(static_cast<uint16_t>(half + 1))};
    const double middle = (low + high) / 2;
    ASSERT_EQ(hyk_f64_to_f16(low), half);
    ASSERT_EQ(hyk_f64_to_f16(middle), half + (half & 1));
    ASSERT_EQ(hyk_f64_to_f16(std::nextafter(middle, low)), half);
    ASSERT_EQ(hyk_f64_to_f16(std::nextafter(middle, high)), half + 1);
  }
}

}  // namespace
}  // namespace halyard
