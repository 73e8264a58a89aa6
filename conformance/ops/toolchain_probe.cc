// SPDX-License-Identifier: Apache-2.0
//
// Each probe computes something in a plain loop, as kernels do, and again by single steps through
// volatile memory, which no optimiser may touch.
#include "conformance/ops/toolchain_probe.h"

#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif
#if defined(__ARM_FEATURE_SVE)
#include <arm_sve.h>
#endif

#define HALYARD_PROBE_CAT_(a, b) a##b
#define HALYARD_PROBE_CAT(a, b) HALYARD_PROBE_CAT_(a, b)
#define HALYARD_PROBE_NAME HALYARD_PROBE_CAT(halyard_toolchain_probe_, HALYARD_LEVEL)

namespace {

constexpr int kCount = 160;

struct Bytes {
  uint8_t unsigned_codes[kCount];
  int8_t signed_codes[kCount];
  int8_t other[kCount];
};

// Values that the optimiser cannot know.
void FillBytes(Bytes* bytes) {
  volatile uint32_t state = 12345;
  for (int i = 0; i < kCount; ++i) {
    state = state * 1664525u + 1013904223u;
    bytes->unsigned_codes[i] = (uint8_t)(state >> 24 & 31u);
    bytes->signed_codes[i] = (int8_t)(state >> 16);
    bytes->other[i] = (int8_t)(state >> 8);
  }
  bytes->signed_codes[0] = bytes->other[0] = -128;
  bytes->unsigned_codes[1] = 0;
}

int32_t MixedDot(const Bytes* bytes) {
  int32_t sum = 0;
  for (int i = 0; i < kCount; ++i) {
    const int8_t code = (int8_t)(bytes->unsigned_codes[i] - 16);
    sum += code * bytes->other[i];
  }
  return sum;
}

int32_t SignedDot(const Bytes* bytes) {
  int32_t sum = 0;
  for (int i = 0; i < kCount; ++i) sum += bytes->signed_codes[i] * bytes->other[i];
  return sum;
}

uint32_t ProbeDots() {
  Bytes bytes;
  FillBytes(&bytes);
  volatile int32_t mixed = 0;
  volatile int32_t plain = 0;
  for (int i = 0; i < kCount; ++i) {
    volatile int32_t code = (int32_t)bytes.unsigned_codes[i] - 16;
    volatile int32_t other = bytes.other[i];
    mixed = mixed + code * other;
    code = bytes.signed_codes[i];
    plain = plain + code * other;
  }
  return (MixedDot(&bytes) == mixed ? 0u : (uint32_t)HY_PROBE_MIXED_DOT) |
         (SignedDot(&bytes) == plain ? 0u : (uint32_t)HY_PROBE_SIGNED_DOT);
}

float FromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
uint32_t Bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// 8 at once, as a kernel's loop would have it.
uint32_t ProbeFloats() {
  volatile uint32_t one_bits = 0x3f800000u;
  float x[8];
  float y[8];
  float z[8];
  for (int i = 0; i < 8; ++i) {
    x[i] = FromBits(one_bits + 1);  // 1 + 2^-23
    y[i] = FromBits(one_bits + 1);
    z[i] = -FromBits(one_bits + 2);  // what x * y rounds to
  }
  uint32_t wrong = 0;
  for (int i = 0; i < 8; ++i) {
    if (Bits(x[i] * y[i] + z[i]) != 0) wrong |= HY_PROBE_CONTRACTION;
  }
  volatile uint32_t nan_bits = 0x7fc00000u;
  const float nan = FromBits(nan_bits);
  if (nan == nan || nan <= 1.0f || !(nan != nan)) wrong |= HY_PROBE_NAN;
  volatile uint32_t inf_bits = 0x7f800000u;
  const float inf = FromBits(inf_bits);
  const float none = inf - inf;
  if (none == 0.0f || !(inf > 3e38f)) wrong |= HY_PROBE_INFINITY;
  volatile uint32_t large_bits = 0x4cbebc20u;  // 1e8
  const float large = FromBits(large_bits);
  const float one = FromBits(one_bits);
  if (Bits((large + one) - large) != 0) wrong |= HY_PROBE_ASSOCIATION;
  volatile uint32_t tiny_bits = 0x00012345u;
  if (Bits(FromBits(tiny_bits) * one) == 0) wrong |= HY_PROBE_FLUSH;
  return wrong;
}

#if defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)
uint32_t ProbeUsdot() {
  volatile uint8_t high = 200;
  volatile int8_t low = -3;
  const int32x4_t sum = vusdotq_s32(vdupq_n_s32(0), vdupq_n_u8(high), vdupq_n_s8(low));
  return vgetq_lane_s32(sum, 0) == 4 * 200 * -3 ? 0u : (uint32_t)HY_PROBE_USDOT;
}
#else
uint32_t ProbeUsdot() { return 0; }
#endif

#if defined(__ARM_FEATURE_SVE)
uint32_t ProbeSveLaneDot() {
  // Lane 1 of each 128-bit segment multiplies that segment's bytes.
  int8_t a[256];
  int8_t b[256];
  int32_t got[64];
  volatile uint32_t state = 99;
  for (int i = 0; i < 256; ++i) {
    state = state * 1664525u + 1013904223u;
    a[i] = (int8_t)(state >> 24);
    b[i] = (int8_t)(state >> 16);
  }
  const svbool_t all = svptrue_b8();
  const svint32_t sum = svdot_lane_s32(svdup_n_s32(0), svld1_s8(all, a), svld1_s8(all, b), 1);
  svst1_s32(svptrue_b32(), got, sum);
  for (uint64_t i = 0; i < svcntw(); ++i) {
    volatile int32_t want = 0;
    for (uint64_t j = 0; j < 4; ++j) want = want + a[4 * i + j] * b[i / 4 * 16 + 4 + j];
    if (got[i] != want) return HY_PROBE_SVE_LANE_DOT;
  }
  return 0;
}
#else
uint32_t ProbeSveLaneDot() { return 0; }
#endif

}  // namespace

extern "C" uint32_t HALYARD_PROBE_NAME(void);
extern "C" uint32_t HALYARD_PROBE_NAME(void) {
  return ProbeDots() | ProbeFloats() | ProbeUsdot() | ProbeSveLaneDot();
}
