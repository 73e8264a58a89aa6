// SPDX-License-Identifier: Apache-2.0
//
// What the compiler was told it may use, from its predefined macros.
#include "base/cpu_detect.h"

namespace halyard {
namespace {

constexpr uint32_t kBuildBits[] = {
#if defined(__SSE2__)
    HY_ISA_X86_SSE2,
#endif
#if defined(__SSE3__)
    HY_ISA_X86_SSE3,
#endif
#if defined(__SSSE3__)
    HY_ISA_X86_SSSE3,
#endif
#if defined(__SSE4_1__)
    HY_ISA_X86_SSE4_1,
#endif
#if defined(__SSE4_2__)
    HY_ISA_X86_SSE4_2,
#endif
#if defined(__POPCNT__)
    HY_ISA_X86_POPCNT,
#endif
#if defined(__AVX__)
    HY_ISA_X86_AVX,
#endif
#if defined(__F16C__)
    HY_ISA_X86_F16C,
#endif
#if defined(__FMA__)
    HY_ISA_X86_FMA,
#endif
#if defined(__BMI2__)
    HY_ISA_X86_BMI2,
#endif
#if defined(__AVX2__)
    HY_ISA_X86_AVX2,
#endif
#if defined(__AVX512F__)
    HY_ISA_X86_AVX512F,
#endif
#if defined(__AVX512BW__)
    HY_ISA_X86_AVX512BW,
#endif
#if defined(__AVX512VL__)
    HY_ISA_X86_AVX512VL,
#endif
#if defined(__AVX512DQ__)
    HY_ISA_X86_AVX512DQ,
#endif
#if defined(__AVX512VNNI__)
    HY_ISA_X86_AVX512_VNNI,
#endif
#if defined(__AVX512BF16__)
    HY_ISA_X86_AVX512_BF16,
#endif
#if defined(__AVX512FP16__)
    HY_ISA_X86_AVX512_FP16,
#endif
#if defined(__ARM_NEON) && defined(__aarch64__)
    HY_ISA_ARM64_ASIMD,
#endif
#if defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC) && defined(__aarch64__)
    HY_ISA_ARM64_ASIMDHP,
#endif
#if defined(__ARM_FEATURE_DOTPROD) && defined(__aarch64__)
    HY_ISA_ARM64_ASIMDDP,
#endif
#if defined(__ARM_FEATURE_ATOMICS)
    HY_ISA_ARM64_ATOMICS,
#endif
#if defined(__ARM_FEATURE_MATMUL_INT8) && defined(__aarch64__)
    HY_ISA_ARM64_I8MM,
#endif
#if defined(__ARM_FEATURE_SVE)
    HY_ISA_ARM64_SVE,
#endif
#if defined(__ARM_FEATURE_SVE2)
    HY_ISA_ARM64_SVE2,
#endif
#if defined(__ARM_NEON) && defined(__arm__)
    HY_ISA_ARM_NEON,
#endif
#if defined(__riscv_compressed) && defined(__riscv_d) && defined(__riscv_atomic)
    HY_ISA_RISCV_IMAFDC,
#endif
#if defined(__riscv_vector)
    HY_ISA_RISCV_V,
#endif
#if defined(__riscv_zba)
    HY_ISA_RISCV_ZBA,
#endif
#if defined(__riscv_zbb)
    HY_ISA_RISCV_ZBB,
#endif
#if defined(__VSX__)
    HY_ISA_POWER_VSX,
#endif
#if defined(_ARCH_PWR8)
    HY_ISA_POWER_ARCH_2_07,
#endif
#if defined(_ARCH_PWR9)
    HY_ISA_POWER_ARCH_3_00,
#endif
#if defined(_ARCH_PWR10)
    HY_ISA_POWER_ARCH_3_1,
#endif
#if defined(__VX__)
    HY_ISA_S390_VX,
#endif
#if defined(__loongarch_sx)
    HY_ISA_LOONG_LSX,
#endif
#if defined(__loongarch_asx)
    HY_ISA_LOONG_LASX,
#endif
    HY_ISA_VENDOR_LAST + 1,  // beyond the last bit: sets nothing, and no array is empty
};

}  // namespace

IsaMask BuildIsa() {
  IsaMask isa{};
  for (uint32_t bit : kBuildBits) internal::SetIsa(&isa, bit);
  return isa;
}

absl::string_view BuildArch() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__) && defined(__AARCH64EB__)
  return "aarch64_be";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__arm__)
  return "armv7l";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  return "ppc64le";
#elif defined(__powerpc64__)
  return "ppc64";
#elif defined(__s390x__)
  return "s390x";
#elif defined(__loongarch64)
  return "loongarch64";
#else
  return "unknown";
#endif
}

}  // namespace halyard
