// SPDX-License-Identifier: Apache-2.0
//
// AVX2 with F16C: up to 3 queries of a group share each conversion of 8 elements. Registers: 3 x 4
// sums, 3 queries or weights, one key or value: all 16.
#include <immintrin.h>

#include "base/simd/q8_0.h"
#include "ops/attention/microkernel.h"
#include "ops/kernel_table.h"

namespace {

struct Avx2 {
  using Vec = __m256;
  struct Aux {
    __m256 scale;
  };
  static constexpr int kWidth = 8;
  static constexpr int kRows = 3;
  static constexpr int kSumRows = 3;

  static void Clear(Vec& out) { out = _mm256_setzero_ps(); }
  static void Load(const float* at, Vec& out) { out = _mm256_loadu_ps(at); }
  static void Store(const Vec& v, float* at) { _mm256_storeu_ps(at, v); }
  static void Splat(float x, Vec& out) { out = _mm256_set1_ps(x); }
  static void MulAdd(Vec& acc, const Vec& a, const Vec& b) { acc = _mm256_fmadd_ps(a, b, acc); }

  static void Sum4(const Vec* v, float* out) {
    const __m256 low = _mm256_hadd_ps(v[0], v[1]);
    const __m256 high = _mm256_hadd_ps(v[2], v[3]);
    const __m256 pairs = _mm256_hadd_ps(low, high);
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));
  }

  template <uint32_t kType>
  static void Prepare(const void* row, int64_t d, Aux& aux) {
    if constexpr (kType == HY_TYPE_Q8_0) {
      const uint8_t* block = static_cast<const uint8_t*>(row) + BytesTo<kType>(d);
      uint16_t half;
      memcpy(&half, block, sizeof half);
      aux.scale = _mm256_cvtph_ps(_mm_set1_epi16((int16_t)half));
    }
  }

  template <uint32_t kType>
  static void Read(const void* row, int64_t d, const Aux& aux, Vec& out) {
    if constexpr (kType == HY_TYPE_F32) {
      out = _mm256_loadu_ps(static_cast<const float*>(row) + d);
    } else if constexpr (kType == HY_TYPE_F16) {
      const uint16_t* at = static_cast<const uint16_t*>(row) + d;
      out = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    } else if constexpr (kType == HY_TYPE_BF16) {
      const uint16_t* at = static_cast<const uint16_t*>(row) + d;
      const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      out = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
    } else {
      const uint8_t* at = static_cast<const uint8_t*>(row) + BytesTo<kType>(d) + 2 + d % kSpan;
      const __m128i codes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
      out = _mm256_mul_ps(aux.scale, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes)));
    }
  }
};

using Unit = UnitOf<Avx2>;

const hy_kernel_desc kAvx2 = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ATTENTION_VERSION,
    .id = "attention/any/x86_avx2@halyard",
    .op = "attention",
    .types = {},
    .isa = HALYARD_LEVEL_ISA,
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F32,
    .priority = HY_PRIORITY_ISA + HALYARD_LEVEL_RANK,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 2,
    .param_count = 0,
    .flags = HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = AttentionScratch<Unit>,
    .run = RunAttention<Unit>,
};

}  // namespace

HALYARD_KERNELS(&kAvx2)
