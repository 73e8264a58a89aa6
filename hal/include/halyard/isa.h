// SPDX-License-Identifier: Apache-2.0
//
// Bits of hy_pu::isa: instruction-set extensions that kernels ask for. C11 and C++20.
// A bit number is never reused. Names in text are those of the same extension in Linux' hwcaps.
#ifndef HALYARD_ISA_H_
#define HALYARD_ISA_H_

#include <stdint.h>

/// Bit numbers, 0..127: word = bit / 64. Each architecture has a range of its own.
enum {
  // x86-64, 0..31. Each implies what its compiler flag implies.
  HY_ISA_X86_SSE2 = 0,
  HY_ISA_X86_SSE3,
  HY_ISA_X86_SSSE3,
  HY_ISA_X86_SSE4_1,
  HY_ISA_X86_SSE4_2,
  HY_ISA_X86_POPCNT,
  HY_ISA_X86_AVX,
  HY_ISA_X86_F16C,
  HY_ISA_X86_FMA,
  HY_ISA_X86_BMI2,
  HY_ISA_X86_AVX2,
  HY_ISA_X86_AVX512F,
  HY_ISA_X86_AVX512BW,
  HY_ISA_X86_AVX512VL,
  HY_ISA_X86_AVX512DQ,
  HY_ISA_X86_AVX512_VNNI,
  HY_ISA_X86_AVX512_BF16,
  HY_ISA_X86_AVX512_FP16,
  HY_ISA_X86_AVX512_VBMI,
  HY_ISA_X86_AVX_VNNI,
  HY_ISA_X86_AVX_VNNI_INT8,
  HY_ISA_X86_AMX_TILE,
  HY_ISA_X86_AMX_INT8,
  HY_ISA_X86_AMX_BF16,
  HY_ISA_X86_AMX_FP16,
  // AArch64, 32..63.
  HY_ISA_ARM64_ASIMD = 32,
  HY_ISA_ARM64_FPHP,
  HY_ISA_ARM64_ASIMDHP,
  HY_ISA_ARM64_ASIMDDP,
  HY_ISA_ARM64_ATOMICS,
  HY_ISA_ARM64_I8MM,
  HY_ISA_ARM64_BF16,
  HY_ISA_ARM64_SVE,
  HY_ISA_ARM64_SVE2,
  HY_ISA_ARM64_SVEI8MM,
  HY_ISA_ARM64_SVEBF16,
  HY_ISA_ARM64_SME,
  HY_ISA_ARM64_SME2,
  HY_ISA_ARM64_FHM,
  // RISC-V, 64..87.
  HY_ISA_RISCV_IMAFDC = 64,
  HY_ISA_RISCV_V,
  HY_ISA_RISCV_ZFH,
  HY_ISA_RISCV_ZVFH,
  HY_ISA_RISCV_ZVFBFWMA,
  HY_ISA_RISCV_ZBA,
  HY_ISA_RISCV_ZBB,
  HY_ISA_RISCV_ZICBOP,
  // POWER, 88..95.
  HY_ISA_POWER_VSX = 88,
  HY_ISA_POWER_ARCH_2_07,
  HY_ISA_POWER_ARCH_3_00,
  HY_ISA_POWER_ARCH_3_1,
  HY_ISA_POWER_MMA,
  // z/Architecture, 96..103.
  HY_ISA_S390_VX = 96,
  HY_ISA_S390_VXE,
  HY_ISA_S390_VXE2,
  HY_ISA_S390_NNPA,
  // 32-bit Arm, 104..111.
  HY_ISA_ARM_NEON = 104,
  HY_ISA_ARM_VFPV4,
  HY_ISA_ARM_ASIMDDP,
  // LoongArch, 112..117.
  HY_ISA_LOONG_LSX = 112,
  HY_ISA_LOONG_LASX,
  // 118..127 belong to vendors and mean what the port that sets them says.
  HY_ISA_VENDOR_FIRST = 118,
  HY_ISA_VENDOR_LAST = 127
};

static inline int hy_isa_has(const uint64_t isa[2], uint32_t bit) {
  return bit < 128u && ((isa[bit / 64u] >> (bit % 64u)) & 1u) != 0;
}

static inline void hy_isa_set(uint64_t isa[2], uint32_t bit) {
  if (bit < 128u) isa[bit / 64u] |= UINT64_C(1) << (bit % 64u);
}

#endif  // HALYARD_ISA_H_
