// SPDX-License-Identifier: Apache-2.0
//
// w4a8_g128: an f32 scale and 64 bytes of nibbles for 128 elements, in four runs of 16 bytes; byte j
// of run r holds element 32 r + j in its low half and 32 r + j + 16 in its high one. 8 is added to
// codes.
#include "base/quant/little_endian.h"
#include "base/quant/pack_family.h"

namespace halyard::quant {

void PackW4A8(const BlockScales& scales, const int8_t* codes, uint8_t* block) {
  StoreFloat(scales.scale, block);
  for (int byte = 0; byte < 64; ++byte) {
    const int8_t* at = codes + byte / 16 * 32 + byte % 16;
    const int low = (at[0] + 8) & 15;
    const int high = (at[16] + 8) & 15;
    block[4 + byte] = static_cast<uint8_t>(low | high << 4);
  }
}

void UnpackW4A8(const uint8_t* block, BlockScales* scales, int8_t* codes) {
  scales->scale = LoadFloat(block);
  for (int byte = 0; byte < 64; ++byte) {
    int8_t* at = codes + byte / 16 * 32 + byte % 16;
    at[0] = static_cast<int8_t>((block[4 + byte] & 15) - 8);
    at[16] = static_cast<int8_t>((block[4 + byte] >> 4) - 8);
  }
}

}  // namespace halyard::quant
