// SPDX-License-Identifier: Apache-2.0
//
// int8 by vpdpbusd, 64 products an instruction; f32 by fma. Sixteen chains hide the latency.
#include <immintrin.h>

#include "facts/peak/peak.h"

namespace {

constexpr int kChains = 16;

uint64_t Int8(uint64_t rounds) {
  __m512i sum[kChains];
  const __m512i a = _mm512_set1_epi8(3);
  const __m512i b = _mm512_set1_epi8(1);
  for (int i = 0; i < kChains; ++i) sum[i] = _mm512_set1_epi32(i);
  for (uint64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < kChains; ++i) sum[i] = _mm512_dpbusd_epi32(sum[i], a, b);
  }
  for (int i = 1; i < kChains; ++i) sum[0] = _mm512_add_epi32(sum[0], sum[i]);
  alignas(64) int32_t lane[16];
  _mm512_store_si512(lane, sum[0]);
  return static_cast<uint64_t>(lane[0]);
}

uint64_t F32(uint64_t rounds) {
  __m512 sum[kChains];
  const __m512 a = _mm512_set1_ps(0.5f);
  const __m512 b = _mm512_set1_ps(1.0f);
  for (int i = 0; i < kChains; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
  for (uint64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < kChains; ++i) sum[i] = _mm512_fmadd_ps(sum[i], a, b);
  }
  for (int i = 1; i < kChains; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  alignas(64) float lane[16];
  _mm512_store_ps(lane, sum[0]);
  return static_cast<uint64_t>(lane[0]);
}

}  // namespace

const hy_peak_table hy_peak_x86_avx512vnni = {{&Int8, 2 * 64 * kChains}, {&F32, 2 * 16 * kChains}};
