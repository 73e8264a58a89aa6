// SPDX-License-Identifier: Apache-2.0
//
// The weight formats that packed kernels know: how rows of x are stored for each, and which block
// product it takes. A format is a struct with
//   kActivation, kA8      the class in which it computes, and the type of x that is quantised so before
//   kRowsOfX, kSums       rows of x in a group; accumulators of each row of x, of 16 rows of weights
//   kPartBytes            of one part of x, as it is stored for one row of x: kPart columns
//   kTrailerBytes         stored once behind the parts of a row
//   Form()                of the packed weights
//   Put(...)              stores one part: codes, or floats
//   Panel<MR>(...)        blocks of one tile times the same blocks of a group of MR rows
#ifndef HALYARD_OPS_MATMUL_PACKED_FORMATS_H_
#define HALYARD_OPS_MATMUL_PACKED_FORMATS_H_

#include <string.h>

#include "halyard/kernel.h"
#include "ops/matmul/packed_blocks_256.h"
#include "ops/matmul/packed_blocks_32.h"

namespace {

// One part of a row of x, quantised.
struct Part {
  const int8_t* codes;
  float scale;
  const int16_t* sums;  // of the codes of the part; of each 16 of them for a part of 256
};

// Where it goes: row `m` of a group that is stored as `rows` rows, and whose parts begin at `at`.
struct Place {
  uint8_t* at;
  int m;
  int rows;
};

HYK_INLINE void PutWord(const Place& place, int64_t offset, const void* four_bytes) {
  memcpy(place.at + offset * place.rows + 4 * place.m, four_bytes, 4);
}

// Codes, a step of each row after another.
template <int kColumns>
HYK_INLINE void PutNarrowCodes(const Place& place, const int8_t* codes) {
  uint8_t* at = place.at + place.m * kStepColumns;
  for (int k = 0; k < kColumns; k += kStepColumns)
    memcpy(at + k * place.rows, codes + k, kStepColumns);
}

HYK_INLINE void PutWideCodes(const Place& place, const int8_t* codes) {
  Tile::StoreWideX(codes, place.at + place.m * Tile::kWideBytes,
                   static_cast<int64_t>(place.rows) * Tile::kWideBytes);
}

constexpr int kWidePart = 8 / Tile::kStepWords * Tile::kWideBytes;  // bytes of 32 codes of a row

// What codes of x in blocks of 32 have in common.
struct Parts32 {
  static constexpr uint32_t kActivation = HY_QA_BLOCK32;
  static constexpr uint32_t kA8 = HY_TYPE_A8_B32;
  static constexpr uint32_t kAccumulator = HY_ACC_I32_F32;
  static constexpr int kPart = 32;
  static constexpr int kRowsOfX = Tile::kRowsOfX;
  static constexpr int kSums = 1;
  static constexpr int kTrailerBytes = 0;
};

struct NibbleParts : Parts32 {
  static constexpr int kPartBytes = 32 + 8;
  // Nibbles have 8 added.
  static inline void Put(const Place& place, const Part& part) {
    const int32_t off = -8 * part.sums[0];
    PutNarrowCodes<32>(place, part.codes);
    PutWord(place, 32, &part.scale);
    PutWord(place, 36, &off);
  }
};

struct FormatQ8_0 : Parts32 {
  static constexpr uint32_t kType = HY_TYPE_Q8_0;
  static constexpr uint32_t kLayout = HYK_LAYOUT_Q8_0_R16;
  static constexpr int kPartBytes = kWidePart + 8;
  static hyk_packed_form Form() { return hyk_packed_q8_0(); }

  static inline void Put(const Place& place, const Part& part) {
    const int32_t off = -Tile::kWideBias * part.sums[0];
    PutWideCodes(place, part.codes);
    PutWord(place, kWidePart, &part.scale);
    PutWord(place, kWidePart + 4, &off);
  }
  template <int MR>
  HYK_APART void Panel(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                       int64_t blocks, float* acc) {
    for (int64_t b = 0; b < blocks; ++b)
      WideBlock<MR>(codes + b * 8 * kWord, scales + b * 32, x + b * StoredRows(MR) * kPartBytes,
                    acc);
  }
};

struct FormatQ4_0 : NibbleParts {
  static constexpr uint32_t kType = HY_TYPE_Q4_0;
  static constexpr uint32_t kLayout = HYK_LAYOUT_Q4_0_R16;
  static hyk_packed_form Form() { return hyk_packed_q4_0(); }

  template <int MR>
  HYK_APART void Panel(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                       int64_t blocks, float* acc) {
    for (int64_t b = 0; b < blocks; ++b) {
      NibbleBlock<MR, false, false>(codes + b * 4 * kWord, scales + b * 32,
                                    x + b * StoredRows(MR) * kPartBytes, acc);
    }
  }
};

struct FormatQ4_1 : Parts32 {
  static constexpr uint32_t kType = HY_TYPE_Q4_1;
  static constexpr uint32_t kLayout = HYK_LAYOUT_Q4_1_R16;
  static constexpr int kPartBytes = 32 + 8;
  static hyk_packed_form Form() { return hyk_packed_q4_1(); }

  static inline void Put(const Place& place, const Part& part) {
    const float sum = part.scale * static_cast<float>(part.sums[0]);
    PutNarrowCodes<32>(place, part.codes);
    PutWord(place, 32, &part.scale);
    PutWord(place, 36, &sum);
  }
  template <int MR>
  HYK_APART void Panel(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                       int64_t blocks, float* acc) {
    for (int64_t b = 0; b < blocks; ++b) {
      NibbleBlock<MR, true, false>(codes + b * 4 * kWord, scales + b * 64,
                                   x + b * StoredRows(MR) * kPartBytes, acc);
    }
  }
};

// Blocks of 128 with four parts of x each.
struct FormatW4A8 : NibbleParts {
  static constexpr uint32_t kType = HY_TYPE_W4A8_G128;
  static constexpr uint32_t kLayout = HYK_LAYOUT_W4A8_R16;
  static hyk_packed_form Form() { return hyk_packed_w4a8(); }

  template <int MR>
  HYK_APART void Panel(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                       int64_t blocks, float* acc) {
    for (int64_t b = 0; b < 4 * blocks; ++b) {
      NibbleBlock<MR, false, true>(codes + b * 4 * kWord, scales + b / 4 * 64,
                                   x + b * StoredRows(MR) * kPartBytes, acc);
    }
  }
};

// Codes of x in blocks of 256, followed by kGroups sums.
template <int kGroups>
struct Parts256 {
  static constexpr uint32_t kActivation = HY_QA_BLOCK256;
  static constexpr uint32_t kA8 = HY_TYPE_A8_B256;
  static constexpr uint32_t kAccumulator = HY_ACC_I32_F32;
  static constexpr int kPart = 256;
  static constexpr int kRowsOfX = Tile::kRowsOfX;
  static constexpr int kSums = 1;
  static constexpr int kTrailerBytes = 0;
  static constexpr int kPartBytes = 256 + 4 + 4 * kGroups;

  static inline void Put(const Place& place, const Part& part) {
    PutNarrowCodes<256>(place, part.codes);
    PutWord(place, 256, &part.scale);
    for (int i = 0; i < kGroups; ++i) {
      const int sum = kGroups == 16 ? part.sums[i] : part.sums[2 * i] + part.sums[2 * i + 1];
      const float value = static_cast<float>(sum);
      PutWord(place, 260 + 4 * i, &value);
    }
  }
};

struct FormatQ4_K : Parts256<8> {
  static constexpr uint32_t kType = HY_TYPE_Q4_K;
  static constexpr uint32_t kLayout = HYK_LAYOUT_Q4_K_R16;
  static hyk_packed_form Form() { return hyk_packed_q4_k(); }

  template <int MR>
  HYK_APART void Panel(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                       int64_t blocks, float* acc) {
    for (int64_t b = 0; b < blocks; ++b)
      Q4KBlock<MR>(codes + b * 32 * kWord, scales + b * 256, x + b * StoredRows(MR) * kPartBytes,
                   acc);
  }
};

struct FormatQ6_K : Parts256<16> {
  static constexpr uint32_t kType = HY_TYPE_Q6_K;
  static constexpr uint32_t kLayout = HYK_LAYOUT_Q6_K_R16;
  static hyk_packed_form Form() { return hyk_packed_q6_k(); }

  template <int MR>
  HYK_APART void Panel(const uint8_t* codes, const uint8_t* scales, const uint8_t* x,
                       int64_t blocks, float* acc) {
    for (int64_t b = 0; b < blocks; ++b)
      Q6KBlock<MR>(codes + b * 48 * kWord, scales + b * 288, x + b * StoredRows(MR) * kPartBytes,
                   acc);
  }
};

// A row is one integer sum; its scale, zero point and sum of codes lie in the trailer.
template <bool kAsymmetric>
struct FormatW8A8 {
  static constexpr uint32_t kType = HY_TYPE_W8A8;
  static constexpr uint32_t kLayout = HYK_LAYOUT_W8A8_R16;
  static constexpr uint32_t kActivation = kAsymmetric ? HY_QA_TOKEN_ASYM : HY_QA_TOKEN_SYM;
  static constexpr uint32_t kA8 = HY_TYPE_A8_TOKEN;
  static constexpr uint32_t kAccumulator = HY_ACC_I32_F32;
  static constexpr int kPart = 32;
  static constexpr int kRowsOfX = Tile::kRowsOfX;
  static constexpr int kSums = 1;
  static constexpr int kPartBytes = kWidePart;
  static constexpr int kTrailerBytes = 12;
  static hyk_packed_form Form() { return hyk_packed_w8a8(); }

  static inline void Put(const Place& place, const Part& part) { PutWideCodes(place, part.codes); }
  template <int MR>
  HYK_APART void Panel(const uint8_t* codes, const uint8_t*, const uint8_t* x, int64_t blocks,
                       float* acc) {
    WideSums<MR>(codes, x, blocks, static_cast<int32_t*>(static_cast<void*>(acc)));
  }
};

// Activations as they are, in f32.
struct FormatBf16 {
  static constexpr uint32_t kType = HY_TYPE_BF16;
  static constexpr uint32_t kLayout = HYK_LAYOUT_BF16_R16;
  static constexpr uint32_t kActivation = HY_QA_NONE;
  static constexpr uint32_t kA8 = HY_TYPE_NONE;
  static constexpr uint32_t kAccumulator = HY_ACC_F32;
  static constexpr int kPart = 32;
  static constexpr int kRowsOfX = Tile::kFloatRowsOfX;
  static constexpr int kSums = 2;
  static constexpr int kPartBytes = 128;
  static constexpr int kTrailerBytes = 0;
  static hyk_packed_form Form() { return hyk_packed_bf16(); }

  static inline void Put(const Place& place, const float* values) {
    for (int k = 0; k < kPart; ++k) PutWord(place, 4 * k, values + k);
  }
  template <int MR>
  HYK_APART void Panel(const uint8_t* codes, const uint8_t*, const uint8_t* x, int64_t blocks,
                       float* acc) {
    Bf16Blocks<MR>(codes, x, blocks, acc);
  }
};

}  // namespace

#endif  // HALYARD_OPS_MATMUL_PACKED_FORMATS_H_
