// SPDX-License-Identifier: Apache-2.0
#include "ops/data/value_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/half.h"
#include "ops/data/exact_range.h"

namespace halyard::ops {
namespace {

// Largest magnitude whose squares add up within f32 over any row that fits into memory.
constexpr float kWide = 0x1p45f;

float SmallestSubnormal(uint32_t type) {
  if (type == HY_TYPE_F16) return 0x1p-24f;
  return type == HY_TYPE_BF16 ? 0x1p-133f : 0x1p-149f;
}
float SmallestNormal(uint32_t type) { return type == HY_TYPE_F16 ? 0x1p-14f : 0x1p-126f; }

float Power(int exponent) { return std::ldexp(1.0f, exponent); }

}  // namespace

std::array<uint32_t, 3> RowPlace(const hy_tensor& tensor, int64_t row) {
  std::array<uint32_t, 3> at = {0, 0, 0};
  for (uint32_t i = 0; i + 1 < tensor.rank && i < 3; ++i) {
    const int64_t size = std::max<int64_t>(1, tensor.shape[tensor.rank - 2 - i]);
    at[i] = static_cast<uint32_t>(row % size);
    row /= size;
  }
  return at;
}

ValueRows::ValueRows(const FillSpec& spec, const hy_tensor& tensor)
    : spec_(spec),
      tensor_(tensor),
      cols_(hy_tensor_cols(&tensor)),
      key_(KeyOf(spec.seed, spec.name)) {
  const int64_t rows = hy_tensor_rows(&tensor);
  if (spec.dist == Dist::kLlm && spec.role == Role::kInput) {
    channel_.resize(static_cast<size_t>(cols_), 1.0f);
    const RandomKey channels = KeyOf(spec.seed, spec.name, kStreamChannels);
    for (int64_t c = 0; c < cols_; ++c) {
      const RandomWords words = Philox(channels, {static_cast<uint32_t>(c), 0, 0, 0});
      if (words[0] % 1000 < 15) channel_[static_cast<size_t>(c)] = 50.0f;
    }
  }
  if (spec.dist == Dist::kPlanted && rows > 0 && cols_ > 0) {
    const RandomWords words = Draw(kStreamTensor, 0, {0, 0, 0});
    planted_row_ = static_cast<int64_t>(words[0] % static_cast<uint64_t>(rows));
    // In the main part, in the last few, or the very last: where kernels take different ways.
    const int64_t tail = cols_ - 1 - static_cast<int64_t>(words[1] % 7);
    const int64_t places[] = {static_cast<int64_t>(words[1] % static_cast<uint64_t>(cols_)),
                              std::max<int64_t>(0, tail), cols_ - 1};
    planted_col_ = places[spec.seed % 3];
    constexpr float kInf = std::numeric_limits<float>::infinity();
    constexpr float kinds[] = {std::numeric_limits<float>::quiet_NaN(), kInf, -kInf};
    planted_ = kinds[words[2] % 3];
  }
}

RandomWords ValueRows::Draw(RandomStream stream, uint32_t column, const Place& at) const {
  return Philox(KeyOf(spec_.seed, spec_.name, stream), {column, at[0], at[1], at[2]});
}

template <typename Fn>
void ValueRows::EachWord(const Place& at, Fn fn) const {
  for (int64_t first = 0; first < cols_; first += 4) {
    const RandomWords words = Philox(key_, {static_cast<uint32_t>(first / 4), at[0], at[1], at[2]});
    const int64_t count = std::min<int64_t>(4, cols_ - first);
    for (int64_t i = 0; i < count; ++i) fn(first + i, words[static_cast<size_t>(i)]);
  }
}

void ValueRows::Lossless(const Place& at, float* out) const {
  const int peak = InputPeak(cols_);
  const float unit = Power(kInputExponent + IntOf(Draw(kStreamRows, 0, at)[0], 0, 2));
  EachWord(at, [&](int64_t c, uint32_t word) {
    out[c] = static_cast<float>(IntOf(word, -peak, peak)) * unit;
  });
  for (int64_t first = 0; first < cols_; first += kExactGroup) {
    const auto size = static_cast<uint32_t>(std::min<int64_t>(kExactGroup, cols_ - first));
    const RandomWords words = Draw(kStreamGroups, static_cast<uint32_t>(first / kExactGroup), at);
    out[first + words[0] % size] = words[1] % 2 == 0 ? 127 * unit : -127 * unit;
  }
}

// The ends of the range are code -128 and 127, so that the scale is the unit and the zero point
// `zero`; a row of one element has only one end.
void ValueRows::LosslessAsym(const Place& at, float* out) const {
  const int peak = InputPeak(cols_);
  const RandomWords words = Draw(kStreamRows, 0, at);
  const float unit = Power(kInputExponent + IntOf(words[0], 0, 2));
  EachWord(at, [&](int64_t c, uint32_t word) {
    out[c] = static_cast<float>(IntOf(word, -peak, peak)) * unit;
  });
  if (cols_ == 1) {
    out[0] = 255 * unit;
  } else if (cols_ > 1) {
    const int zero = IntOf(words[1], -100, 100);
    const auto low = static_cast<int64_t>(words[2] % static_cast<uint64_t>(cols_));
    out[low] = static_cast<float>(-128 - zero) * unit;
    out[(low + 1) % cols_] = static_cast<float>(127 - zero) * unit;
  }
}

// Each group of 32 columns has its own power of two.
void ValueRows::LosslessWeights(const Place& at, float* out) const {
  const int most = WeightPeak(cols_);
  const int powers = most >= 32 ? 2 : 0;
  const int peak = std::min(127, most >> powers);
  float unit = 1;
  EachWord(at, [&](int64_t c, uint32_t word) {
    if (c % kExactGroup == 0) {
      const auto group = static_cast<uint32_t>(c / kExactGroup);
      unit = Power(kWeightExponent + IntOf(Draw(kStreamGroups, group, at)[0], 0, powers));
    }
    out[c] = static_cast<float>(IntOf(word, -peak, peak)) * unit;
  });
}

void ValueRows::Walking(const Place& at, float* out) const {
  const float unit = Power(kInputExponent);
  for (int64_t c = 0; c < cols_; ++c) {
    const int64_t group = c / kExactGroup;
    const int64_t size = std::min<int64_t>(kExactGroup, cols_ - group * kExactGroup);
    const int64_t place = c % kExactGroup;
    const bool negative = (group + at[0]) % 2 != 0;
    const bool is_peak = place == (group * 5 + at[0] * 3) % size;
    const auto value = static_cast<float>(is_peak ? 127 : 2 * place + 1);
    out[c] = (negative ? -value : value) * unit;
  }
}

void ValueRows::WalkingWeights(const Place& at, float* out) const {
  const auto peak = static_cast<float>(std::min(127, LoneWeightPeak(cols_)));
  const float unit = Power(kWeightExponent);
  for (int64_t c = 0; c < cols_; ++c) {
    const int64_t group = c / kExactGroup;
    const bool is_lone = c % kExactGroup == (at[0] + group) % kExactGroup;
    out[c] = is_lone ? ((at[0] + group) % 3 == 0 ? -peak : peak) * unit : 0.0f;
  }
}

// Sum of 12 uniform numbers of 10 bits, and 8 more bits below them.
void ValueRows::Normal(const Place& at, float* out) const {
  for (int64_t c = 0; c < cols_; ++c) {
    const RandomWords words = Philox(key_, {static_cast<uint32_t>(c), at[0], at[1], at[2]});
    uint32_t sum = 0;
    uint32_t low = 0;
    for (const uint32_t word : words) {
      sum += (word & 0x3ffu) + (word >> 10 & 0x3ffu) + (word >> 20 & 0x3ffu);
      low = low << 2 | word >> 30;
    }
    const int32_t centred = static_cast<int32_t>(sum << 8 | low) - (6138 * 256 + 128);
    out[c] = static_cast<float>(centred) * 0x1p-18f;
    if (!channel_.empty()) out[c] *= channel_[static_cast<size_t>(c)];
  }
}

// Neighbours differ by 2^-10; those of inputs have opposite signs, those of weights have not.
void ValueRows::Cancel(const Place& at, float* out) const {
  for (int64_t c = 0; c < cols_; c += 2) {
    const RandomWords words = Philox(key_, {static_cast<uint32_t>(c / 2), at[0], at[1], at[2]});
    const int64_t value = static_cast<int32_t>(words[0]) >> 9;
    const int64_t ratio = static_cast<int32_t>(words[1]) >> 8;
    const int64_t near = value + (value * ratio >> 33);
    out[c] = static_cast<float>(value) * 0x1p-22f;
    if (c + 1 == cols_) break;
    out[c + 1] = static_cast<float>(spec_.role == Role::kInput ? -near : near) * 0x1p-22f;
  }
}

void ValueRows::Extreme(const Place& at, float* out) const {
  const bool half = tensor_.type == HY_TYPE_F16;
  const float large = half ? 65504.0f : kWide;
  const float rest[] = {large,
                        SmallestNormal(tensor_.type),
                        SmallestSubnormal(tensor_.type),
                        0.0f,
                        1.0f,
                        half ? 32768.0f : kWide / 2,
                        large,
                        large};
  EachWord(at, [&](int64_t c, uint32_t word) {
    const float value = word % 16 < 8 ? large : rest[word % 8];
    out[c] = (word >> 31) != 0 ? -value : value;
  });
}

void ValueRows::Subnormal(const Place& at, float* out) const {
  const bool half = tensor_.type == HY_TYPE_F16;
  const float unit = SmallestSubnormal(tensor_.type);
  const int bits = half ? 10 : tensor_.type == HY_TYPE_BF16 ? 7 : 23;
  EachWord(at, [&](int64_t c, uint32_t word) {
    const uint32_t fraction = word & ((1u << bits) - 1);
    // One in four is a normal number next to them.
    const uint32_t units = (word >> 29 & 3u) == 0 ? (1u << bits) + fraction : fraction;
    // Exact: an integer of at most 24 bits times a power of two, made of its bits.
    const float value =
        half ? static_cast<float>(units) * unit : FloatFromBits(units << (23 - bits));
    out[c] = (word >> 31) != 0 ? -value : value;
  });
}

void ValueRows::Plant(int64_t row, float* out) const {
  if (row == planted_row_) out[planted_col_] = planted_;
}

void ValueRows::Row(int64_t row, float* out) const {
  const Place at = RowPlace(tensor_, row);
  const bool weights = spec_.role == Role::kWeights;
  const auto uniform = [&](int64_t c, uint32_t word) { out[c] = SignedUnit(word); };
  switch (spec_.dist) {
    case Dist::kLossless:
      return weights ? LosslessWeights(at, out) : Lossless(at, out);
    case Dist::kLosslessAsym:
      return weights ? LosslessWeights(at, out) : LosslessAsym(at, out);
    case Dist::kWalking:
      return weights ? WalkingWeights(at, out) : Walking(at, out);
    case Dist::kNormal:
    case Dist::kLlm:
      return Normal(at, out);
    case Dist::kPositive:
      return EachWord(at, [&](int64_t c, uint32_t word) {
        out[c] = static_cast<float>((word >> 8) + 1) * 0x1p-24f;
      });
    case Dist::kCancel:
      return Cancel(at, out);
    case Dist::kExtreme:
      return weights ? EachWord(at, uniform) : Extreme(at, out);
    case Dist::kSubnormal:
      return weights ? EachWord(at, uniform) : Subnormal(at, out);
    case Dist::kEqual: {
      const uint32_t word = Draw(kStreamTensor, 0, {0, 0, 0})[0];
      std::fill_n(out, cols_, static_cast<float>(IntOf(word, 1, 255)) * 0x1p-8f);
      return;
    }
    case Dist::kOnehot: {
      std::fill_n(out, cols_, 0.0f);
      if (cols_ > 0) out[Draw(kStreamRows, 0, at)[0] % static_cast<uint64_t>(cols_)] = 1.0f;
      return;
    }
    case Dist::kRandomBits:
      return EachWord(at, [&](int64_t c, uint32_t word) { out[c] = FloatFromBits(word); });
    case Dist::kUniform:
    case Dist::kPlanted:
      EachWord(at, uniform);
      return Plant(row, out);
  }
}

}  // namespace halyard::ops
