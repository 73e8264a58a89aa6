// SPDX-License-Identifier: Apache-2.0
#include "base/quant/encode.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.h"
#include "base/quant/format.h"
#include "halyard/tensor.h"

namespace halyard::quant {
namespace {

constexpr uint32_t kQuietNan = 0x7fc00000u;

enum class Content { kZero, kFinite, kBroken };

Content ContentOf(const float* x, int64_t k) {
  Content content = Content::kZero;
  for (int64_t i = 0; i < k; ++i) {
    if (!std::isfinite(x[i])) return Content::kBroken;
    if (x[i] != 0) content = Content::kFinite;
  }
  return content;
}

void Choose(uint32_t type, const float* x, int64_t k, BlockScales* scales, int8_t* codes) {
  switch (type) {
    case HY_TYPE_Q8_0:
    case HY_TYPE_W8A8:
      return ChooseByLargest(type, x, k, scales, codes);
    case HY_TYPE_Q4_0:
    case HY_TYPE_Q5_0:
    case HY_TYPE_W4A8_G128:
      return ChooseScale(type, x, k, scales, codes);
    case HY_TYPE_Q4_1:
    case HY_TYPE_Q5_1:
      return ChooseScaleAndOffset(type, x, k, scales, codes);
    case HY_TYPE_Q2_K:
    case HY_TYPE_Q4_K:
    case HY_TYPE_Q5_K:
      return ChooseWithMinimums(type, x, scales, codes);
    default:
      return ChooseSigned(type, x, scales, codes);
  }
}

// `codes` may lie in the block itself, where its format stores them as they are.
void EncodeBlock(uint32_t type, const float* x, int64_t k, int8_t* codes, uint8_t* block) {
  BlockScales scales;
  const Content content = ContentOf(x, k);
  if (content == Content::kFinite) Choose(type, x, k, &scales, codes);
  if (scales.scale == 0 && scales.min == 0) {
    scales = BlockScales();
    std::fill_n(codes, k, int8_t{0});
  }
  if (content == Content::kBroken) scales.scale = FloatFromBits(kQuietNan);
  PackBlock(type, scales, codes, k, block);
}

void EncodeFloats(uint32_t type, const float* in, int64_t k, uint8_t* row) {
  for (int64_t i = 0; i < k; ++i) {
    const uint16_t bits = type == HY_TYPE_F16 ? FloatToHalf(in[i]) : FloatToBf16(in[i]);
    std::memcpy(row + 2 * i, &bits, sizeof bits);
  }
}

void EncodeBlocks(uint32_t type, const float* in, int64_t k, uint8_t* row) {
  const int64_t block = hy_type_facts(type)->block;
  int8_t codes[kMaxBlock];
  for (int64_t first = 0; first < k; first += block, row += hy_type_facts(type)->block_bytes)
    EncodeBlock(type, in + first, block, codes, row);
}

}  // namespace

void EncodeRow(uint32_t type, const float* in, int64_t k, void* row) {
  auto* bytes = static_cast<uint8_t*>(row);
  if (k == 0) return;
  if (type == HY_TYPE_W8A8) {
    EncodeBlock(type, in, k, reinterpret_cast<int8_t*>(bytes) + 4, bytes);
  } else if (hy_type_is_weights(type)) {
    EncodeBlocks(type, in, k, bytes);
  } else if (hy_type_is_a8(type)) {
    QuantizeActivations(type, false, in, k, row);
  } else if (type == HY_TYPE_F32) {
    std::memcpy(row, in, static_cast<size_t>(k) * sizeof(float));
  } else {
    EncodeFloats(type, in, k, bytes);
  }
}

}  // namespace halyard::quant
