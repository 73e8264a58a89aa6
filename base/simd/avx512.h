// SPDX-License-Identifier: Apache-2.0
//
// AVX-512 intrinsics for kernel sources. With HALYARD_SIMDE they are plain code by the SIMDe library,
// for machines that lack AVX-512 to prove a source on; hyk512_* are those that either lacks.
#ifndef HALYARD_BASE_SIMD_AVX512_H_
#define HALYARD_BASE_SIMD_AVX512_H_

#ifdef HALYARD_SIMDE
#include "base/simd/simde_avx512.h"

static inline simde__m256 hyk512_half(simde__m512 a, int half) {
  return simde__m512_to_private(a).m256[half];
}
static inline simde__m512i hyk512_cvtepu16_epi32(simde__m256i a) {
  simde__m256i_private from = simde__m256i_to_private(a);
  simde__m512i_private to;
  for (int i = 0; i < 2; ++i) to.m256i[i] = simde_mm256_cvtepu16_epi32(from.m128i[i]);
  return simde__m512i_from_private(to);
}
#else
#include <immintrin.h>
// GCC 12 warns of a value that the plain forms leave undefined on purpose; a mask of all lanes becomes
// no mask.
#define hyk512_slli_epi32(a, bits) _mm512_maskz_slli_epi32(0xffff, a, bits)
#define hyk512_cvtepi32_ps(a) _mm512_maskz_cvtepi32_ps(0xffff, a)
#define hyk512_cvtph_ps(a) _mm512_maskz_cvtph_ps(0xffff, a)
#define hyk512_cvtepi8_epi32(a) _mm512_maskz_cvtepi8_epi32(0xffff, a)
#define hyk512_cvtepu16_epi32(a) _mm512_maskz_cvtepu16_epi32(0xffff, a)
#define hyk512_half(a, half) _mm512_maskz_extractf32x8_ps(0xff, a, half)
#endif

#endif  // HALYARD_BASE_SIMD_AVX512_H_
