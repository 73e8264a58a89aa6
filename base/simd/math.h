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

/// `x` within -limit..limit; NaN stays NaN. By integers, because a compiler makes branches of
/// floating-point comparisons, then follows each path through all that comes after.
static inline float hyk_limit(float x, float limit) {
  const uint32_t bits = hyk_bits(x);
  const int32_t size = (int32_t)(bits & 0x7fffffffu);
  const int32_t most = (int32_t)hyk_bits(limit);
  const int32_t least = size < most ? size : most;
  const uint32_t nan = (uint32_t)((0x7f800000 - size) >> 31) & 0x7fc00000u;
  return hyk_from_bits((bits & 0x80000000u) | (uint32_t)least | nan);
}

/// All ones if the sign bit of x is set, else 0.
static inline uint32_t hyk_sign_mask(float x) { return (uint32_t)((int32_t)hyk_bits(x) >> 31); }

/// `a` where the mask is all ones, `b` where it is 0.
static inline float hyk_select(uint32_t mask, float a, float b) {
  return hyk_from_bits((hyk_bits(a) & mask) | (hyk_bits(b) & ~mask));
}

/// e^x in parts, m * low * high: m within [0.7, 1.5], low and high powers of two. Multiplying by both
/// in turn rounds a subnormal result once, and passes over no overflow that the result has not.
typedef struct hyk_exp_parts {
  float m;
  float low;
  float high;
} hyk_exp_parts;

/// Parts of e^(x + tail) for x within -150..150 and a tail within -0.03..0.03.
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
  const hyk_exp_parts parts = hyk_exp_split(hyk_limit(x, 104.0f), 0.0f);
  return parts.m * parts.low * parts.high;
}

/// x / (1 + e^-t), where t is within -120..120 and has the sign of x. For negative t it is `least`
/// in the place of x: the same, bounded where the result is 0 anyway. That falls like x e^t, so
/// nothing is lost where e^t alone would be subnormal.
static inline float hyk_times_sigmoid(float x, float least, float t) {
  const uint32_t falls = hyk_sign_mask(t);
  const hyk_exp_parts parts = hyk_exp_split(hyk_from_bits(hyk_bits(t) | 0x80000000u), 0.0f);
  const float denominator = 1.0f + parts.m * parts.low * parts.high;
  const float ratio = hyk_select(falls, least * parts.m, x) / denominator;
  return ratio * hyk_select(falls, parts.low, 1.0f) * hyk_select(falls, parts.high, 1.0f);
}

/// x / (1 + e^-x).
static inline float hyk_silu(float x) {
  const float t = hyk_limit(x, 120.0f);
  return hyk_times_sigmoid(x, t, t);
}

/// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, which is x sigmoid of twice the argument.
/// Source: Hendrycks & Gimpel 2016, the tanh form.
static inline float hyk_gelu_tanh(float x) {
  const float least = hyk_limit(x, 20.0f);
  const float t = least * (1.5957691216f + 0.0713548162726f * (least * least));
  return hyk_times_sigmoid(x, least, hyk_limit(t, 120.0f));
}

/// x Phi(x), Phi the normal distribution. For z >= 0, Phi(-z) = 1/2 - z P(z^2) near 0, and from 1 on
/// e^(-z^2/2) R(1 / (1 + z/3)); both polynomials are our own minimax fits, relative 1.1e-8 for z up to
/// 15, where e^(-z^2/2) is long 0.
static inline float hyk_gelu_erf(float x) {
  const float least = hyk_limit(x, 15.0f);
  const float z = hyk_from_bits(hyk_bits(least) & 0x7fffffffu);
  const uint32_t is_near = hyk_sign_mask(z - 1.0f);
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
  const float low = hyk_select(is_near, 1.0f, parts.low);
  const float high = hyk_select(is_near, 1.0f, parts.high);
  const float phi = hyk_select(is_near, 0.5f - z * p, r * parts.m);  // times low * high, Phi(-z)
  const float falling = least * phi * low * high;
  return hyk_select(hyk_sign_mask(x), falling, x * (1.0f - phi * low * high));
}

/// Hyperbolic tangent within 2 ulp.
/// Source: the polynomial of Cephes' tanhf, below 0.625.
static inline float hyk_tanh(float x) {
  const uint32_t sign = hyk_bits(x) & 0x80000000u;
  const float size = hyk_from_bits(hyk_bits(hyk_limit(x, 10.0f)) & 0x7fffffffu);
  const float z = size * size;
  float p = 2.06390887954e-2f - z * 5.70498872745e-3f;
  p = 1.33314422036e-1f - z * (5.37397155531e-2f - z * p);
  const float near = size - size * (z * (3.33332819422e-1f - z * p));
  const hyk_exp_parts parts = hyk_exp_split(size + size, 0.0f);
  const float far = 1.0f - 2.0f / (1.0f + parts.m * parts.low * parts.high);
  const uint32_t small = hyk_sign_mask(size - 0.625f);
  return hyk_from_bits(sign | hyk_bits(hyk_select(small, near, far)));
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
