// SPDX-License-Identifier: Apache-2.0
//
// First phase of packed kernels: rows of x are quantised as the format's class says, bit for bit as
// `quantize` does, and stored in groups as the block products read them (packed_formats.h).
#ifndef HALYARD_OPS_MATMUL_PACKED_INPUTS_H_
#define HALYARD_OPS_MATMUL_PACKED_INPUTS_H_

#include "base/simd/a8.h"
#include "ops/matmul/packed_formats.h"

namespace {

// One row of x: of a float type, or a record of the format's a8 type.
struct InputRow {
  const void* at;
  uint32_t type;
  int64_t cols;
};

constexpr int kRun = 8;  // parts of 32 that are coded together

// Codes of `kRun` parts of 32, with the same bits as hyk_a8_block32 gives each: their maxima, then their
// divisions, then their codes, since one after another waits for each division.
inline void CodeRun(const float* x, int8_t* codes, float* scales, int16_t* sums) {
  int32_t top[kRun];
  float inverse[kRun];
  for (int p = 0; p < kRun; ++p) top[p] = hyk_a8_top(x + 32 * p, 32, 0);
  for (int p = 0; p < kRun; ++p) {
    // Bits of 2^-120 and of infinity: below and from there on all codes are 0.
    const uint32_t codable = top[p] >= 0x03800000 && top[p] < 0x7f800000 ? 0xffffffffu : 0u;
    const uint32_t nan = top[p] >= 0x7f800000 ? 0x7fc00000u : 0u;
    const float largest = hyk_from_bits((uint32_t)top[p]);
    scales[p] = hyk_from_bits((hyk_bits(largest / 127.0f) & codable) | nan);
    inverse[p] = hyk_from_bits(hyk_bits(127.0f / largest) & codable);
  }
  for (int p = 0; p < kRun; ++p) {
    const hyk_a8_scaling s = {scales[p], inverse[p], 0};
    hyk_a8_codes(x + 32 * p, 32, s, codes + 32 * p);
  }
  for (int p = 0; p < kRun; ++p) sums[p] = (int16_t)hyk_a8_sum(codes + 32 * p, 32);
}

// Parts [begin, end) of a row that is quantised already.
template <typename F>
void PutRecord(const InputRow& row, int64_t begin, int64_t end, const Place& place) {
  constexpr int kSums = F::kPart == 32 ? 1 : 16;
  const uint8_t* record = static_cast<const uint8_t*>(row.at);
  const uint8_t* scales = record + hy_a8_scale_offset(F::kA8, row.cols);
  const uint8_t* sums = record + hy_a8_sum_offset(F::kA8, row.cols);
  for (int64_t p = begin; p < end; ++p) {
    int16_t part_sums[kSums];
    Part part = {static_cast<const int8_t*>(row.at) + p * F::kPart, 0.0f, part_sums};
    memcpy(&part.scale, scales + 4 * p, sizeof part.scale);
    memcpy(part_sums, sums + p * static_cast<int64_t>(sizeof part_sums), sizeof part_sums);
    F::Put({place.at + p * place.rows * F::kPartBytes, place.m, place.rows}, part);
  }
}

// Parts [begin, end) of a row of floats, each with a scale of its own; `place.at` is where the group
// begins.
template <typename F>
void PutBlocks(const InputRow& row, int64_t begin, int64_t end, const Place& place) {
  constexpr int kRunOfF = F::kPart == 32 ? kRun : 1;
  constexpr int kSums = F::kPart == 32 ? 1 : 16;
  for (int64_t p = begin; p < end; p += kRunOfF) {
    alignas(32) int8_t codes[256];
    int16_t sums[16];
    float scales[kRunOfF];
    float x[256] = {0};
    const int64_t count = end - p < kRunOfF ? end - p : kRunOfF;
    hyk_load_f32(row.type, row.at, p * F::kPart, count * F::kPart, x);
    if constexpr (F::kPart == 32) {
      CodeRun(x, codes, scales, sums);
    } else {
      hyk_a8_block256(x, codes, scales, sums);
    }
    for (int64_t i = 0; i < count; ++i) {
      F::Put({place.at + (p + i) * place.rows * F::kPartBytes, place.m, place.rows},
             Part{codes + i * F::kPart, scales[i], sums + i * kSums});
    }
  }
}

// Scaling of a row as a whole.
template <bool kAsymmetric>
hyk_a8_scaling RowScaling(const InputRow& row) {
  hyk_a8_range range = {0, 0};
  int32_t top = 0;
  float x[HYK_A8_PIECE];
  for (int64_t at = 0; at < row.cols; at += HYK_A8_PIECE) {
    const int64_t count = row.cols - at < HYK_A8_PIECE ? row.cols - at : HYK_A8_PIECE;
    hyk_load_f32(row.type, row.at, at, count, x);
    if constexpr (kAsymmetric) {
      hyk_a8_extend(x, count, &range);
    } else {
      top = hyk_a8_top(x, count, top);
    }
  }
  return kAsymmetric ? hyk_a8_asymmetric(range) : hyk_a8_symmetric(top);
}

// A whole row with one scale. Columns that fill up the last part are zeros.
template <typename F>
void PutToken(const InputRow& row, int64_t parts, const Place& place) {
  const uint8_t* tail = static_cast<const uint8_t*>(row.at) + hy_a8_scale_offset(F::kA8, row.cols);
  constexpr bool kAsymmetric = F::kActivation == HY_QA_TOKEN_ASYM;
  const bool coded = row.type == F::kA8;
  hyk_a8_scaling s = {0.0f, 0.0f, 0};
  if (coded) {
    memcpy(&s.scale, tail, sizeof s.scale);
    memcpy(&s.zero, tail + 4, sizeof s.zero);
  } else {
    s = RowScaling<kAsymmetric>(row);
  }
  int32_t sum = 0;
  for (int64_t p = 0; p < parts; ++p) {
    const int64_t first = p * F::kPart;
    const int64_t count = row.cols - first < F::kPart ? row.cols - first : F::kPart;
    alignas(32) int8_t codes[F::kPart] = {0};
    if (coded) {
      memcpy(codes, static_cast<const int8_t*>(row.at) + first, static_cast<size_t>(count));
    } else {
      float x[F::kPart];
      hyk_load_f32(row.type, row.at, first, count, x);
      if constexpr (kAsymmetric) {
        hyk_a8_codes_asymmetric(x, count, s, codes);
      } else {
        hyk_a8_codes(x, count, s, codes);
      }
    }
    sum += hyk_a8_sum(codes, F::kPart);
    F::Put({place.at + p * place.rows * F::kPartBytes, place.m, place.rows},
           Part{codes, s.scale, nullptr});
  }
  const int32_t off = -Tile::kWideBias * sum;
  PutWord(place, parts * F::kPartBytes, &s.scale);
  PutWord(place, parts * F::kPartBytes + 4, &s.zero);
  PutWord(place, parts * F::kPartBytes + 8, &off);
}

template <typename F>
void PutFloats(const InputRow& row, int64_t begin, int64_t end, const Place& place) {
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * F::kPart;
    const int64_t count = row.cols - first < F::kPart ? row.cols - first : F::kPart;
    float x[F::kPart] = {0};
    hyk_load_f32(row.type, row.at, first, count, x);
    F::Put({place.at + p * place.rows * F::kPartBytes, place.m, place.rows}, x);
  }
}

// Whether parts of one row may be shared out to several workers.
template <typename F>
constexpr bool kPartsAreApart =
    F::kActivation != HY_QA_TOKEN_SYM&& F::kActivation != HY_QA_TOKEN_ASYM;

template <typename F>
void PutInput(const InputRow& row, int64_t begin, int64_t end, const Place& place) {
  if constexpr (F::kActivation == HY_QA_NONE) {
    PutFloats<F>(row, begin, end, place);
  } else if constexpr (kPartsAreApart<F>) {
    if (row.type == F::kA8) {
      PutRecord<F>(row, begin, end, place);
    } else {
      PutBlocks<F>(row, begin, end, place);
    }
  } else {
    PutToken<F>(row, end, place);
  }
}

}  // namespace

#endif  // HALYARD_OPS_MATMUL_PACKED_INPUTS_H_
