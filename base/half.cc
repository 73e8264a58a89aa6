// SPDX-License-Identifier: Apache-2.0
#include "base/half.h"

namespace halyard {
namespace {

struct FloatForm {
  int mantissa_bits;
  int bias;
};
constexpr FloatForm kBinary16 = {10, 15};
constexpr FloatForm kBfloat16 = {7, 127};
constexpr FloatForm kBinary32 = {23, 127};
constexpr FloatForm kBinary64 = {52, 1023};

constexpr uint64_t InfinityOf(FloatForm form) {
  return static_cast<uint64_t>(2 * form.bias + 1) << form.mantissa_bits;
}

// value / 2^shift, to nearest even.
uint64_t RoundShift(uint64_t value, int shift) {
  if (shift == 0) return value;
  if (shift > 63) return 0;
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t odd = value >> shift & 1;
  return (value + half - 1 + odd) >> shift;
}

// Bits of `body`, a number without its sign, in a narrower form of 16 bits.
uint16_t Narrow(uint64_t body, FloatForm from, FloatForm to) {
  const int dropped = from.mantissa_bits - to.mantissa_bits;
  if (body >= InfinityOf(from)) {
    if (body == InfinityOf(from)) return static_cast<uint16_t>(InfinityOf(to));
    const uint64_t payload_mask = (uint64_t{1} << to.mantissa_bits) - 1;
    const uint64_t quiet = uint64_t{1} << (to.mantissa_bits - 1);
    return static_cast<uint16_t>(InfinityOf(to) | quiet | (body >> dropped & payload_mask));
  }
  const uint64_t implicit = uint64_t{1} << from.mantissa_bits;
  int exponent = static_cast<int>(body >> from.mantissa_bits);
  uint64_t mantissa = body & (implicit - 1);
  if (exponent == 0) {
    exponent = 1;
  } else {
    mantissa |= implicit;
  }
  exponent += to.bias - from.bias;
  int shift = dropped;
  if (exponent < 1) {
    shift += 1 - exponent;
    exponent = 1;
  }
  // The implicit bit of the mantissa adds the last one to the exponent, and a carry moves it on.
  const uint64_t bits = (static_cast<uint64_t>(exponent - 1) << to.mantissa_bits) +
                        (shift > from.mantissa_bits + 1 ? 0 : RoundShift(mantissa, shift));
  return static_cast<uint16_t>(bits < InfinityOf(to) ? bits : InfinityOf(to));
}

uint16_t NarrowFloat(float value, FloatForm to) {
  const uint32_t bits = FloatBits(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  return static_cast<uint16_t>(sign | Narrow(bits & 0x7fffffffu, kBinary32, to));
}

uint16_t NarrowDouble(double value, FloatForm to) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint64_t sign = bits >> 48 & 0x8000u;
  return static_cast<uint16_t>(sign | Narrow(bits & ~(uint64_t{1} << 63), kBinary64, to));
}

}  // namespace

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = bits >> 10 & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return FloatFromBits(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return FloatFromBits(sign | (exponent + 112u) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return FloatFromBits(sign | FloatBits(magnitude));
}

uint16_t FloatToBf16(float value) { return NarrowFloat(value, kBfloat16); }
uint16_t FloatToHalf(float value) { return NarrowFloat(value, kBinary16); }
uint16_t DoubleToBf16(double value) { return NarrowDouble(value, kBfloat16); }
uint16_t DoubleToHalf(double value) { return NarrowDouble(value, kBinary16); }

}  // namespace halyard
