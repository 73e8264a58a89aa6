// SPDX-License-Identifier: Apache-2.0
//
// Blocks of weight formats, put together from chosen scales and codes, and taken apart again. What
// decoders and packers stand on; also how tests make blocks whose every field is known.
#ifndef HALYARD_BASE_QUANT_PACK_H_
#define HALYARD_BASE_QUANT_PACK_H_

#include <cstdint>

namespace halyard::quant {

inline constexpr int kMaxSubBlocks = 16;
inline constexpr int kMaxBlock = 256;  // elements of the largest block that is not a row

/// Scales of one block. Element i, with s = i / (block / sub_blocks), has the value
///   scale * sub_scale[s] * code[i] + min                  if the format has an offset
///   scale * sub_scale[s] * code[i] - min * sub_min[s]     if it has minimums
/// where sub_scale is 1 in formats without sub-blocks.
struct BlockScales {
  float scale = 0;  ///< stored as f16, or f32 where BlockForm says so
  float min = 0;    ///< stored as f16
  int8_t sub_scale[kMaxSubBlocks] = {};
  int8_t sub_min[kMaxSubBlocks] = {};
};

/// What a weight format can hold.
struct BlockForm {
  int code_min = 0;
  int code_max = 0;
  int sub_blocks = 1;
  int sub_scale_min = 1;
  int sub_scale_max = 1;
  int sub_min_max = 0;      ///< 0: no minimums; else sub_min is 0..sub_min_max
  bool has_offset = false;  ///< `min` is added
  bool f32_scale = false;
};

/// The form of a weight format; `type` must be one (hy_type_is_weights).
const BlockForm& BlockFormOf(uint32_t type);

/// Writes the one block of `k` elements: k is the type's block, for w8a8 the row. Scale and min are
/// rounded once to what the format stores; codes and sub-block fields must lie in the form's range.
void PackBlock(uint32_t type, const BlockScales& scales, const int8_t* codes, int64_t k,
               uint8_t* block);

/// The reverse, for any bytes. `codes` has room for k.
void UnpackBlock(uint32_t type, const uint8_t* block, int64_t k, BlockScales* scales,
                 int8_t* codes);

/// Value of each code, exactly. `out` has room for k.
void ValuesOf(uint32_t type, const BlockScales& scales, const int8_t* codes, int64_t k,
              double* out);

}  // namespace halyard::quant

#endif  // HALYARD_BASE_QUANT_PACK_H_
