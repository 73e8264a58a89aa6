// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/half.h"
#include "base/quant/format.h"
#include "halyard/tensor.h"

namespace halyard::quant {
namespace {

constexpr float kSmallest = 0x1p-120f;  // below it 127 / a could overflow
constexpr uint32_t kQuietNan = 0x7fc00000u;

struct Scaling {
  float scale = 0;
  float inverse = 0;  // 0: all codes are 0
  int32_t zero = 0;
};

// What gives codes 0: nothing to tell apart, or a NaN or Inf.
bool IsDegenerate(float width, Scaling* scaling) {
  if (width < kSmallest) return true;
  if (std::isfinite(width)) return false;
  scaling->scale = FloatFromBits(kQuietNan);
  return true;
}

// NaN if x has one.
float LargestMagnitude(const float* x, int64_t k) {
  float largest = 0;
  for (int64_t i = 0; i < k; ++i) {
    if (std::isnan(x[i])) return x[i];
    largest = std::max(largest, std::fabs(x[i]));
  }
  return largest;
}

Scaling Symmetric(const float* x, int64_t k) {
  Scaling s;
  const float a = LargestMagnitude(x, k);
  if (IsDegenerate(a, &s)) return s;
  s.scale = a / 127.0f;
  s.inverse = 127.0f / a;
  return s;
}

Scaling Asymmetric(const float* x, int64_t k) {
  Scaling s;
  float low = 0;
  float high = 0;
  for (int64_t i = 0; i < k; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  const bool has_nan = std::isnan(LargestMagnitude(x, k));
  const float range = has_nan ? FloatFromBits(kQuietNan) : high - low;
  if (IsDegenerate(range, &s)) return s;
  s.scale = range / 255.0f;
  s.inverse = 255.0f / range;
  const auto shift = static_cast<int32_t>(std::nearbyintf(low * s.inverse));
  s.zero = std::clamp(-128 - shift, -128, 127);
  return s;
}

void WriteCodes(const float* x, int64_t k, const Scaling& s, int8_t* codes) {
  for (int64_t i = 0; i < k; ++i) {
    if (s.inverse == 0) {
      codes[i] = 0;
      continue;
    }
    const int32_t code = static_cast<int32_t>(std::nearbyintf(x[i] * s.inverse)) + s.zero;
    codes[i] = static_cast<int8_t>(std::clamp(code, -128, 127));
  }
}

int32_t SumOf(const int8_t* codes, int64_t k) {
  return std::accumulate(codes, codes + k, int32_t{0});
}

// One number of a record, in host byte order.
template <typename T>
void Put(T value, uint8_t* at) {
  std::memcpy(at, &value, sizeof value);
}

void QuantizeBlocks(uint32_t type, const float* in, int64_t k, uint8_t* row) {
  const int64_t block = hy_type_facts(type)->block;
  const int64_t group = type == HY_TYPE_A8_B32 ? 32 : 16;
  auto* codes = reinterpret_cast<int8_t*>(row);
  uint8_t* scales = row + hy_a8_scale_offset(type, k);
  uint8_t* sums = row + hy_a8_sum_offset(type, k);
  for (int64_t first = 0; first < k; first += block) {
    const Scaling s = Symmetric(in + first, block);
    WriteCodes(in + first, block, s, codes + first);
    Put(s.scale, scales + first / block * 4);
  }
  for (int64_t first = 0; first < k; first += group)
    Put(static_cast<int16_t>(SumOf(codes + first, group)), sums + first / group * 2);
}

void QuantizeToken(bool asymmetric, const float* in, int64_t k, uint8_t* row) {
  auto* codes = reinterpret_cast<int8_t*>(row);
  const Scaling s = asymmetric ? Asymmetric(in, k) : Symmetric(in, k);
  WriteCodes(in, k, s, codes);
  Put(s.scale, row + hy_a8_scale_offset(HY_TYPE_A8_TOKEN, k));
  uint8_t* zero = row + hy_a8_sum_offset(HY_TYPE_A8_TOKEN, k);
  Put(s.zero, zero);
  Put(SumOf(codes, k), zero + 4);
}

}  // namespace

void QuantizeActivations(uint32_t a8_type, bool asymmetric, const float* in, int64_t k, void* row) {
  auto* bytes = static_cast<uint8_t*>(row);
  if (k == 0) return;
  std::memset(bytes, 0, hy_type_row_bytes(a8_type, k));
  if (a8_type == HY_TYPE_A8_TOKEN) {
    QuantizeToken(asymmetric, in, k, bytes);
  } else {
    QuantizeBlocks(a8_type, in, k, bytes);
  }
}

}  // namespace halyard::quant
