// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions for kernel sources, in plain float code that compilers turn into vector code:
// no branch, no table, no contraction, so the same bits at every ISA level. Whole range each: NaN
// stays NaN, infinities give the limit, subnormal results are rounded once. Measured bounds are in
// math_test.cc. C11 and C++20; no STL.
#ifndef HALYARD_BASE_SIMD_MATH_H_
#define HALYARD_BASE_SIMD_MATH_H_

#include <stdint.h>

#include "base/simd/scalar.h"

/// e^x in parts, m * low * high: m within [0.7, 1.5], low and high powers of two. Multiplying by both
/// in turn rounds a subnormal result once, and passes over no overflow that the result has not.
typedef struct hyk_exp_parts {
  float m;
  float low;
  float high;
} hyk_exp_parts;

/// Parts of e^(x + tail) for x within -150..89 and a tail within -0.03..0.03.
/// Source: Cody and Waite's two-part ln 2; the polynomial is our own minimax fit, relative 3.3e-9.
static inline hyk_exp_parts hyk_exp_split(float x, float tail) {
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, in the low bits
  const float shifted = x * 1.44269504f + magic;
  const float n = shifted - magic;
  // n * 0x1.62e4p-1 is exact for the n that occur.
  const float r = (x - n * 0x1.62e4p-1f) - n * 1.42860682e-6f + tail;
  const float q =
      0.49999993f +
      r * (0.166665148f + r * (0.0416684570f + r * (0.00836941968f + r * 0.00138131357f)));
  const int32_t power = (int32_t)(hyk_bits(shifted) - 0x4b400000u);
  const int32_t half = power >> 1;
  hyk_exp_parts parts;
  parts.m = 1.0f + (r + r * r * q);
  parts.low = hyk_from_bits((uint32_t)(half + 127) << 23);
  parts.high = hyk_from_bits((uint32_t)(power - half + 127) << 23);
  return parts;
}

/// e^x within 1 ulp.
static inline float hyk_exp(float x) {
  const float above = x < -104.0f ? -104.0f : x;
  const float within = above > 89.0f ? 89.0f : above;
  const hyk_exp_parts parts = hyk_exp_split(within, 0.0f);
  return parts.m * parts.low * parts.high;
}

/// x / (1 + e^-t), where t has the sign of x. As t falls to -inf the result falls to 0 like x e^t, x
/// being bounded by the caller, so nothing is lost where e^t alone would be subnormal.
static inline float hyk_times_sigmoid(float x, float t) {
  const float negative = t < 0.0f ? t : -t;
  const float within = negative < -120.0f ? -120.0f : negative;
  const hyk_exp_parts parts = hyk_exp_split(within, 0.0f);
  const float denominator = 1.0f + parts.m * parts.low * parts.high;
  const float falling = x * parts.m / denominator * parts.low * parts.high;
  return t < 0.0f ? falling : x / denominator;
}

/// x / (1 + e^-x).
static inline float hyk_silu(float x) {
  const float above = x < -120.0f ? -120.0f : x;
  return hyk_times_sigmoid(above, above);
}

/// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, which is x sigmoid of twice the argument.
/// Source: Hendrycks & Gimpel 2016, the tanh form.
static inline float hyk_gelu_tanh(float x) {
  const float above = x < -20.0f ? -20.0f : x;
  const float t = above * (1.5957691216f + 0.0713548162726f * (above * above));
  return hyk_times_sigmoid(above, t);
}

/// x Phi(x), Phi the normal distribution. For z >= 0, Phi(-z) = 1/2 - z P(z^2) near 0, and from 1 on
/// e^(-z^2/2) R(1 / (1 + z/3)); both polynomials are our own minimax fits, relative 1.1e-8 for z up to
/// 15, where e^(-z^2/2) is long 0.
static inline float hyk_gelu_erf(float x) {
  const float above = x < -15.0f ? -15.0f : x;
  const float size = above < 0.0f ? -above : above;
  const float z = size > 15.0f ? 15.0f : size;
  const float s = z * z;
  float p = 1.12952159e-4f - s * 7.46288974e-6f;
  p = 9.97307837e-3f - s * (1.18578497e-3f - s * p);
  p = 0.398942278f - s * (0.0664903144f - s * p);
  const float t = 1.0f / (1.0f + z * 0.333333333f);
  float r = 0.0891719702f + t * (t * 0.0423610531f - 0.128670315f);
  r = 0.117771689f + t * (0.0949484523f + t * (0.0185774396f + t * r));
  r = t * (0.132997414f + t * (0.132905363f + t * r)) - 9.30456567e-7f;
  // The square in two parts: that of the upper bits exactly, the rest as the tail.
  const float coarse = hyk_from_bits(hyk_bits(z) & 0xfffff000u);
  const float rest = -0.5f * ((z - coarse) * (z + coarse));
  const hyk_exp_parts parts = hyk_exp_split(-0.5f * (coarse * coarse), rest);
  const float near = 0.5f - z * p;
  const float far = r * parts.m;
  const float low = z < 1.0f ? 1.0f : parts.low;
  const float high = z < 1.0f ? 1.0f : parts.high;
  const float phi = z < 1.0f ? near : far;  // times low * high, Phi(-z)
  return above < 0.0f ? above * phi * low * high : x * (1.0f - phi * low * high);
}

/// Natural logarithm within 1 ulp, for scalars. 0 gives -inf, negative numbers NaN.
/// Source: the polynomial of Cephes' logf.
static inline float hyk_log(float x) {
  const float scaled = x < 0x1p-126f ? x * 0x1p23f : x;
  const uint32_t bits = hyk_bits(scaled);
  // The exponent that leaves the rest within sqrt(1/2)..sqrt(2).
  const int32_t power = (int32_t)(bits - 0x3f3504f3u) >> 23;
  const float f = hyk_from_bits(bits - ((uint32_t)power << 23)) - 1.0f;
  const float e = (float)power - (x < 0x1p-126f ? 23.0f : 0.0f);
  const float z = f * f;
  float y = 7.0376836292e-2f;
  y = y * f - 1.1514610310e-1f;
  y = y * f + 1.1676998740e-1f;
  y = y * f - 1.2420140846e-1f;
  y = y * f + 1.4249322787e-1f;
  y = y * f - 1.6668057665e-1f;
  y = y * f + 2.0000714765e-1f;
  y = y * f - 2.4999993993e-1f;
  y = y * f + 3.3333331174e-1f;
  y = y * f * z + e * -2.12194440e-4f - 0.5f * z;
  if (x == 0.0f) return hyk_from_bits(0xff800000u);
  if (!(x > 0.0f)) return hyk_from_bits(0x7fc00000u);
  return bits >= 0x7f800000u ? x : f + y + e * 0.693359375f;
}

#endif  // HALYARD_BASE_SIMD_MATH_H_
