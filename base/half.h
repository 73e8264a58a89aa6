// SPDX-License-Identifier: Apache-2.0
//
// binary16 and bfloat16, bit for bit the same on every target, whatever its hardware has: rounding to
// nearest even, subnormals kept, NaN stays NaN (quiet, top of its payload kept).
#ifndef HALYARD_BASE_HALF_H_
#define HALYARD_BASE_HALF_H_

#include <cstdint>
#include <cstring>

namespace halyard {

inline uint32_t FloatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float FloatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float Bf16ToFloat(uint16_t bits) { return FloatFromBits(uint32_t{bits} << 16); }
float HalfToFloat(uint16_t bits);

/// Each rounds once from the type named.
uint16_t FloatToBf16(float value);
uint16_t FloatToHalf(float value);
uint16_t DoubleToBf16(double value);
uint16_t DoubleToHalf(double value);

}  // namespace halyard

#endif  // HALYARD_BASE_HALF_H_
