// SPDX-License-Identifier: Apache-2.0
//
// q2_K to q6_K: blocks of 256 with sub-blocks of 16 or 32. Bits of a code lie in planes: what follows
// says for element i where each of its bits is.
#include <cstring>

#include "base/quant/little_endian.h"
#include "base/quant/pack_family.h"

namespace halyard::quant {
namespace {

constexpr int kBlock = 256;

// A plane of 2-bit fields, q2_K, q3_K and the upper bits of q6_K: 64 bytes; each half of the block
// has 32 of them, and byte l of a half holds its elements l, l + 32, l + 64, l + 96, lowest first.
int PairAt(const uint8_t* plane, int i) {
  return plane[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
}
void AddPair(int value, int i, uint8_t* plane) {
  uint8_t& byte = plane[i / 128 * 32 + i % 32];
  byte = static_cast<uint8_t>(byte | (value & 3) << (i % 128 / 32 * 2));
}

// A plane of bits: byte l holds elements l, l + 32, ... l + 224, lowest first.
int BitAt(const uint8_t* plane, int i) { return plane[i % 32] >> (i / 32) & 1; }
void AddBit(int value, int i, uint8_t* plane) {
  plane[i % 32] = static_cast<uint8_t>(plane[i % 32] | (value & 1) << (i / 32));
}

// Nibbles of q4_K and q5_K: byte l of each 32 holds elements l and l + 32 of 64.
int NibbleAt(const uint8_t* plane, int i) {
  return plane[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15;
}
void AddNibble(int value, int i, uint8_t* plane) {
  uint8_t& byte = plane[i / 64 * 32 + i % 32];
  byte = static_cast<uint8_t>(byte | (value & 15) << (i % 64 / 32 * 4));
}

// Nibbles of q6_K: byte l of each 64 holds elements l and l + 64 of 128.
int WideNibbleAt(const uint8_t* plane, int i) {
  return plane[i / 128 * 64 + i % 64] >> (i % 128 / 64 * 4) & 15;
}
void AddWideNibble(int value, int i, uint8_t* plane) {
  uint8_t& byte = plane[i / 128 * 64 + i % 64];
  byte = static_cast<uint8_t>(byte | (value & 15) << (i % 128 / 64 * 4));
}

// Eight scales and eight minimums of 6 bits in 12 bytes: bytes 0..3 scales 0..3 and, above them, the
// upper two bits of scales 4..7; bytes 4..7 the same of minimums; bytes 8..11 the lower four bits of
// scales 4..7, and, above them, of minimums 4..7.
void PackSixBits(const BlockScales& scales, uint8_t* out) {
  for (int j = 0; j < 4; ++j) {
    const int scale = scales.sub_scale[j + 4];
    const int min = scales.sub_min[j + 4];
    out[j] = static_cast<uint8_t>((scales.sub_scale[j] & 63) | (scale >> 4 & 3) << 6);
    out[j + 4] = static_cast<uint8_t>((scales.sub_min[j] & 63) | (min >> 4 & 3) << 6);
    out[j + 8] = static_cast<uint8_t>((scale & 15) | (min & 15) << 4);
  }
}
void UnpackSixBits(const uint8_t* in, BlockScales* scales) {
  for (int j = 0; j < 4; ++j) {
    scales->sub_scale[j] = static_cast<int8_t>(in[j] & 63);
    scales->sub_min[j] = static_cast<int8_t>(in[j + 4] & 63);
    scales->sub_scale[j + 4] = static_cast<int8_t>((in[j + 8] & 15) | in[j] >> 6 << 4);
    scales->sub_min[j + 4] = static_cast<int8_t>(in[j + 8] >> 4 | in[j + 4] >> 6 << 4);
  }
}

// Sixteen scales of 6 bits, 32 added, in 12 bytes: byte j < 8 has the lower four bits of scale j and,
// above them, of scale j + 8; byte 8 + j the upper two of scales j, j + 4, j + 8, j + 12.
void PackSignedSixBits(const BlockScales& scales, uint8_t* out) {
  std::memset(out, 0, 12);
  for (int j = 0; j < 16; ++j) {
    const int field = scales.sub_scale[j] + 32;
    uint8_t& low = out[j % 8];
    uint8_t& high = out[8 + j % 4];
    low = static_cast<uint8_t>(low | (field & 15) << (j / 8 * 4));
    high = static_cast<uint8_t>(high | (field >> 4 & 3) << (j / 4 * 2));
  }
}
void UnpackSignedSixBits(const uint8_t* in, BlockScales* scales) {
  for (int j = 0; j < 16; ++j) {
    const int low = in[j % 8] >> (j / 8 * 4) & 15;
    const int high = in[8 + j % 4] >> (j / 4 * 2) & 3;
    scales->sub_scale[j] = static_cast<int8_t>((low | high << 4) - 32);
  }
}

}  // namespace

// q2_K: 16 bytes of sub-blocks (scale low, minimum high), 64 of codes, d, dmin.
void PackQ2_K(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  for (int j = 0; j < 16; ++j)
    block[j] = static_cast<uint8_t>((scales.sub_scale[j] & 15) | (scales.sub_min[j] & 15) << 4);
  std::memset(block + 16, 0, 64);
  for (int i = 0; i < kBlock; ++i) AddPair(codes[i], i, block + 16);
  StoreHalf(scales.scale, block + 80);
  StoreHalf(scales.min, block + 82);
}
void UnpackQ2_K(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  for (int j = 0; j < 16; ++j) {
    scales->sub_scale[j] = static_cast<int8_t>(block[j] & 15);
    scales->sub_min[j] = static_cast<int8_t>(block[j] >> 4);
  }
  for (int i = 0; i < kBlock; ++i) codes[i] = static_cast<int8_t>(PairAt(block + 16, i));
  scales->scale = LoadHalf(block + 80);
  scales->min = LoadHalf(block + 82);
}

// q3_K: 32 bytes of third bits, 64 of lower bits, 12 of scales, d. 4 is added to codes.
void PackQ3_K(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  std::memset(block, 0, 96);
  for (int i = 0; i < kBlock; ++i) {
    AddBit((codes[i] + 4) >> 2, i, block);
    AddPair(codes[i] + 4, i, block + 32);
  }
  PackSignedSixBits(scales, block + 96);
  StoreHalf(scales.scale, block + 108);
}
void UnpackQ3_K(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  for (int i = 0; i < kBlock; ++i)
    codes[i] = static_cast<int8_t>((PairAt(block + 32, i) | BitAt(block, i) << 2) - 4);
  UnpackSignedSixBits(block + 96, scales);
  scales->scale = LoadHalf(block + 108);
}

// q4_K: d, dmin, 12 bytes of scales and minimums, 128 of nibbles.
void PackQ4_K(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  StoreHalf(scales.scale, block);
  StoreHalf(scales.min, block + 2);
  PackSixBits(scales, block + 4);
  std::memset(block + 16, 0, 128);
  for (int i = 0; i < kBlock; ++i) AddNibble(codes[i], i, block + 16);
}
void UnpackQ4_K(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  scales->scale = LoadHalf(block);
  scales->min = LoadHalf(block + 2);
  UnpackSixBits(block + 4, scales);
  for (int i = 0; i < kBlock; ++i) codes[i] = static_cast<int8_t>(NibbleAt(block + 16, i));
}

// q5_K: d, dmin, 12 bytes of scales and minimums, 32 of fifth bits, 128 of nibbles.
void PackQ5_K(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  StoreHalf(scales.scale, block);
  StoreHalf(scales.min, block + 2);
  PackSixBits(scales, block + 4);
  std::memset(block + 16, 0, 160);
  for (int i = 0; i < kBlock; ++i) {
    AddBit(codes[i] >> 4, i, block + 16);
    AddNibble(codes[i], i, block + 48);
  }
}
void UnpackQ5_K(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  scales->scale = LoadHalf(block);
  scales->min = LoadHalf(block + 2);
  UnpackSixBits(block + 4, scales);
  for (int i = 0; i < kBlock; ++i)
    codes[i] = static_cast<int8_t>(NibbleAt(block + 48, i) | BitAt(block + 16, i) << 4);
}

// q6_K: 128 bytes of lower nibbles, 64 of upper pairs, 16 int8 scales, d. 32 is added to codes.
void PackQ6_K(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  std::memset(block, 0, 192);
  for (int i = 0; i < kBlock; ++i) {
    AddWideNibble(codes[i] + 32, i, block);
    AddPair((codes[i] + 32) >> 4, i, block + 128);
  }
  std::memcpy(block + 192, scales.sub_scale, 16);
  StoreHalf(scales.scale, block + 208);
}
void UnpackQ6_K(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  for (int i = 0; i < kBlock; ++i)
    codes[i] = static_cast<int8_t>((WideNibbleAt(block, i) | PairAt(block + 128, i) << 4) - 32);
  std::memcpy(scales->sub_scale, block + 192, 16);
  scales->scale = LoadHalf(block + 208);
}

}  // namespace halyard::quant
