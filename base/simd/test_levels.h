// SPDX-License-Identifier: Apache-2.0
//
// The functions of test_a8_level.cc at each ISA level that this processor runs.
#ifndef HALYARD_BASE_SIMD_TEST_LEVELS_H_
#define HALYARD_BASE_SIMD_TEST_LEVELS_H_

#include <vector>

#include "base/cpu_features.h"
#include "base/simd/a8.h"

#define HALYARD_DECLARE_LEVEL(level)                                                             \
  extern "C" void halyard_test_a8_##level(uint32_t, int, const hyk_a8_source*, void*);           \
  extern "C" void halyard_test_convert_##level(uint32_t, const void*, uint32_t, void*, int64_t); \
  extern "C" void halyard_test_values_##level(uint32_t, const void*, int64_t, float*);
HALYARD_DECLARE_LEVEL(base)
HALYARD_DECLARE_LEVEL(x86_avx2)
HALYARD_DECLARE_LEVEL(x86_avx512)
HALYARD_DECLARE_LEVEL(arm64_sve)
HALYARD_DECLARE_LEVEL(riscv64_rvv)
HALYARD_DECLARE_LEVEL(ppc64le_p9)

namespace halyard {

struct TestLevel {
  const char* name;
  std::vector<uint32_t> isa;
  decltype(&halyard_test_a8_base) quantize;
  decltype(&halyard_test_convert_base) convert;
  decltype(&halyard_test_values_base) values;
};

#define HALYARD_LEVEL_ROW(level, ...)                                                \
  {                                                                                  \
#level, {__VA_ARGS__ }, &halyard_test_a8_##level, &halyard_test_convert_##level, \
             &halyard_test_values_##level                                            \
  }

inline std::vector<TestLevel> LiveLevels() {
  const TestLevel all[] = {
      HALYARD_LEVEL_ROW(base),
#ifdef HALYARD_HAVE_X86_AVX2
      HALYARD_LEVEL_ROW(x86_avx2, HY_ISA_X86_AVX2, HY_ISA_X86_FMA, HY_ISA_X86_F16C),
#endif
#ifdef HALYARD_HAVE_X86_AVX512
      HALYARD_LEVEL_ROW(x86_avx512, HY_ISA_X86_AVX512F, HY_ISA_X86_AVX512BW, HY_ISA_X86_AVX512VL,
                        HY_ISA_X86_AVX512DQ),
#endif
#ifdef HALYARD_HAVE_ARM64_SVE
      HALYARD_LEVEL_ROW(arm64_sve, HY_ISA_ARM64_SVE),
#endif
#ifdef HALYARD_HAVE_RISCV64_RVV
      HALYARD_LEVEL_ROW(riscv64_rvv, HY_ISA_RISCV_V),
#endif
#ifdef HALYARD_HAVE_PPC64LE_P9
      HALYARD_LEVEL_ROW(ppc64le_p9, HY_ISA_POWER_ARCH_3_00),
#endif
  };
  std::vector<TestLevel> live;
  for (const TestLevel& level : all) {
    bool runs = true;
    for (const uint32_t bit : level.isa) runs = runs && hy_isa_has(LiveIsa().data(), bit);
    if (runs) live.push_back(level);
  }
  return live;
}

}  // namespace halyard

#endif  // HALYARD_BASE_SIMD_TEST_LEVELS_H_
