// SPDX-License-Identifier: Apache-2.0
//
// How a kernel source names itself and gives its table. One source may be compiled for several ISA
// levels (cmake/isa.cmake); the build defines for each object
//   HALYARD_LEVEL         the level's name, such as x86_avx2, or base
//   HALYARD_KERNEL_TABLE  the name of the table's function
// A kernel source holds static functions only, and uses neither the STL nor Abseil.
#ifndef HALYARD_OPS_KERNEL_TABLE_H_
#define HALYARD_OPS_KERNEL_TABLE_H_

#include "halyard/kernel.h"

#define HALYARD_CAT_(a, b) a##b
#define HALYARD_CAT(a, b) HALYARD_CAT_(a, b)
#define HALYARD_STR_(a) #a
#define HALYARD_STR(a) HALYARD_STR_(a)

/// Bits that each level needs, as an initialiser of hy_kernel_desc::isa.
#define HALYARD_ISA1(a) \
  { HY_ISA_WORD(a, 0), HY_ISA_WORD(a, 1) }
#define HALYARD_ISA2(a, b) \
  { HY_ISA_WORD(a, 0) | HY_ISA_WORD(b, 0), HY_ISA_WORD(a, 1) | HY_ISA_WORD(b, 1) }
#define HALYARD_ISA3(a, b, c)                                     \
  {                                                               \
    HY_ISA_WORD(a, 0) | HY_ISA_WORD(b, 0) | HY_ISA_WORD(c, 0),    \
        HY_ISA_WORD(a, 1) | HY_ISA_WORD(b, 1) | HY_ISA_WORD(c, 1) \
  }
#define HALYARD_ISA4(a, b, c, d)                                                      \
  {                                                                                   \
    HY_ISA_WORD(a, 0) | HY_ISA_WORD(b, 0) | HY_ISA_WORD(c, 0) | HY_ISA_WORD(d, 0),    \
        HY_ISA_WORD(a, 1) | HY_ISA_WORD(b, 1) | HY_ISA_WORD(c, 1) | HY_ISA_WORD(d, 1) \
  }
#define HALYARD_ISA5(a, b, c, d, e)                                                     \
  {                                                                                     \
    HY_ISA_WORD(a, 0) | HY_ISA_WORD(b, 0) | HY_ISA_WORD(c, 0) | HY_ISA_WORD(d, 0) |     \
        HY_ISA_WORD(e, 0),                                                              \
        HY_ISA_WORD(a, 1) | HY_ISA_WORD(b, 1) | HY_ISA_WORD(c, 1) | HY_ISA_WORD(d, 1) | \
            HY_ISA_WORD(e, 1)                                                           \
  }

#define HALYARD_LEVEL_ISA_base \
  { 0, 0 }
#define HALYARD_LEVEL_ISA_x86_avx2 HALYARD_ISA3(HY_ISA_X86_AVX2, HY_ISA_X86_FMA, HY_ISA_X86_F16C)
#define HALYARD_LEVEL_ISA_x86_avx512 \
  HALYARD_ISA4(HY_ISA_X86_AVX512F, HY_ISA_X86_AVX512BW, HY_ISA_X86_AVX512VL, HY_ISA_X86_AVX512DQ)
#define HALYARD_LEVEL_ISA_x86_avx512vnni                                                          \
  HALYARD_ISA5(HY_ISA_X86_AVX512F, HY_ISA_X86_AVX512BW, HY_ISA_X86_AVX512VL, HY_ISA_X86_AVX512DQ, \
               HY_ISA_X86_AVX512_VNNI)
/// The same source as x86_avx512vnni, in plain code: runs anywhere, to prove it (HALYARD_SIMDE_KERNELS).
#define HALYARD_LEVEL_ISA_simde_avx512vnni \
  { 0, 0 }
#define HALYARD_LEVEL_ISA_arm64_dotprod HALYARD_ISA1(HY_ISA_ARM64_ASIMDDP)
#define HALYARD_LEVEL_ISA_arm64_i8mm HALYARD_ISA2(HY_ISA_ARM64_ASIMDDP, HY_ISA_ARM64_I8MM)
#define HALYARD_LEVEL_ISA_arm64_sve HALYARD_ISA1(HY_ISA_ARM64_SVE)
#define HALYARD_LEVEL_ISA_riscv64_rvv HALYARD_ISA1(HY_ISA_RISCV_V)
#define HALYARD_LEVEL_ISA_ppc64le_p9 HALYARD_ISA1(HY_ISA_POWER_ARCH_3_00)
#define HALYARD_LEVEL_ISA_s390x_z14 HALYARD_ISA2(HY_ISA_S390_VX, HY_ISA_S390_VXE)

/// Bits and name of the level of this object.
#define HALYARD_LEVEL_ISA HALYARD_CAT(HALYARD_LEVEL_ISA_, HALYARD_LEVEL)
#define HALYARD_LEVEL_NAME HALYARD_STR(HALYARD_LEVEL)

/// Generic kernels of a higher level go before those of a lower one.
#define HALYARD_LEVEL_RANK_base 0
#define HALYARD_LEVEL_RANK_x86_avx2 10
#define HALYARD_LEVEL_RANK_x86_avx512 20
#define HALYARD_LEVEL_RANK_x86_avx512vnni 30
#define HALYARD_LEVEL_RANK_simde_avx512vnni 0
#define HALYARD_LEVEL_RANK_arm64_dotprod 10
#define HALYARD_LEVEL_RANK_arm64_i8mm 20
#define HALYARD_LEVEL_RANK_arm64_sve 15
#define HALYARD_LEVEL_RANK_riscv64_rvv 10
#define HALYARD_LEVEL_RANK_ppc64le_p9 10
#define HALYARD_LEVEL_RANK_s390x_z14 10
#define HALYARD_LEVEL_RANK HALYARD_CAT(HALYARD_LEVEL_RANK_, HALYARD_LEVEL)

/// Ends a kernel source: HALYARD_KERNELS(&kOne, &kTwo).
#define HALYARD_KERNELS(...)                                                      \
  extern "C" const hy_kernel_desc* const* HALYARD_KERNEL_TABLE(uint64_t* count);  \
  extern "C" const hy_kernel_desc* const* HALYARD_KERNEL_TABLE(uint64_t* count) { \
    static const hy_kernel_desc* const table[] = {__VA_ARGS__};                   \
    *count = sizeof table / sizeof table[0];                                      \
    return table;                                                                 \
  }

#endif  // HALYARD_OPS_KERNEL_TABLE_H_
