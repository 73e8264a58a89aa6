// SPDX-License-Identifier: Apache-2.0
#include "ops/data/code_rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/data/exact_range.h"
#include "ops/data/value_rows.h"

namespace halyard::ops {
namespace {

float Power(int exponent) { return std::ldexp(1.0f, exponent); }

int8_t Narrow(int value) { return static_cast<int8_t>(value); }

// Kernels that read unsigned codes and take the offset off later see magnitudes up to twice as large
// as the signed code's; int8 codes are read as they are.
int CodePeak(const quant::BlockForm& form) {
  return form.code_min < 0 && form.code_max < 127 ? -2 * form.code_min : std::max(form.code_max, 1);
}

int SubScalePeak(const quant::BlockForm& form) {
  return std::max(form.sub_scale_max, -form.sub_scale_min);
}

}  // namespace

bool ChoosesCodes(Dist dist) {
  return dist == Dist::kLossless || dist == Dist::kLosslessAsym || dist == Dist::kWalking ||
         dist == Dist::kExtreme || dist == Dist::kSubnormal || dist == Dist::kRandomBits;
}

CodeRows::CodeRows(const FillSpec& spec, const hy_tensor& tensor)
    : spec_(spec),
      tensor_(tensor),
      cols_(hy_tensor_cols(&tensor)),
      form_(quant::BlockFormOf(tensor.type)) {}

RandomWords CodeRows::Draw(const Block& block, uint32_t which) const {
  const RandomKey key = KeyOf(spec_.seed, spec_.name, kStreamScales + which);
  return Philox(key, {block.number, block.at[0], block.at[1], block.at[2]});
}

void CodeRows::RandomCodes(const Block& block, int low, int high, int8_t* codes) const {
  const RandomKey key = KeyOf(spec_.seed, spec_.name);
  const int64_t start = block.number * block.size;
  for (int64_t i = 0; i < block.size; i += 4) {
    const RandomWords words = Philox(
        key, {static_cast<uint32_t>((start + i) / 4), block.at[0], block.at[1], block.at[2]});
    for (int64_t j = 0; j < std::min<int64_t>(4, block.size - i); ++j) {
      codes[i + j] = Narrow(IntOf(words[static_cast<size_t>(j)], low, high));
    }
  }
}

// As much of codes, sub-scales and powers of two, in this order, as WeightPeak leaves room for.
void CodeRows::Lossless(const Block& block, quant::BlockScales* scales, int8_t* codes) const {
  const int room = WeightPeak(cols_);
  const int code_peak = CodePeak(form_);
  const int shrink = std::max(1, (code_peak + room - 1) / room);
  const int low = form_.code_min < 0 ? std::max(form_.code_min, -127) / shrink : 0;
  const int high = form_.code_max / shrink;
  const int code_room = room * shrink / code_peak;  // what is left for all scales
  const int sub_peak = std::min(SubScalePeak(form_), std::max(1, code_room));
  const int powers = code_room / sub_peak >= 4 ? 2 : 0;
  const RandomWords words = Draw(block, 0);
  const int exponent = kWeightExponent + IntOf(words[0], 0, powers);
  scales->scale = Power(exponent);
  scales->min = Power(kWeightExponent);
  if (form_.has_offset) {
    const int offset_peak = std::min(127, room);
    scales->min *= static_cast<float>(IntOf(words[1], -offset_peak, offset_peak));
  }
  for (int s = 0; s < form_.sub_blocks; ++s) {
    const RandomWords sub = Draw(block, 1 + static_cast<uint32_t>(s));
    const int lowest = form_.sub_scale_min < 0 ? std::max(form_.sub_scale_min, -sub_peak) : 1;
    scales->sub_scale[s] = Narrow(IntOf(sub[0], lowest, std::min(form_.sub_scale_max, sub_peak)));
    scales->sub_min[s] = Narrow(IntOf(sub[1], 0, std::min(form_.sub_min_max, room)));
  }
  RandomCodes(block, low, high, codes);
  if (shrink == 1 && form_.code_max < 127) {
    codes[words[2] % static_cast<uint64_t>(block.size)] =
        Narrow(words[3] % 2 == 0 ? form_.code_max : form_.code_min);
  }
}

// One code in 32, one bit in each sub-scale and one minimum are not zero; the next in the next block
// and row.
void CodeRows::Walking(const Block& block, quant::BlockScales* scales, int8_t* codes) const {
  // Odd, so that a block sees every turn as rows go by.
  const auto blocks = static_cast<uint32_t>(cols_ / block.size) | 1u;
  const uint32_t step = block.at[0] * blocks + block.number;
  const int room = LoneWeightPeak(cols_);
  int peak = step % 3 == 2 && form_.code_min < 0 ? form_.code_min : form_.code_max;
  while (std::abs(peak) * (form_.code_min < 0 && form_.code_max < 127 ? 2 : 1) > room) peak /= 2;
  std::fill_n(codes, block.size, int8_t{0});
  for (int64_t first = 0; first < block.size; first += kExactGroup) {
    const int64_t size = std::min<int64_t>(kExactGroup, block.size - first);
    const int64_t group = (block.number * block.size + first) / kExactGroup;
    codes[first + (block.at[0] + group * 7) % size] = Narrow(peak);
  }
  scales->scale = Power(kWeightExponent);
  scales->min = Power(kWeightExponent);
  if (form_.has_offset) {
    scales->min *= static_cast<float>(std::min(static_cast<int>(step % 16), WeightPeak(cols_)) - 3);
  }
  int bits = 0;
  while ((2 << bits) <= SubScalePeak(form_)) ++bits;
  for (int s = 0; s < form_.sub_blocks; ++s) {
    const uint32_t turn = step + static_cast<uint32_t>(s) * 3;
    int sub = 1 << (turn % static_cast<uint32_t>(bits + 1));
    while (sub * std::abs(peak) * 2 > room && sub > 1) sub /= 2;
    if (form_.sub_scale_min < 0 && (sub > form_.sub_scale_max || turn % 2 != 0)) sub = -sub;
    scales->sub_scale[s] = Narrow(sub);
  }
  if (form_.sub_min_max > 0) {
    int least = 1 << (step / static_cast<uint32_t>(form_.sub_blocks) % 6);
    while (least > form_.sub_min_max || (least > WeightPeak(cols_) / 4 && least > 1)) least /= 2;
    scales->sub_min[step % static_cast<uint32_t>(form_.sub_blocks)] = Narrow(least);
  }
}

void CodeRows::Extreme(const Block& block, quant::BlockScales* scales, int8_t* codes) const {
  const RandomWords words = Draw(block, 0);
  const float halves[] = {65504.0f, 0x1p-24f, 1.0f, -1.0f};
  const float floats[] = {0x1p20f, 0x1p-40f, 1.0f, -1.0f};
  scales->scale = form_.f32_scale ? floats[words[0] % 4] : halves[words[0] % 4];
  scales->min = halves[words[1] % 3];
  for (int s = 0; s < form_.sub_blocks; ++s) {
    const RandomWords sub = Draw(block, 1 + static_cast<uint32_t>(s));
    scales->sub_scale[s] = Narrow(sub[0] % 2 == 0 ? form_.sub_scale_max : form_.sub_scale_min);
    scales->sub_min[s] = Narrow(sub[1] % 2 == 0 ? form_.sub_min_max : 0);
  }
  // Long runs of the same end: what pairs and quadruples of products saturate on.
  RandomCodes(block, 0, 7, codes);
  for (int64_t i = 0; i < block.size; ++i) {
    const bool high = words[2] % 2 == 0 ? codes[i] != 0 : codes[i] == 0;
    codes[i] = Narrow(high ? form_.code_max : form_.code_min);
  }
}

void CodeRows::Subnormal(const Block& block, quant::BlockScales* scales, int8_t* codes) const {
  const RandomWords words = Draw(block, 0);
  const float unit = form_.f32_scale ? 0x1p-149f : 0x1p-24f;
  scales->scale =
      std::ldexp(static_cast<float>(IntOf(words[0], 1, 1023)), form_.f32_scale ? -149 : -24);
  scales->min = static_cast<float>(IntOf(words[1], 0, 1023)) * unit;
  for (int s = 0; s < form_.sub_blocks; ++s) {
    const RandomWords sub = Draw(block, 1 + static_cast<uint32_t>(s));
    scales->sub_scale[s] = Narrow(IntOf(sub[0], form_.sub_scale_min, form_.sub_scale_max));
    scales->sub_min[s] = Narrow(IntOf(sub[1], 0, form_.sub_min_max));
  }
  RandomCodes(block, form_.code_min, form_.code_max, codes);
}

void CodeRows::Row(int64_t row, uint8_t* out) const {
  const Place at = RowPlace(tensor_, row);
  const uint32_t block_facts = hy_type_facts(tensor_.type)->block;
  const int64_t size = block_facts == HY_BLOCK_ROW ? cols_ : static_cast<int64_t>(block_facts);
  const uint64_t row_bytes = hy_type_row_bytes(tensor_.type, cols_);
  if (spec_.dist == Dist::kRandomBits) {
    const RandomKey key = KeyOf(spec_.seed, spec_.name);
    RandomWords words = {};
    for (uint64_t i = 0; i < row_bytes; ++i) {
      if (i % 16 == 0) words = Philox(key, {static_cast<uint32_t>(i / 16), at[0], at[1], at[2]});
      out[i] = static_cast<uint8_t>(words[i / 4 % 4] >> (i % 4 * 8));
    }
    return;
  }
  if (size == 0) return;
  const uint64_t block_bytes = hy_type_row_bytes(tensor_.type, size);
  std::vector<int8_t> codes(static_cast<size_t>(size));
  for (int64_t first = 0; first < cols_; first += size, out += block_bytes) {
    const Block block = {at, static_cast<uint32_t>(first / size), size};
    quant::BlockScales scales;
    std::fill_n(scales.sub_scale, quant::kMaxSubBlocks, int8_t{1});
    switch (spec_.dist) {
      case Dist::kWalking:
        Walking(block, &scales, codes.data());
        break;
      case Dist::kExtreme:
        Extreme(block, &scales, codes.data());
        break;
      case Dist::kSubnormal:
        Subnormal(block, &scales, codes.data());
        break;
      default:
        Lossless(block, &scales, codes.data());
        break;
    }
    quant::PackBlock(tensor_.type, scales, codes.data(), size, out);
  }
}

}  // namespace halyard::ops
