// SPDX-License-Identifier: Apache-2.0
#include "base/quant/pack.h"

#include <cstring>

#include "base/quant/little_endian.h"
#include "base/quant/pack_family.h"
#include "halyard/tensor.h"

namespace halyard::quant {
namespace {

struct Format {
  BlockForm form;
  void (*pack)(const BlockScales& scales, const int8_t* codes, uint8_t* block);
  void (*unpack)(const uint8_t* block, BlockScales* scales, int8_t* codes);
};

BlockForm Plain(int code_min, int code_max, bool has_offset, bool f32_scale) {
  BlockForm form;
  form.code_min = code_min;
  form.code_max = code_max;
  form.has_offset = has_offset;
  form.f32_scale = f32_scale;
  return form;
}

BlockForm WithMinimums(int code_max, int sub_blocks, int sub_max) {
  return {0, code_max, sub_blocks, 0, sub_max, sub_max, false, false};
}

BlockForm Signed(int code_min, int code_max, int sub_min, int sub_max) {
  return {code_min, code_max, 16, sub_min, sub_max, 0, false, false};
}

// In the order of HY_TYPE_Q8_0 and on.
const Format& FormatOf(uint32_t type) {
  static const Format formats[] = {
      {Plain(-128, 127, false, false), PackQ8_0, UnpackQ8_0},
      {Plain(-8, 7, false, false), PackQ4_0, UnpackQ4_0},
      {Plain(0, 15, true, false), PackQ4_1, UnpackQ4_1},
      {Plain(-16, 15, false, false), PackQ5_0, UnpackQ5_0},
      {Plain(0, 31, true, false), PackQ5_1, UnpackQ5_1},
      {WithMinimums(3, 16, 15), PackQ2_K, UnpackQ2_K},
      {Signed(-4, 3, -32, 31), PackQ3_K, UnpackQ3_K},
      {WithMinimums(15, 8, 63), PackQ4_K, UnpackQ4_K},
      {WithMinimums(31, 8, 63), PackQ5_K, UnpackQ5_K},
      {Signed(-32, 31, -128, 127), PackQ6_K, UnpackQ6_K},
      {Plain(-128, 127, false, true), nullptr, nullptr},
      {Plain(-8, 7, false, true), PackW4A8, UnpackW4A8},
  };
  return formats[type - HY_TYPE_Q8_0];
}

}  // namespace

const BlockForm& BlockFormOf(uint32_t type) { return FormatOf(type).form; }

void PackBlock(uint32_t type, const BlockScales& scales, const int8_t* codes, int64_t k,
               uint8_t* block) {
  if (type == HY_TYPE_W8A8) {
    StoreFloat(scales.scale, block);
    if (k > 0) std::memmove(block + 4, codes, static_cast<size_t>(k));
    return;
  }
  FormatOf(type).pack(scales, codes, block);
}

void UnpackBlock(uint32_t type, const uint8_t* block, int64_t k, BlockScales* scales,
                 int8_t* codes) {
  *scales = BlockScales();
  if (BlockFormOf(type).sub_blocks == 1) scales->sub_scale[0] = 1;
  if (type == HY_TYPE_W8A8) {
    scales->scale = LoadFloat(block);
    if (k > 0) std::memcpy(codes, block + 4, static_cast<size_t>(k));
    return;
  }
  FormatOf(type).unpack(block, scales, codes);
}

void ValuesOf(uint32_t type, const BlockScales& scales, const int8_t* codes, int64_t k,
              double* out) {
  const BlockForm& form = BlockFormOf(type);
  const int64_t length = k / form.sub_blocks;
  for (int s = 0; s < form.sub_blocks; ++s) {
    const double scale = double{scales.scale} * (form.sub_blocks == 1 ? 1 : scales.sub_scale[s]);
    const double plus = form.sub_min_max > 0 ? -double{scales.min} * scales.sub_min[s]
                        : form.has_offset    ? double{scales.min}
                                             : 0.0;
    const bool shifted = form.sub_min_max > 0 || form.has_offset;
    for (int64_t i = s * length; i < (s + 1) * length; ++i)
      out[i] = shifted ? scale * codes[i] + plus : scale * codes[i];
  }
}

}  // namespace halyard::quant
