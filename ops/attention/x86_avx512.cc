// SPDX-License-Identifier: Apache-2.0
//
// AVX-512: up to 4 queries of a group share each conversion of 16 elements. Registers: 4 x 4 sums, 4
// queries, one key; 6 x 2 sums, 6 weights, one value.
#include "base/simd/avx512.h"
#include "base/simd/q8_0.h"
#include "ops/attention/microkernel.h"
#include "ops/kernel_table.h"

namespace {

struct Avx512 {
  using Vec = __m512;
  struct Aux {
    __m512 scale;
  };
  static constexpr int kWidth = 16;
  static constexpr int kRows = 4;
  static constexpr int kSumRows = 6;

  static void Clear(Vec& out) { out = _mm512_setzero_ps(); }
  static void Load(const float* at, Vec& out) { out = _mm512_loadu_ps(at); }
  static void Store(const Vec& v, float* at) { _mm512_storeu_ps(at, v); }
  static void Splat(float x, Vec& out) { out = _mm512_set1_ps(x); }
  static void MulAdd(Vec& acc, const Vec& a, const Vec& b) { acc = _mm512_fmadd_ps(a, b, acc); }

  static void Sum4(const Vec* v, float* out) {
    __m256 half[4];
    for (int i = 0; i < 4; ++i) {
      half[i] = _mm256_add_ps(hyk512_half(v[i], 0), hyk512_half(v[i], 1));
    }
    const __m256 low = _mm256_hadd_ps(half[0], half[1]);
    const __m256 high = _mm256_hadd_ps(half[2], half[3]);
    const __m256 pairs = _mm256_hadd_ps(low, high);
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));
  }

  template <uint32_t kType>
  static void Prepare(const void* row, int64_t d, Aux& aux) {
    if constexpr (kType == HY_TYPE_Q8_0) {
      aux.scale =
          _mm512_set1_ps(hyk_load_q8_0_scale(static_cast<const uint8_t*>(row) + BytesTo<kType>(d)));
    }
  }

  template <uint32_t kType>
  static void Read(const void* row, int64_t d, const Aux& aux, Vec& out) {
    if constexpr (kType == HY_TYPE_F32) {
      out = _mm512_loadu_ps(static_cast<const float*>(row) + d);
    } else if constexpr (kType == HY_TYPE_F16) {
      out = hyk512_cvtph_ps(Halves(row, d));
    } else if constexpr (kType == HY_TYPE_BF16) {
      out = _mm512_castsi512_ps(hyk512_slli_epi32(hyk512_cvtepu16_epi32(Halves(row, d)), 16));
    } else {
      const uint8_t* at = static_cast<const uint8_t*>(row) + BytesTo<kType>(d) + 2 + d % kSpan;
      const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      out = _mm512_mul_ps(aux.scale, hyk512_cvtepi32_ps(hyk512_cvtepi8_epi32(codes)));
    }
  }

  static __m256i Halves(const void* row, int64_t d) {
    const uint16_t* at = static_cast<const uint16_t*>(row) + d;
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  }
};

using Unit = UnitOf<Avx512>;

const hy_kernel_desc kAvx512 = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ATTENTION_VERSION,
    .id = "attention/any/" HALYARD_LEVEL_NAME "@halyard",
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

HALYARD_KERNELS(&kAvx512)
