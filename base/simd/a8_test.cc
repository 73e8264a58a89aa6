// SPDX-License-Identifier: Apache-2.0
//
// What kernels are built with gives, at every ISA level that runs here, the bits of base/half.h and
// of quant::QuantizeActivations.
#include "base/simd/a8.h"

#include <cmath>
#include <random>
#include <vector>

#include "base/half.h"
#include "base/quant/format.h"
#include "base/simd/test_levels.h"
#include "gtest/gtest.h"

namespace halyard {
namespace {

constexpr uint32_t kFloatTypes[] = {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16};

std::vector<uint8_t> AsType(uint32_t type, const std::vector<float>& x) {
  const auto k = static_cast<int64_t>(x.size());
  std::vector<uint8_t> row(hy_type_row_bytes(type, k));
  quant::EncodeRow(type, x.data(), k, row.data());
  return row;
}

void CheckRow(const std::vector<float>& x, const char* what) {
  const auto k = static_cast<int64_t>(x.size());
  for (const uint32_t type : kFloatTypes) {
    const auto row = AsType(type, x);
    std::vector<float> rounded(x.size());
    quant::DecodeRowF32(type, row.data(), k, rounded.data());
    const hyk_a8_source source = {row.data(), type, 0, k};
    for (const uint32_t a8 : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN}) {
      if (a8 != HY_TYPE_A8_TOKEN && k % hy_type_facts(a8)->block != 0) continue;
      for (const bool asymmetric : {false, true}) {
        std::vector<uint8_t> want(hy_type_row_bytes(a8, k), 0x33);
        quant::QuantizeActivations(a8, asymmetric, rounded.data(), k, want.data());
        for (const TestLevel& level : LiveLevels()) {
          std::vector<uint8_t> got(want.size(), 0xcc);
          level.quantize(a8, asymmetric, &source, got.data());
          ASSERT_EQ(got, want) << what << ", " << hy_type_name(type) << " to " << hy_type_name(a8)
                               << ", asymmetric " << asymmetric << ", k " << k << ", at level "
                               << level.name;
        }
      }
    }
  }
}

float FromBits(std::mt19937& random) { return FloatFromBits(static_cast<uint32_t>(random())); }

TEST(A8, RandomRows) {
  std::mt19937 random(11);
  for (const size_t k : {1u, 5u, 16u, 17u, 32u, 96u, 255u, 256u, 300u, 512u, 1024u}) {
    for (const float size : {1.0f, 3e-6f, 1e30f}) {
      std::vector<float> x(k);
      for (float& value : x) value = (static_cast<float>(random() >> 8) * 0x1p-23f - 1) * size;
      CheckRow(x, "random");
    }
  }
}

TEST(A8, NoElements) { CheckRow({}, "empty"); }

TEST(A8, Ties) {
  std::vector<float> x(512);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i) - 256) * 0.5f;
  for (float& value : x) value = value < -127 ? -127 : value > 127 ? 127 : value;
  CheckRow(x, "halves to -127..127");
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.5f;
  x[511] = 255;
  CheckRow(x, "halves to 0..255");
  for (float& value : x) value -= 100;
  CheckRow(x, "halves to -100..155");
  for (float& value : x) value = -value;
  CheckRow(x, "halves to -155..100");
}

TEST(A8, OneSign) {
  std::mt19937 random(12);
  std::vector<float> x(256);
  for (float& value : x) value = 1 + static_cast<float>(random() >> 8) * 0x1p-24f;
  CheckRow(x, "positive");
  for (float& value : x) value = -value;
  CheckRow(x, "negative");
  CheckRow(std::vector<float>(256, -0.0f), "zeros with a sign");
}

TEST(A8, RandomBits) {
  std::mt19937 random(13);
  for (int round = 0; round < 50; ++round) {
    std::vector<float> x(256);
    for (float& value : x) value = FromBits(random);
    CheckRow(x, "bits");
    for (float& value : x) value = std::isfinite(value) ? value : -1.0f;
    CheckRow(x, "finite bits");
  }
}

TEST(A8, OneBrokenNumber) {
  for (const uint32_t bits : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u, 0x7f800001u}) {
    for (const size_t at : {0u, 31u, 32u, 100u, 255u}) {
      std::vector<float> x(256, 0.75f);
      x[at] = FloatFromBits(bits);
      CheckRow(x, "one NaN or Inf");
    }
  }
}

TEST(A8, AroundTheSmallestScale) {
  for (const uint32_t bits : {1u, 0x007fffffu, 0x00800000u, 0x037fffffu, 0x03800000u, 0x03800001u,
                              0x04000000u, 0x7f7fffffu}) {
    for (const float sign : {1.0f, -1.0f}) {
      std::vector<float> x(256, 0.0f);
      x[3] = FloatFromBits(bits) * sign;
      x[70] = x[3] / 2;
      CheckRow(x, "small or huge");
    }
  }
}

// Numbers whose scaled value lies within an ulp or two of a tie.
TEST(A8, NearTies) {
  std::mt19937 random(14);
  for (int round = 0; round < 50; ++round) {
    std::vector<float> x(256);
    const float largest = 1 + static_cast<float>(random() >> 8) * 0x1p-24f;
    const float inverse = 127.0f / largest;
    for (size_t i = 0; i < x.size(); ++i) {
      const float tie = (static_cast<float>(i % 254) - 126.5f) / inverse;
      x[i] = std::nextafterf(tie, i % 3 == 0 ? -1e9f : i % 3 == 1 ? 1e9f : tie);
    }
    x[0] = largest;
    CheckRow(x, "near ties");
  }
}

uint16_t HalfOf(uint32_t type, float x) {
  return type == HY_TYPE_F16 ? FloatToHalf(x) : FloatToBf16(x);
}

TEST(Convert, EveryPatternOf16Bits) {
  std::vector<uint16_t> in(65536);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint16_t>(i);
  for (const TestLevel& level : LiveLevels()) {
    for (const uint32_t type : {HY_TYPE_F16, HY_TYPE_BF16}) {
      std::vector<float> wide(in.size());
      level.convert(type, in.data(), HY_TYPE_F32, wide.data(), 65536);
      for (size_t i = 0; i < in.size(); ++i) {
        const float want = type == HY_TYPE_F16 ? HalfToFloat(in[i]) : Bf16ToFloat(in[i]);
        ASSERT_EQ(FloatBits(wide[i]), FloatBits(want))
            << level.name << ' ' << hy_type_name(type) << ' ' << i;
      }
    }
  }
}

TEST(Convert, RandomAndTiedFloats) {
  std::mt19937 random(15);
  std::vector<float> in(200000);
  for (size_t i = 0; i < in.size(); ++i) {
    auto bits = static_cast<uint32_t>(random());
    if (i % 4 == 1) bits = (bits & 0xffffe000u) | 0x1000u;      // a tie of f16
    if (i % 4 == 2) bits = (bits & 0xffff0000u) | 0x8000u;      // a tie of bf16
    if (i % 4 == 3) bits = (bits & 0x83ffffffu) | 0x30000000u;  // near the subnormals of f16
    in[i] = FloatFromBits(bits);
  }
  for (const TestLevel& level : LiveLevels()) {
    for (const uint32_t type : {HY_TYPE_F16, HY_TYPE_BF16}) {
      std::vector<uint16_t> narrow(in.size());
      level.convert(HY_TYPE_F32, in.data(), type, narrow.data(), static_cast<int64_t>(in.size()));
      for (size_t i = 0; i < in.size(); ++i)
        ASSERT_EQ(narrow[i], HalfOf(type, in[i]))
            << level.name << ' ' << hy_type_name(type) << ' ' << FloatBits(in[i]);
    }
  }
}

}  // namespace
}  // namespace halyard
