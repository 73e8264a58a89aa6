// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/half.h"
#include "base/quant/format.h"
#include "base/quant/pack.h"
#include "base/quant/test_blocks.h"
#include "gtest/gtest.h"

namespace halyard::quant {
namespace {

std::vector<uint8_t> Encoded(uint32_t type, const std::vector<float>& x, uint8_t fill = 0) {
  const auto k = static_cast<int64_t>(x.size());
  std::vector<uint8_t> row(hy_type_row_bytes(type, k), fill);
  EncodeRow(type, x.data(), k, row.data());
  return row;
}

std::vector<float> Decoded(uint32_t type, const std::vector<uint8_t>& row, size_t k) {
  std::vector<float> out(k);
  DecodeRowF32(type, row.data(), static_cast<int64_t>(k), out.data());
  return out;
}

class Encode : public testing::TestWithParam<uint32_t> {
 protected:
  const uint32_t type_ = GetParam();
  const int64_t k_ = TestBlock(type_);
  std::mt19937 random_{type_};
};

// Puts the ends of all ranges into a block, so that a packer can see its scales.
void ShowScales(uint32_t type, TestBlockParts* parts) {
  const BlockForm& form = BlockFormOf(type);
  const size_t length = parts->codes.size() / static_cast<size_t>(form.sub_blocks);
  for (int s = 0; s < form.sub_blocks; ++s) {
    if (form.sub_blocks > 1 && parts->scales.sub_scale[s] == 0) parts->scales.sub_scale[s] = 1;
    int8_t* codes = parts->codes.data() + static_cast<size_t>(s) * length;
    codes[1] = static_cast<int8_t>(form.code_min == -128 ? -127 : form.code_min);
    if (form.code_min == 0) codes[length - 1] = static_cast<int8_t>(form.code_max);
    for (size_t i = 0; i < length; ++i)
      if (form.code_min == -128 && codes[i] == -128) codes[i] = -127;
  }
  if (form.sub_blocks == 1) return;
  const int end = form.sub_scale_min < 0 ? form.sub_scale_min : form.sub_scale_max;
  parts->scales.sub_scale[3] = static_cast<int8_t>(end);
  parts->scales.sub_min[5] = static_cast<int8_t>(form.sub_min_max);
}

TEST_P(Encode, FindsTheScalesOfWhatItCanHold) {
  for (int round = 0; round < 20; ++round) {
    TestBlockParts parts = RandomParts(type_, random_);
    ShowScales(type_, &parts);
    std::vector<uint8_t> block(hy_type_row_bytes(type_, k_));
    PackBlock(type_, parts.scales, parts.codes.data(), k_, block.data());
    const auto values = Decoded(type_, block, static_cast<size_t>(k_));
    EXPECT_EQ(Decoded(type_, Encoded(type_, values), values.size()), values);
  }
}

TEST_P(Encode, WritesAllBytesWhateverTheyHeld) {
  const auto x =
      RandomFloats(static_cast<size_t>(k_) * (type_ == HY_TYPE_W8A8 ? 1 : 3), 2, random_);
  EXPECT_EQ(Encoded(type_, x, 0x55), Encoded(type_, x, 0xaa));
}

TEST_P(Encode, NothingGivesScaleZero) {
  for (const float value : {0.0f, -0.0f, std::numeric_limits<float>::denorm_min()}) {
    if (type_ == HY_TYPE_W4A8_G128 && value > 0) continue;  // f32 scales reach as far
    const auto row = Encoded(type_, std::vector<float>(static_cast<size_t>(k_), value));
    BlockScales scales;
    std::vector<int8_t> codes(static_cast<size_t>(k_));
    UnpackBlock(type_, row.data(), k_, &scales, codes.data());
    EXPECT_EQ(FloatBits(scales.scale), 0u);
    EXPECT_EQ(FloatBits(scales.min), 0u);
    EXPECT_EQ(codes, std::vector<int8_t>(codes.size(), 0));
    for (const float x : Decoded(type_, row, codes.size())) EXPECT_EQ(x, 0.0f);
  }
}

TEST_P(Encode, NanAndInfGiveNans) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float bad : {inf, -inf, std::numeric_limits<float>::quiet_NaN()}) {
    for (const size_t at : {size_t{0}, static_cast<size_t>(k_) - 1}) {
      auto x = RandomFloats(static_cast<size_t>(k_), 1, random_);
      x[at] = bad;
      for (const float y : Decoded(type_, Encoded(type_, x), x.size())) EXPECT_TRUE(std::isnan(y));
    }
  }
}

TEST_P(Encode, HugeNumbersStayFinite) {
  // A bit below the largest number, which a scale rounded up may overshoot.
  const float limit = std::numeric_limits<float>::max() * 0.99f;
  auto x = RandomFloats(static_cast<size_t>(k_), limit, random_);
  x[0] = limit;
  x[1] = -x[0];
  for (const float y : Decoded(type_, Encoded(type_, x), x.size())) EXPECT_TRUE(std::isfinite(y));
}

// Errors that are not worse than these, relative, for bell-shaped numbers.
double WorstError(uint32_t type) {
  constexpr double kWorst[] = {0.006, 0.083, 0.072, 0.041, 0.035, 0.27,
                               0.15,  0.073, 0.036, 0.017, 0.009, 0.097};
  return kWorst[type - HY_TYPE_Q8_0];
}

TEST_P(Encode, ErrorsStaySmall) {
  const size_t k = type_ == HY_TYPE_W8A8 ? 4096 : static_cast<size_t>(k_) * 64;
  std::vector<float> x(k, 0.0f);
  for (int i = 0; i < 12; ++i) {
    const auto more = RandomFloats(k, 1, random_);
    for (size_t j = 0; j < k; ++j) x[j] += more[j];
  }
  const auto y = Decoded(type_, Encoded(type_, x), k);
  double error = 0;
  double size = 0;
  for (size_t i = 0; i < k; ++i) {
    error += std::pow(double{y[i]} - double{x[i]}, 2);
    size += std::pow(double{x[i]}, 2);
  }
  EXPECT_LT(std::sqrt(error / size), WorstError(type_));
}

uint64_t Digest(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

// What every target must pack. A change of a packer changes its line, and the version of case lists.
uint64_t KnownDigest(uint32_t type) {
  constexpr uint64_t kKnown[] = {
      0xe838269670295e56, 0x7988c843393be30c, 0x98b6398f15a43d61, 0xc72a2d0591dbe946,
      0x8cb46352ac91ca15, 0x2a6a55e6685c1202, 0xd15102ac9b5b839c, 0x4524ae636a524e31,
      0x7acc81f45c784e85, 0xcfacda4d44ae0727, 0x47b787ec2e31f420, 0x409a73bcf0641dd,
  };
  return kKnown[type - HY_TYPE_Q8_0];
}

TEST_P(Encode, SameBytesOnEveryTarget) {
  std::vector<uint8_t> all;
  for (const float limit : {1.0f, 1e-6f, 3e4f, 1e30f}) {
    const auto x =
        RandomFloats(static_cast<size_t>(k_) * (type_ == HY_TYPE_W8A8 ? 1 : 8), limit, random_);
    const auto row = Encoded(type_, x);
    all.insert(all.end(), row.begin(), row.end());
  }
  EXPECT_EQ(Digest(all), KnownDigest(type_)) << std::hex << "0x" << Digest(all);
}

INSTANTIATE_TEST_SUITE_P(Formats, Encode, testing::ValuesIn(WeightTypes()), TypeName());

TEST(EncodeBlocks, ABrokenOneLeavesItsNeighbours) {
  std::mt19937 random(3);
  for (const uint32_t type : WeightTypes()) {
    if (type == HY_TYPE_W8A8) continue;  // a row is one block
    const auto block = static_cast<size_t>(TestBlock(type));
    auto x = RandomFloats(3 * block, 1, random);
    const auto good = Decoded(type, Encoded(type, x), x.size());
    x[block + 7] = std::numeric_limits<float>::quiet_NaN();
    const auto bad = Decoded(type, Encoded(type, x), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if (i / block == 1) {
        EXPECT_TRUE(std::isnan(bad[i])) << hy_type_name(type) << ' ' << i;
      } else {
        EXPECT_EQ(bad[i], good[i]) << hy_type_name(type) << ' ' << i;
      }
    }
  }
}

TEST(EncodeFloats, RoundsToNearestEven) {
  const std::vector<float> x = {1 + 0x1p-11f, 1 + 0x1.8p-10f, -0.0f, 1e30f, 0x1p-24f};
  const uint16_t half[] = {0x3c00, 0x3c02, 0x8000, 0x7c00, 0x0001};
  const uint16_t bf16[] = {0x3f80, 0x3f80, 0x8000, 0x714a, 0x3380};
  EXPECT_EQ(std::memcmp(Encoded(HY_TYPE_F16, x).data(), half, sizeof half), 0);
  EXPECT_EQ(std::memcmp(Encoded(HY_TYPE_BF16, x).data(), bf16, sizeof bf16), 0);
  EXPECT_EQ(std::memcmp(Encoded(HY_TYPE_F32, x).data(), x.data(), 4 * x.size()), 0);
}

TEST(EncodeFloats, NoElements) {
  for (const uint32_t type :
       {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_Q4_K, HY_TYPE_Q8_0, HY_TYPE_W8A8, HY_TYPE_A8_TOKEN}) {
    EncodeRow(type, nullptr, 0, nullptr);
    DecodeRow(type, nullptr, 0, nullptr);
    DecodeRowF32(type, nullptr, 0, nullptr);
  }
}

}  // namespace
}  // namespace halyard::quant
