/* SPDX-License-Identifier: Apache-2.0
 *
 * The f32 loop of all arm64 levels, and the frame of the int8 one: sixteen independent chains. */
#ifndef HALYARD_FACTS_PEAK_ARM64_BODY_H_
#define HALYARD_FACTS_PEAK_ARM64_BODY_H_

#include <arm_neon.h>

#include "facts/peak/peak.h"

enum { kChains = 16 };

static uint64_t F32(uint64_t rounds) {
  float32x4_t sum[kChains];
  const float32x4_t a = vdupq_n_f32(0.5f);
  const float32x4_t b = vdupq_n_f32(1.0f);
  for (int i = 0; i < kChains; ++i) sum[i] = vdupq_n_f32((float)i);
  for (uint64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < kChains; ++i) sum[i] = vfmaq_f32(b, sum[i], a);
  }
  for (int i = 1; i < kChains; ++i) sum[0] = vaddq_f32(sum[0], sum[i]);
  return (uint64_t)vgetq_lane_f32(sum[0], 0);
}

#define HALYARD_INT8_LOOP(DOT)                                            \
  static uint64_t Int8(uint64_t rounds) {                                 \
    int32x4_t sum[kChains];                                               \
    const int8x16_t a = vdupq_n_s8(3);                                    \
    const int8x16_t b = vdupq_n_s8(1);                                    \
    for (int i = 0; i < kChains; ++i) sum[i] = vdupq_n_s32(i);            \
    for (uint64_t round = 0; round < rounds; ++round) {                   \
      for (int i = 0; i < kChains; ++i) sum[i] = DOT(sum[i], a, b);       \
    }                                                                     \
    for (int i = 1; i < kChains; ++i) sum[0] = vaddq_s32(sum[0], sum[i]); \
    return (uint64_t)vgetq_lane_s32(sum[0], 0);                           \
  }

#endif /* HALYARD_FACTS_PEAK_ARM64_BODY_H_ */
