// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/half.h"
#include "base/quant/format.h"
#include "base/quant/test_blocks.h"
#include "gtest/gtest.h"

namespace halyard::quant {
namespace {

// A row record taken apart by the words of tensor.h, not by its helpers.
struct Record {
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  int32_t zero = 0;
};

template <typename T>
T At(const std::vector<uint8_t>& row, size_t offset) {
  T value;
  std::memcpy(&value, row.data() + offset, sizeof value);
  return value;
}

Record Read(uint32_t type, const std::vector<uint8_t>& row, size_t k) {
  Record record;
  for (size_t i = 0; i < k; ++i) record.codes.push_back(static_cast<int8_t>(row[i]));
  if (type == HY_TYPE_A8_TOKEN) {
    const size_t at = (k + 15) / 16 * 16;
    record.scales = {At<float>(row, at)};
    record.zero = At<int32_t>(row, at + 4);
    record.sums = {At<int32_t>(row, at + 8)};
    return record;
  }
  const size_t block = type == HY_TYPE_A8_B32 ? 32 : 256;
  const size_t group = type == HY_TYPE_A8_B32 ? 32 : 16;
  for (size_t i = 0; i < k / block; ++i) record.scales.push_back(At<float>(row, k + 4 * i));
  for (size_t i = 0; i < k / group; ++i)
    record.sums.push_back(At<int16_t>(row, k + k / block * 4 + 2 * i));
  return record;
}

Record Quantized(uint32_t type, bool asymmetric, const std::vector<float>& x) {
  std::vector<uint8_t> row(hy_type_row_bytes(type, static_cast<int64_t>(x.size())), 0xa5);
  QuantizeActivations(type, asymmetric, x.data(), static_cast<int64_t>(x.size()), row.data());
  return Read(type, row, x.size());
}

TEST(Activations, TiesGoToEven) {
  std::vector<float> x(32, 0.0f);
  const float values[] = {127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -126.5f, 126.5f, -127};
  std::copy(std::begin(values), std::end(values), x.begin());
  for (const uint32_t type : {HY_TYPE_A8_B32, HY_TYPE_A8_TOKEN}) {
    const Record got = Quantized(type, false, x);
    const int want[] = {127, 0, 2, 2, 0, -2, -126, 126, -127};
    for (size_t i = 0; i < std::size(want); ++i) EXPECT_EQ(got.codes[i], want[i]) << i;
    EXPECT_EQ(got.scales, std::vector<float>{1.0f});
    EXPECT_EQ(got.sums, std::vector<int32_t>{2});
  }
}

TEST(Activations, BlocksHaveScalesAndSumsOfTheirOwn) {
  std::vector<float> x(512, 0.0f);
  for (size_t i = 0; i < 256; ++i) x[i] = 1.0f;
  x[300] = -0.5f;
  const Record b32 = Quantized(HY_TYPE_A8_B32, false, x);
  ASSERT_EQ(b32.scales.size(), 16u);
  EXPECT_EQ(b32.scales[7], 1.0f / 127);
  EXPECT_EQ(b32.scales[8], 0.0f);
  EXPECT_EQ(b32.scales[9], 0.5f / 127);
  EXPECT_EQ(b32.sums[7], 127 * 32);
  EXPECT_EQ(b32.sums[9], -127);
  const Record b256 = Quantized(HY_TYPE_A8_B256, false, x);
  ASSERT_EQ(b256.scales.size(), 2u);
  ASSERT_EQ(b256.sums.size(), 32u);
  EXPECT_EQ(b256.sums[15], 127 * 16);
  EXPECT_EQ(b256.sums[16], 0);
  EXPECT_EQ(b256.sums[18], -127);
}

TEST(Activations, ZeroPoint) {
  const Record got = Quantized(HY_TYPE_A8_TOKEN, true, {0, 255, 100, 0.5f, 1.5f});
  EXPECT_EQ(got.scales[0], 1.0f);
  EXPECT_EQ(got.zero, -128);
  EXPECT_EQ(got.codes, (std::vector<int8_t>{-128, 127, -28, -128, -126}));
  EXPECT_EQ(got.sums[0], -128 + 127 - 28 - 128 - 126);

  const Record negative = Quantized(HY_TYPE_A8_TOKEN, true, {-255, -1});
  EXPECT_EQ(negative.zero, 127);
  EXPECT_EQ(negative.codes, (std::vector<int8_t>{-128, 126}));

  const Record both = Quantized(HY_TYPE_A8_TOKEN, true, {-100, 155, 0, -0.0f});
  EXPECT_EQ(both.zero, -28);
  EXPECT_EQ(both.codes, (std::vector<int8_t>{-128, 127, -28, -28}));
}

TEST(Activations, TooSmallIsZero) {
  for (const bool asymmetric : {false, true}) {
    const Record none = Quantized(HY_TYPE_A8_TOKEN, asymmetric, {0x1.fffffep-121f, 0, 0});
    EXPECT_EQ(FloatBits(none.scales[0]), 0u);
    EXPECT_EQ(none.codes, (std::vector<int8_t>{0, 0, 0}));
    EXPECT_EQ(none.zero, 0);
  }
  const Record least = Quantized(HY_TYPE_A8_TOKEN, false, {0x1p-120f, -0x1p-121f});
  EXPECT_EQ(least.codes, (std::vector<int8_t>{127, -64}));
  EXPECT_EQ(least.scales[0], 0x1p-120f / 127);
  const Record largest =
      Quantized(HY_TYPE_A8_TOKEN, false, {-std::numeric_limits<float>::max(), 1e38f});
  EXPECT_EQ(largest.codes, (std::vector<int8_t>{-127, 37}));
}

TEST(Activations, NanAndInf) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool asymmetric : {false, true}) {
    for (const float bad : {inf, -inf, nan, -nan}) {
      for (const size_t at : {0u, 18u, 36u}) {
        std::vector<float> x(37, 1.0f);
        x[at] = bad;
        const Record got = Quantized(HY_TYPE_A8_TOKEN, asymmetric, x);
        EXPECT_EQ(FloatBits(got.scales[0]), 0x7fc00000u) << bad << " at " << at;
        EXPECT_EQ(got.codes, std::vector<int8_t>(37, 0));
        EXPECT_EQ(got.zero, 0);
        EXPECT_EQ(got.sums[0], 0);
      }
    }
  }
  const float max = std::numeric_limits<float>::max();
  EXPECT_TRUE(std::isnan(Quantized(HY_TYPE_A8_TOKEN, true, {max, -max}).scales[0]));
}

TEST(Activations, RecordsAreWholeAndPadded) {
  for (const uint32_t type : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN}) {
    const int64_t k = type == HY_TYPE_A8_TOKEN ? 5 : 256;
    const std::vector<float> x(static_cast<size_t>(k), 1.0f);
    const uint64_t bytes = hy_type_row_bytes(type, k);
    EXPECT_EQ(bytes % 64, 0u);
    std::vector<uint8_t> a(bytes, 0x55);
    std::vector<uint8_t> b(bytes, 0xaa);
    QuantizeActivations(type, false, x.data(), k, a.data());
    QuantizeActivations(type, false, x.data(), k, b.data());
    EXPECT_EQ(a, b);
    EXPECT_EQ(a[bytes - 1], 0);
  }
}

TEST(Activations, DecodeIsScaleTimesCodeLessZero) {
  std::mt19937 random(7);
  const auto x = RandomFloats(512, 3, random);
  for (const uint32_t type : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN}) {
    for (const bool asymmetric : {false, type == HY_TYPE_A8_TOKEN}) {
      std::vector<uint8_t> row(hy_type_row_bytes(type, 512));
      QuantizeActivations(type, asymmetric, x.data(), 512, row.data());
      const Record record = Read(type, row, x.size());
      std::vector<double> y(x.size());
      DecodeRow(type, row.data(), 512, y.data());
      const size_t block = x.size() / record.scales.size();
      for (size_t i = 0; i < x.size(); ++i) {
        const double scale = double{record.scales[i / block]};
        ASSERT_EQ(y[i], scale * (record.codes[i] - record.zero)) << i;
        ASSERT_LE(std::abs(y[i] - double{x[i]}), scale * (asymmetric ? 1.01 : 0.501)) << i;
      }
    }
  }
}

}  // namespace
}  // namespace halyard::quant
