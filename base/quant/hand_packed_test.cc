// SPDX-License-Identifier: Apache-2.0
//
// Blocks whose bytes were written by hand from the description of the formats.
#include <cmath>
#include <vector>

#include "base/half.h"
#include "base/quant/format.h"
#include "base/quant/pack.h"
#include "gtest/gtest.h"
#include "halyard/tensor.h"

namespace halyard::quant {
namespace {

struct Byte {
  size_t at;
  int value;
};

// `count` elements from `first` on have this value; later runs overwrite earlier ones.
struct Run {
  size_t first;
  size_t count;
  double value;
};

struct HandPacked {
  uint32_t type;
  std::vector<Byte> bytes;  // others are 0
  std::vector<Run> runs;
};

// f16: 0x3c00 is 1, 0x3800 0.5, 0x4000 2, 0xbc00 -1, 0x0001 2^-24. f32: 0x3f800000 is 1.
const std::vector<HandPacked>& Blocks32() {
  static const std::vector<HandPacked> blocks = {
      {HY_TYPE_Q8_0,
       {{1, 0x3c}, {2, 127}, {3, 0x80}, {33, 0xff}},
       {{0, 1, 127}, {1, 1, -128}, {31, 1, -1}}},
      {HY_TYPE_Q8_0, {{1, 0xb8}, {7, 3}, {8, 0xfd}}, {{5, 1, -1.5}, {6, 1, 1.5}}},
      {HY_TYPE_Q8_0, {{0, 1}, {33, 0x80}}, {{31, 1, -0x1p-17}}},
      {HY_TYPE_Q4_0, {{1, 0x3c}, {2, 0xf1}}, {{0, 32, -8}, {0, 1, -7}, {16, 1, 7}}},
      {HY_TYPE_Q4_0, {{1, 0xbc}, {17, 0x8f}}, {{0, 32, 8}, {15, 1, -7}, {31, 1, 0}}},
      {HY_TYPE_Q4_0, {{0, 1}, {5, 0x90}}, {{0, 32, -0x1p-21}, {19, 1, 0x1p-24}}},
      {HY_TYPE_Q4_1,
       {{1, 0x3c}, {3, 0xb8}, {4, 0xf1}},
       {{0, 32, -0.5}, {0, 1, 0.5}, {16, 1, 14.5}}},
      {HY_TYPE_Q4_1, {{1, 0xbc}, {3, 0x40}, {19, 0x2f}}, {{0, 32, 2}, {15, 1, -13}, {31, 1, 0}}},
      {HY_TYPE_Q4_1, {{3, 0x3c}, {9, 0xff}}, {{0, 32, 1}}},
      {HY_TYPE_Q5_0,
       {{1, 0x3c}, {2, 0x01}, {5, 0x80}, {6, 0xf1}, {21, 0x20}},
       {{0, 32, -16}, {0, 1, 1}, {16, 1, -1}, {31, 1, 2}}},
      {HY_TYPE_Q5_0, {{1, 0xbc}, {3, 0x02}, {15, 0x0f}}, {{0, 32, 16}, {9, 1, -15}}},
      {HY_TYPE_Q5_0,
       {{1, 0x38}, {2, 0xff}, {3, 0xff}, {4, 0xff}, {5, 0xff}, {8, 0x6a}},
       {{0, 32, 0}, {2, 1, 5}, {18, 1, 3}}},
      {HY_TYPE_Q5_1,
       {{1, 0x3c}, {3, 0xbc}, {4, 0x01}, {7, 0x80}, {8, 0xf1}, {23, 0x20}},
       {{0, 32, -1}, {0, 1, 16}, {16, 1, 14}, {31, 1, 17}}},
      {HY_TYPE_Q5_1, {{1, 0xb8}, {3, 0x40}, {5, 0x02}, {17, 0x0f}}, {{0, 32, 2}, {9, 1, -13.5}}},
      {HY_TYPE_Q5_1, {{2, 1}, {6, 0x01}, {8, 0xff}}, {{0, 32, 0x1p-24}}},
  };
  return blocks;
}

const std::vector<HandPacked>& BlocksWithMinimums() {
  static const std::vector<HandPacked> blocks = {
      // Sub-block 3 has scale 5 and minimum 2; byte 0 of the codes holds elements 0, 32, 64, 96.
      {HY_TYPE_Q2_K,
       {{81, 0x3c}, {83, 0x38}, {3, 0x25}, {2, 0x01}, {6, 0x0f}, {16, 0xe4}, {16 + 17, 0x04}},
       {{48, 16, -1}, {32, 1, 1}, {96, 1, 45}, {49, 1, 4}}},
      {HY_TYPE_Q2_K,
       {{81, 0xbc}, {83, 0xbc}, {15, 0xf1}, {79, 0xc0}},
       {{240, 16, 15}, {255, 1, 12}}},
      {HY_TYPE_Q2_K, {{80, 1}, {8, 0x03}, {48, 0x02}}, {{128, 1, 6 * 0x1p-24}}},
      // Scale 1 of the first four is in byte 5; its minimum in byte 9.
      {HY_TYPE_Q4_K,
       {{1, 0x3c}, {3, 0x38}, {4 + 1, 3}, {8 + 1, 4}, {16, 0x20}, {16 + 31, 0xf0}},
       {{32, 32, -2}, {32, 1, 4}, {63, 1, 43}}},
      // Scale 6 is 0x2d: low bits in byte 14, high ones above scale 2; minimum 6 is 0x13.
      {HY_TYPE_Q4_K,
       {{1, 0x3c}, {3, 0x3c}, {4 + 2, 0x80}, {8 + 2, 0x40}, {12 + 2, 0x3d}, {16 + 96 + 7, 0x0b}},
       {{192, 32, -19}, {199, 1, 45 * 11 - 19}}},
      {HY_TYPE_Q4_K, {{1, 0xc0}, {12 + 3, 0x0f}, {4 + 3, 0xc0}, {143, 0x10}}, {{255, 1, -2 * 63}}},
      // Bit s of byte l of the fifth bits is that of element 32 s + l.
      {HY_TYPE_Q5_K,
       {{1, 0x3c}, {3, 0x38}, {4 + 1, 3}, {8 + 1, 4}, {16, 0x02}, {48, 0x20}, {48 + 31, 0xf0}},
       {{32, 32, -2}, {32, 1, 18 * 3 - 2}, {63, 1, 43}}},
      {HY_TYPE_Q5_K,
       {{1, 0x3c}, {3, 0x3c}, {6, 0x80}, {10, 0x40}, {14, 0x3d}, {16 + 7, 0x40}, {48 + 103, 0x0b}},
       {{192, 32, -19}, {199, 1, 45 * 27 - 19}}},
      {HY_TYPE_Q5_K,
       {{1, 0xc0}, {15, 0x0f}, {7, 0xc0}, {47, 0x80}, {175, 0x10}},
       {{255, 1, -2 * 63 * 17}}},
  };
  return blocks;
}

const std::vector<HandPacked>& BlocksSigned() {
  static const std::vector<HandPacked> blocks = {
      // A scale field of 0 is -32, a code without its third bit is at most -1.
      {HY_TYPE_Q3_K, {{109, 0x3c}, {0, 0x01}, {32, 0x02}}, {{0, 256, 128}, {0, 1, -64}}},
      // Scale 9 is 0x21 - 32 = 1: low bits above scale 1, high ones in byte 9, bits 4 and 5.
      {HY_TYPE_Q3_K,
       {{109, 0x38}, {96 + 1, 0x10}, {104 + 1, 0x20}, {32 + 32 + 16, 0x03}, {17, 0x10}},
       {{0, 256, 64}, {144, 16, -2}, {144, 1, -0.5}, {145, 1, 0}}},
      {HY_TYPE_Q3_K,
       {{109, 0xbc}, {96 + 7, 0xf0}, {104 + 3, 0xc0}, {31, 0x80}, {95, 0xc0}},
       {{0, 256, -128}, {240, 16, 4 * 31}, {255, 1, -3 * 31}}},
      {HY_TYPE_Q6_K,
       {{209, 0x3c}, {192, 1}, {193, 0xff}, {0, 0x21}, {128, 0x01}, {16, 0x0f}},
       {{0, 16, -32}, {16, 16, 32}, {0, 1, -15}, {16, 1, 17}}},
      // Element 96 + l of a half: high nibble of byte 32 + l, bits 6 and 7 of the upper byte l.
      {HY_TYPE_Q6_K,
       {{209, 0x38}, {192 + 6, 2}, {32 + 3, 0x50}, {128 + 3, 0xc0}},
       {{96, 16, -32}, {99, 1, 21}}},
      {HY_TYPE_Q6_K,
       {{208, 1}, {207, 0x80}, {127, 0xf0}, {191, 0xc0}},
       {{240, 16, 128 * 32 * 0x1p-24}, {255, 1, -128 * 31 * 0x1p-24}}},
  };
  return blocks;
}

const std::vector<HandPacked>& BlocksW() {
  static const std::vector<HandPacked> blocks = {
      {HY_TYPE_W8A8, {{3, 0x3f}, {2, 0x80}, {4, 0x80}, {5, 127}}, {{0, 1, -128}, {1, 1, 127}}},
      {HY_TYPE_W8A8, {{3, 0xbf}, {2, 0x80}, {8, 0xff}}, {{4, 1, 1}}},
      {HY_TYPE_W8A8, {{0, 1}, {6, 2}}, {{2, 1, 0x1p-148}}},
      {HY_TYPE_W4A8_G128,
       {{3, 0x3f}, {2, 0x80}, {4, 0xf1}, {67, 0x07}},
       {{0, 128, -8}, {0, 1, -7}, {16, 1, 7}, {111, 1, -1}}},
      {HY_TYPE_W4A8_G128,
       {{3, 0xbf}, {2, 0x80}, {4 + 16, 0x09}, {4 + 33, 0xa0}},
       {{0, 128, 8}, {32, 1, -1}, {81, 1, -2}}},
      {HY_TYPE_W4A8_G128, {{0, 1}, {4 + 63, 0xf0}}, {{0, 128, -0x1p-146}, {127, 1, 7 * 0x1p-149}}},
  };
  return blocks;
}

constexpr int64_t kChannel = 5;  // elements of a w8a8 row here

void CheckDecode(const HandPacked& hand) {
  const auto block = hy_type_facts(hand.type)->block;
  const int64_t k = block == HY_BLOCK_ROW ? kChannel : int64_t{block};
  std::vector<uint8_t> bytes(hy_type_row_bytes(hand.type, k));
  for (const Byte& byte : hand.bytes) bytes.at(byte.at) = static_cast<uint8_t>(byte.value);
  std::vector<double> want(static_cast<size_t>(k), 0.0);
  for (const Run& run : hand.runs)
    for (size_t i = 0; i < run.count; ++i) want.at(run.first + i) = run.value;
  std::vector<double> got(want.size());
  std::vector<float> narrow(want.size());
  DecodeRow(hand.type, bytes.data(), k, got.data());
  DecodeRowF32(hand.type, bytes.data(), k, narrow.data());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(got[i], want[i]) << "element " << i;
    EXPECT_EQ(narrow[i], static_cast<float>(want[i])) << "element " << i;
  }
}

TEST(HandPacked, Decode) {
  int count[64] = {};
  for (const auto* list : {&Blocks32(), &BlocksWithMinimums(), &BlocksSigned(), &BlocksW()}) {
    for (const HandPacked& hand : *list) {
      const int number = ++count[hand.type];
      SCOPED_TRACE(testing::Message() << hy_type_name(hand.type) << " block " << number);
      CheckDecode(hand);
    }
  }
  for (uint32_t type = HY_TYPE_Q8_0; type <= HY_TYPE_W4A8_G128; ++type)
    EXPECT_EQ(count[type], 3) << hy_type_name(type);
}

TEST(HandPacked, PlainTypes) {
  const float f32[] = {1.5f, -0.0f};
  const uint16_t f16[] = {0x3e00, 0x8001};
  const uint16_t bf16[] = {0x3fc0, 0x8001};
  const int8_t i8[] = {-128, 127};
  double out[2];
  DecodeRow(HY_TYPE_F32, f32, 2, out);
  EXPECT_EQ(out[0], 1.5);
  EXPECT_TRUE(out[1] == 0 && std::signbit(out[1]));
  DecodeRow(HY_TYPE_F16, f16, 2, out);
  EXPECT_EQ(out[0], 1.5);
  EXPECT_EQ(out[1], -0x1p-24);
  DecodeRow(HY_TYPE_BF16, bf16, 2, out);
  EXPECT_EQ(out[0], 1.5);
  EXPECT_EQ(out[1], -0x1p-133);
  DecodeRow(HY_TYPE_I8, i8, 2, out);
  EXPECT_EQ(out[0], -128);
  EXPECT_EQ(out[1], 127);
}

}  // namespace
}  // namespace halyard::quant
