// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/half.h"
#include "base/quant/format.h"
#include "base/quant/pack.h"
#include "halyard/tensor.h"

namespace halyard::quant {
namespace {

// Elements that are decoded at a time: whole blocks of each format but w8a8, whose scale is the row's.
constexpr int64_t kPiece = kMaxBlock;

template <typename T>
T LoadHost(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Elements [first, first + count) of a row of a type without scales.
void DecodePlain(uint32_t type, const uint8_t* row, int64_t first, int64_t count, double* out) {
  for (int64_t i = first; i < first + count; ++i, ++out) {
    if (type == HY_TYPE_F32) {
      *out = double{LoadHost<float>(row + 4 * i)};
    } else if (type == HY_TYPE_F16) {
      *out = double{HalfToFloat(LoadHost<uint16_t>(row + 2 * i))};
    } else if (type == HY_TYPE_BF16) {
      *out = double{Bf16ToFloat(LoadHost<uint16_t>(row + 2 * i))};
    } else {
      *out = static_cast<int8_t>(row[i]);
    }
  }
}

void DecodeBlocks(uint32_t type, const uint8_t* row, int64_t first, int64_t count, double* out) {
  const int64_t block = hy_type_facts(type)->block;
  const int64_t block_bytes = hy_type_facts(type)->block_bytes;
  BlockScales scales;
  int8_t codes[kMaxBlock];
  for (int64_t at = first; at < first + count; at += block, out += block) {
    UnpackBlock(type, row + at / block * block_bytes, block, &scales, codes);
    ValuesOf(type, scales, codes, block, out);
  }
}

void DecodeChannel(const uint8_t* row, int64_t first, int64_t count, double* out) {
  BlockScales scales;
  UnpackBlock(HY_TYPE_W8A8, row, 0, &scales, nullptr);
  ValuesOf(HY_TYPE_W8A8, scales, reinterpret_cast<const int8_t*>(row) + 4 + first, count, out);
}

// `k`: elements of the whole row, by which its record is laid out.
void DecodeActivations(uint32_t type, const uint8_t* row, int64_t k, int64_t first, int64_t count,
                       double* out) {
  const uint8_t* scales = row + hy_a8_scale_offset(type, k);
  const bool token = type == HY_TYPE_A8_TOKEN;
  const int64_t block = token ? k : hy_type_facts(type)->block;
  const int32_t zero = token ? LoadHost<int32_t>(row + hy_a8_sum_offset(type, k)) : 0;
  for (int64_t i = first; i < first + count; ++i, ++out) {
    const double scale = double{LoadHost<float>(scales + i / block * 4)};
    *out = scale * (static_cast<int8_t>(row[i]) - static_cast<double>(zero));
  }
}

void DecodePiece(uint32_t type, const uint8_t* row, int64_t k, int64_t first, double* out) {
  const int64_t count = std::min(k - first, kPiece);
  if (type == HY_TYPE_W8A8) return DecodeChannel(row, first, count, out);
  if (hy_type_is_weights(type)) return DecodeBlocks(type, row, first, count, out);
  if (hy_type_is_a8(type)) return DecodeActivations(type, row, k, first, count, out);
  DecodePlain(type, row, first, count, out);
}

}  // namespace

void DecodeRow(uint32_t type, const void* row, int64_t k, double* out) {
  const auto* bytes = static_cast<const uint8_t*>(row);
  for (int64_t first = 0; first < k; first += kPiece)
    DecodePiece(type, bytes, k, first, out + first);
}

void DecodeRowF32(uint32_t type, const void* row, int64_t k, float* out) {
  if (type == HY_TYPE_F32) {
    if (k > 0) std::memcpy(out, row, static_cast<size_t>(k) * sizeof(float));
    return;
  }
  const auto* bytes = static_cast<const uint8_t*>(row);
  double values[kPiece];
  for (int64_t first = 0; first < k; first += kPiece) {
    DecodePiece(type, bytes, k, first, values);
    const int64_t count = std::min(k - first, kPiece);
    for (int64_t i = 0; i < count; ++i) out[first + i] = static_cast<float>(values[i]);
  }
}

}  // namespace halyard::quant
