// SPDX-License-Identifier: Apache-2.0
//
// q8_0, q4_0, q4_1, q5_0, q5_1: blocks of 32. Byte j of the nibbles holds element j in its low half
// and element j + 16 in its high one; bit i of a 32-bit word is the fifth bit of element i.
#include <cstring>

#include "base/quant/little_endian.h"
#include "base/quant/pack_family.h"

namespace halyard::quant {
namespace {

constexpr int kBlock = 32;

// Codes are stored with `bias` added, so that none is negative.
void PackNibbles(const int8_t* codes, int bias, uint8_t* out) {
  for (int j = 0; j < kBlock / 2; ++j) {
    const int low = (codes[j] + bias) & 15;
    const int high = (codes[j + 16] + bias) & 15;
    out[j] = static_cast<uint8_t>(low | high << 4);
  }
}

uint32_t FifthBits(const int8_t* codes, int bias) {
  uint32_t bits = 0;
  for (int i = 0; i < kBlock; ++i) bits |= static_cast<uint32_t>((codes[i] + bias) >> 4 & 1) << i;
  return bits;
}

void UnpackNibbles(const uint8_t* in, uint32_t fifth_bits, int bias, int8_t* codes) {
  for (int i = 0; i < kBlock; ++i) {
    const int nibble = in[i % 16] >> (i < 16 ? 0 : 4) & 15;
    const int fifth = static_cast<int>(fifth_bits >> i & 1) << 4;
    codes[i] = static_cast<int8_t>((nibble | fifth) - bias);
  }
}

}  // namespace

void PackQ8_0(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  StoreHalf(scales.scale, block);
  std::memcpy(block + 2, codes, kBlock);
}
void UnpackQ8_0(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  scales->scale = LoadHalf(block);
  std::memcpy(codes, block + 2, kBlock);
}

void PackQ4_0(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  StoreHalf(scales.scale, block);
  PackNibbles(codes, 8, block + 2);
}
void UnpackQ4_0(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  scales->scale = LoadHalf(block);
  UnpackNibbles(block + 2, 0, 8, codes);
}

void PackQ4_1(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  StoreHalf(scales.scale, block);
  StoreHalf(scales.min, block + 2);
  PackNibbles(codes, 0, block + 4);
}
void UnpackQ4_1(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  scales->scale = LoadHalf(block);
  scales->min = LoadHalf(block + 2);
  UnpackNibbles(block + 4, 0, 0, codes);
}

void PackQ5_0(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  StoreHalf(scales.scale, block);
  StoreLe32(FifthBits(codes, 16), block + 2);
  PackNibbles(codes, 16, block + 6);
}
void UnpackQ5_0(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  scales->scale = LoadHalf(block);
  UnpackNibbles(block + 6, LoadLe32(block + 2), 16, codes);
}

void PackQ5_1(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  StoreHalf(scales.scale, block);
  StoreHalf(scales.min, block + 2);
  StoreLe32(FifthBits(codes, 0), block + 4);
  PackNibbles(codes, 0, block + 8);
}
void UnpackQ5_1(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  scales->scale = LoadHalf(block);
  scales->min = LoadHalf(block + 2);
  UnpackNibbles(block + 8, LoadLe32(block + 4), 0, codes);
}

}  // namespace halyard::quant
