// SPDX-License-Identifier: Apache-2.0
//
// AVX-512 intrinsics as plain code, by SIMDe; those that its release in Debian 12 lacks, from halves.
#ifndef HALYARD_BASE_SIMD_SIMDE_AVX512_H_
#define HALYARD_BASE_SIMD_SIMDE_AVX512_H_

#define SIMDE_ENABLE_NATIVE_ALIASES
// Its inline functions are of this object alone, as all functions of kernel objects.
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>

static inline simde__m512i hyk512_slli_epi32(simde__m512i a, unsigned bits) {
  return simde_mm512_slli_epi32(a, bits);
}
static inline simde__m512 hyk512_cvtepi32_ps(simde__m512i a) {
  simde__m512i_private from = simde__m512i_to_private(a);
  simde__m512_private to;
  for (int i = 0; i < 2; ++i) to.m256[i] = simde_mm256_cvtepi32_ps(from.m256i[i]);
  return simde__m512_from_private(to);
}
static inline simde__m512i hyk512_cvttps_epi32(simde__m512 a) {
  simde__m512_private from = simde__m512_to_private(a);
  simde__m512i_private to;
  for (int i = 0; i < 2; ++i) to.m256i[i] = simde_mm256_cvttps_epi32(from.m256[i]);
  return simde__m512i_from_private(to);
}
static inline simde__m512 hyk512_cvtph_ps(simde__m256i a) {
  simde__m256i_private from = simde__m256i_to_private(a);
  simde__m512_private to;
  for (int i = 0; i < 2; ++i) to.m256[i] = simde_mm256_cvtph_ps(from.m128i[i]);
  return simde__m512_from_private(to);
}
static inline simde__m512i hyk512_cvtepu8_epi32(simde__m128i a) {
  simde__m512i_private to;
  to.m256i[0] = simde_mm256_cvtepu8_epi32(a);
  to.m256i[1] = simde_mm256_cvtepu8_epi32(simde_mm_srli_si128(a, 8));
  return simde__m512i_from_private(to);
}
static inline simde__m512i hyk512_cvtepi8_epi32(simde__m128i a) {
  simde__m512i_private to;
  to.m256i[0] = simde_mm256_cvtepi8_epi32(a);
  to.m256i[1] = simde_mm256_cvtepi8_epi32(simde_mm_srli_si128(a, 8));
  return simde__m512i_from_private(to);
}

#endif  // HALYARD_BASE_SIMD_SIMDE_AVX512_H_
