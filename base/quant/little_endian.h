// SPDX-License-Identifier: Apache-2.0
//
// Fields of weight formats: little-endian at any address, on every host.
#ifndef HALYARD_BASE_QUANT_LITTLE_ENDIAN_H_
#define HALYARD_BASE_QUANT_LITTLE_ENDIAN_H_

#include <cstdint>

#include "base/half.h"

namespace halyard::quant {

inline uint16_t LoadLe16(const uint8_t* at) { return static_cast<uint16_t>(at[0] | at[1] << 8); }
inline uint32_t LoadLe32(const uint8_t* at) {
  return LoadLe16(at) | static_cast<uint32_t>(LoadLe16(at + 2)) << 16;
}
inline void StoreLe16(uint16_t value, uint8_t* at) {
  at[0] = static_cast<uint8_t>(value);
  at[1] = static_cast<uint8_t>(value >> 8);
}
inline void StoreLe32(uint32_t value, uint8_t* at) {
  StoreLe16(static_cast<uint16_t>(value), at);
  StoreLe16(static_cast<uint16_t>(value >> 16), at + 2);
}

inline float LoadHalf(const uint8_t* at) { return HalfToFloat(LoadLe16(at)); }
inline void StoreHalf(float value, uint8_t* at) { StoreLe16(FloatToHalf(value), at); }
inline float LoadFloat(const uint8_t* at) { return FloatFromBits(LoadLe32(at)); }
inline void StoreFloat(float value, uint8_t* at) { StoreLe32(FloatBits(value), at); }

}  // namespace halyard::quant

#endif  // HALYARD_BASE_QUANT_LITTLE_ENDIAN_H_
