// SPDX-License-Identifier: Apache-2.0
//
// Blocks with chosen contents, for tests of formats.
#ifndef HALYARD_BASE_QUANT_TEST_BLOCKS_H_
#define HALYARD_BASE_QUANT_TEST_BLOCKS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/quant/pack.h"
#include "halyard/tensor.h"

namespace halyard::quant {

inline constexpr int64_t kTestChannel = 77;  // elements of a w8a8 row

inline int64_t TestBlock(uint32_t type) {
  return type == HY_TYPE_W8A8 ? kTestChannel : int64_t{hy_type_facts(type)->block};
}

inline std::vector<uint32_t> WeightTypes() {
  std::vector<uint32_t> types;
  for (uint32_t type = HY_TYPE_Q8_0; type <= HY_TYPE_W4A8_G128; ++type) types.push_back(type);
  return types;
}

struct TestBlockParts {
  BlockScales scales;
  std::vector<int8_t> codes;
};

inline int8_t Between(std::mt19937& random, int low, int high) {
  return static_cast<int8_t>(low +
                             static_cast<int>(random() % static_cast<uint32_t>(high - low + 1)));
}

/// Any fields that the format can hold, with scales that are powers of two.
inline TestBlockParts RandomParts(uint32_t type, std::mt19937& random) {
  const BlockForm& form = BlockFormOf(type);
  TestBlockParts parts;
  parts.scales.scale = (random() & 1) != 0 ? 0x1p-6f : 0x1p-7f;
  if (form.has_offset || form.sub_min_max > 0) parts.scales.min = 0x1p-5f;
  for (int s = 0; s < form.sub_blocks; ++s) {
    parts.scales.sub_scale[s] = Between(random, form.sub_scale_min, form.sub_scale_max);
    parts.scales.sub_min[s] = Between(random, 0, form.sub_min_max);
  }
  for (int64_t i = 0; i < TestBlock(type); ++i)
    parts.codes.push_back(Between(random, form.code_min, form.code_max));
  return parts;
}

/// Names test cases by their type.
struct TypeName {
  template <typename ParamInfo>
  std::string operator()(const ParamInfo& param) const {
    return hy_type_name(param.param);
  }
};

/// Numbers from -limit to limit, in steps that f32 holds.
inline std::vector<float> RandomFloats(size_t count, float limit, std::mt19937& random) {
  std::vector<float> out(count);
  for (float& x : out) x = (static_cast<float>(random() >> 8) * 0x1p-23f - 1) * limit;
  return out;
}

}  // namespace halyard::quant

#endif  // HALYARD_BASE_QUANT_TEST_BLOCKS_H_
