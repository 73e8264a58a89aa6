// SPDX-License-Identifier: Apache-2.0
//
// int8 by maddubs, madd and add, 32 products in three instructions: the way of every exact int8
// kernel at this level. f32 by ten independent chains of fma.
#include <immintrin.h>

#include "facts/peak/peak.h"

namespace {

constexpr int kInt8Chains = 6;
constexpr int kF32Chains = 10;

uint64_t Int8(uint64_t rounds) {
  __m256i sum[kInt8Chains];
  __m256i a[kInt8Chains];
  const __m256i b = _mm256_set1_epi8(3);
  const __m256i ones = _mm256_set1_epi16(1);
  for (int i = 0; i < kInt8Chains; ++i) {
    sum[i] = _mm256_setzero_si256();
    a[i] = _mm256_set1_epi8(static_cast<char>(i));
  }
  for (uint64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < kInt8Chains; ++i) {
      __asm__ volatile("" : "+x"(a[i]));  // another value, for all the compiler knows
      const __m256i pairs = _mm256_maddubs_epi16(a[i], b);
      sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(pairs, ones));
    }
  }
  for (int i = 1; i < kInt8Chains; ++i) sum[0] = _mm256_add_epi32(sum[0], sum[i]);
  return static_cast<uint64_t>(_mm256_extract_epi32(sum[0], 0));
}

uint64_t F32(uint64_t rounds) {
  __m256 sum[kF32Chains];
  const __m256 a = _mm256_set1_ps(0.5f);
  const __m256 b = _mm256_set1_ps(1.0f);
  for (int i = 0; i < kF32Chains; ++i) sum[i] = _mm256_set1_ps(static_cast<float>(i));
  for (uint64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < kF32Chains; ++i) sum[i] = _mm256_fmadd_ps(sum[i], a, b);
  }
  for (int i = 1; i < kF32Chains; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return static_cast<uint64_t>(_mm256_cvtss_f32(sum[0]));
}

}  // namespace

const hy_peak_table hy_peak_x86_avx2 = {{&Int8, 2 * 32 * kInt8Chains}, {&F32, 2 * 8 * kF32Chains}};
