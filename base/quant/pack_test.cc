// SPDX-License-Identifier: Apache-2.0
#include "base/quant/pack.h"

#include <random>
#include <vector>

#include "base/half.h"
#include "base/quant/format.h"
#include "base/quant/test_blocks.h"
#include "gtest/gtest.h"

namespace halyard::quant {
namespace {

class Pack : public testing::TestWithParam<uint32_t> {
 protected:
  const uint32_t type_ = GetParam();
  const int64_t k_ = TestBlock(type_);
  const size_t bytes_ = hy_type_row_bytes(type_, k_);
  std::mt19937 random_{type_};
};

TEST_P(Pack, FieldsComeBack) {
  for (int round = 0; round < 200; ++round) {
    const TestBlockParts parts = RandomParts(type_, random_);
    // One byte off any alignment; every byte must be written.
    std::vector<uint8_t> block(bytes_ + 2, 0xa5);
    PackBlock(type_, parts.scales, parts.codes.data(), k_, block.data() + 1);
    EXPECT_EQ(block.front(), 0xa5);
    EXPECT_EQ(block.back(), 0xa5);
    BlockScales scales;
    std::vector<int8_t> codes(parts.codes.size());
    UnpackBlock(type_, block.data() + 1, k_, &scales, codes.data());
    EXPECT_EQ(codes, parts.codes);
    EXPECT_EQ(scales.scale, parts.scales.scale);
    EXPECT_EQ(scales.min, parts.scales.min);
    for (int s = 0; s < BlockFormOf(type_).sub_blocks; ++s) {
      EXPECT_EQ(scales.sub_scale[s], parts.scales.sub_scale[s]) << s;
      EXPECT_EQ(scales.sub_min[s], parts.scales.sub_min[s]) << s;
    }
  }
}

TEST_P(Pack, WhatTheBlockHeldBeforeDoesNotMatter) {
  const TestBlockParts parts = RandomParts(type_, random_);
  std::vector<uint8_t> zeros(bytes_, 0);
  std::vector<uint8_t> ones(bytes_, 0xff);
  PackBlock(type_, parts.scales, parts.codes.data(), k_, zeros.data());
  PackBlock(type_, parts.scales, parts.codes.data(), k_, ones.data());
  EXPECT_EQ(zeros, ones);
}

// Each code moved alone changes its own value and no other.
TEST_P(Pack, EachCodeHasAPlaceOfItsOwn) {
  const BlockForm& form = BlockFormOf(type_);
  TestBlockParts parts = RandomParts(type_, random_);
  for (int s = 0; s < form.sub_blocks; ++s) parts.scales.sub_scale[s] = 1;
  std::vector<uint8_t> block(bytes_);
  std::vector<double> before(parts.codes.size());
  std::vector<double> after(parts.codes.size());
  PackBlock(type_, parts.scales, parts.codes.data(), k_, block.data());
  DecodeRow(type_, block.data(), k_, before.data());
  for (size_t i = 0; i < parts.codes.size(); ++i) {
    for (const int code : {form.code_min, form.code_max}) {
      std::vector<int8_t> codes = parts.codes;
      codes[i] = static_cast<int8_t>(code);
      PackBlock(type_, parts.scales, codes.data(), k_, block.data());
      DecodeRow(type_, block.data(), k_, after.data());
      after[i] -= (code - parts.codes[i]) * double{parts.scales.scale};
      ASSERT_EQ(after, before) << "element " << i << " code " << code;
    }
  }
}

TEST_P(Pack, ScalesAreAppliedAsTheFormSays) {
  const BlockForm& form = BlockFormOf(type_);
  const TestBlockParts parts = RandomParts(type_, random_);
  std::vector<uint8_t> block(bytes_);
  std::vector<double> got(parts.codes.size());
  PackBlock(type_, parts.scales, parts.codes.data(), k_, block.data());
  DecodeRow(type_, block.data(), k_, got.data());
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t s = i / (got.size() / static_cast<size_t>(form.sub_blocks));
    double want = double{parts.scales.scale} * parts.codes[i];
    if (form.sub_blocks > 1) want *= parts.scales.sub_scale[s];
    if (form.has_offset) want += double{parts.scales.min};
    if (form.sub_min_max > 0) want -= double{parts.scales.min} * parts.scales.sub_min[s];
    ASSERT_EQ(got[i], want) << i;
  }
}

// Bytes of any kind are fields, and the same bytes again; a signalling NaN alone becomes quiet.
TEST_P(Pack, AnyBytesComeBack) {
  std::vector<uint8_t> block(bytes_);
  std::vector<uint8_t> once(bytes_);
  std::vector<uint8_t> twice(bytes_);
  BlockScales scales;
  std::vector<int8_t> codes(static_cast<size_t>(k_));
  for (int round = 0; round < 500; ++round) {
    for (uint8_t& byte : block) byte = static_cast<uint8_t>(random_());
    UnpackBlock(type_, block.data(), k_, &scales, codes.data());
    PackBlock(type_, scales, codes.data(), k_, once.data());
    UnpackBlock(type_, once.data(), k_, &scales, codes.data());
    PackBlock(type_, scales, codes.data(), k_, twice.data());
    ASSERT_EQ(once, twice);
    if (scales.scale == scales.scale && scales.min == scales.min) {
      ASSERT_EQ(once, block);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Pack, testing::ValuesIn(WeightTypes()), TypeName());

}  // namespace
}  // namespace halyard::quant
