// SPDX-License-Identifier: Apache-2.0
//
// The families of formats behind pack.h. Each function writes or reads one block.
#ifndef HALYARD_BASE_QUANT_PACK_FAMILY_H_
#define HALYARD_BASE_QUANT_PACK_FAMILY_H_

#include <cstdint>

#include "base/quant/pack.h"

namespace halyard::quant {

// Blocks of 32.
void PackQ8_0(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void PackQ4_0(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void PackQ4_1(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void PackQ5_0(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void PackQ5_1(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void UnpackQ8_0(const uint8_t* block, BlockScales* scales, int8_t* codes);
void UnpackQ4_0(const uint8_t* block, BlockScales* scales, int8_t* codes);
void UnpackQ4_1(const uint8_t* block, BlockScales* scales, int8_t* codes);
void UnpackQ5_0(const uint8_t* block, BlockScales* scales, int8_t* codes);
void UnpackQ5_1(const uint8_t* block, BlockScales* scales, int8_t* codes);

// Blocks of 256 with sub-blocks.
void PackQ2_K(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void PackQ3_K(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void PackQ4_K(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void PackQ5_K(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void PackQ6_K(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void UnpackQ2_K(const uint8_t* block, BlockScales* scales, int8_t* codes);
void UnpackQ3_K(const uint8_t* block, BlockScales* scales, int8_t* codes);
void UnpackQ4_K(const uint8_t* block, BlockScales* scales, int8_t* codes);
void UnpackQ5_K(const uint8_t* block, BlockScales* scales, int8_t* codes);
void UnpackQ6_K(const uint8_t* block, BlockScales* scales, int8_t* codes);

// Groups of 128 with an f32 scale.
void PackW4A8(const BlockScales& scales, const int8_t* codes, uint8_t* block);
void UnpackW4A8(const uint8_t* block, BlockScales* scales, int8_t* codes);

}  // namespace halyard::quant

#endif  // HALYARD_BASE_QUANT_PACK_FAMILY_H_
