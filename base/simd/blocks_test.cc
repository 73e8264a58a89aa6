// SPDX-License-Identifier: Apache-2.0
//
// What kernels decode is, at every ISA level that runs here, what quant::DecodeRowF32 gives.
#include "base/simd/blocks.h"

#include <cmath>
#include <random>
#include <vector>

#include "base/half.h"
#include "base/quant/format.h"
#include "base/quant/test_blocks.h"
#include "base/simd/test_levels.h"
#include "gtest/gtest.h"

namespace halyard {
namespace {

std::vector<uint32_t> BitsOf(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values)
    bits.push_back(std::isnan(value) ? 0x7fc00000u : FloatBits(value));
  return bits;
}

void CheckRow(uint32_t type, const uint8_t* row, int64_t k) {
  std::vector<float> want(static_cast<size_t>(k));
  quant::DecodeRowF32(type, row, k, want.data());
  for (const TestLevel& level : LiveLevels()) {
    std::vector<float> got(want.size());
    level.values(type, row, k, got.data());
    ASSERT_EQ(BitsOf(got), BitsOf(want))
        << hy_type_name(type) << ", k " << k << ", at level " << level.name;
  }
}

TEST(Blocks, AnyBytesOfWeights) {
  std::mt19937 random(21);
  for (const uint32_t type : quant::WeightTypes()) {
    for (int round = 0; round < 100; ++round) {
      const int64_t k = type == HY_TYPE_W8A8 ? 300 : quant::TestBlock(type) * (1 + round % 3);
      std::vector<uint8_t> row(hy_type_row_bytes(type, k) + 1);
      for (uint8_t& byte : row) byte = static_cast<uint8_t>(random());
      CheckRow(type, row.data() + 1, k);
    }
  }
}

TEST(Blocks, EncodedWeights) {
  std::mt19937 random(22);
  for (const uint32_t type : quant::WeightTypes()) {
    const auto x = quant::RandomFloats(512, 2, random);
    std::vector<uint8_t> row(hy_type_row_bytes(type, 512));
    quant::EncodeRow(type, x.data(), 512, row.data());
    CheckRow(type, row.data(), 512);
  }
}

TEST(Blocks, Activations) {
  std::mt19937 random(23);
  for (const uint32_t type : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN}) {
    for (const int64_t k : {0, 5, 96, 256, 300, 512}) {
      if (type != HY_TYPE_A8_TOKEN && k % hy_type_facts(type)->block != 0) continue;
      const auto x = quant::RandomFloats(static_cast<size_t>(k), 2, random);
      std::vector<uint8_t> row(hy_type_row_bytes(type, k));
      for (const bool asymmetric : {false, true}) {
        quant::QuantizeActivations(type, asymmetric, x.data(), k, row.data());
        CheckRow(type, row.data(), k);
      }
    }
  }
}

}  // namespace
}  // namespace halyard
