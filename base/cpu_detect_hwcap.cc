// SPDX-License-Identifier: Apache-2.0
//
// Architectures whose kernel tells all in the auxiliary vector. The bit numbers are spelled out:
// headers of the distributions that Halyard supports are older than some of the extensions.
// Source   Linux arch/<arch>/include/uapi/asm/hwcap.h, arch/powerpc/include/uapi/asm/cputable.h,
//          arch/s390/include/asm/elf.h.
#if !defined(__x86_64__) && !defined(__riscv)

#include <sys/auxv.h>
#include <sys/prctl.h>

#include "base/cpu_detect.h"

namespace halyard::internal {
namespace {

struct Hwcap {
  uint32_t word;  // 1: AT_HWCAP, 2: AT_HWCAP2
  uint32_t bit;
  uint32_t isa;
  int32_t needs;  // an ISA bit that must be set too, or -1; it stands earlier in the table
};

constexpr Hwcap kHwcaps[] = {
#if defined(__aarch64__)
    {1, 1, HY_ISA_ARM64_ASIMD, -1},
    {1, 8, HY_ISA_ARM64_ATOMICS, -1},
    {1, 9, HY_ISA_ARM64_FPHP, -1},
    {1, 10, HY_ISA_ARM64_ASIMDHP, -1},
    {1, 20, HY_ISA_ARM64_ASIMDDP, -1},
    {1, 23, HY_ISA_ARM64_FHM, -1},
    {2, 13, HY_ISA_ARM64_I8MM, -1},
    {2, 14, HY_ISA_ARM64_BF16, -1},
    {1, 22, HY_ISA_ARM64_SVE, -1},
    {2, 1, HY_ISA_ARM64_SVE2, HY_ISA_ARM64_SVE},
    {2, 9, HY_ISA_ARM64_SVEI8MM, HY_ISA_ARM64_SVE},
    {2, 12, HY_ISA_ARM64_SVEBF16, HY_ISA_ARM64_SVE},
    {2, 23, HY_ISA_ARM64_SME, -1},
    {2, 37, HY_ISA_ARM64_SME2, HY_ISA_ARM64_SME},
#elif defined(__arm__)
    {1, 12, HY_ISA_ARM_NEON, -1},
    {1, 16, HY_ISA_ARM_VFPV4, -1},
    {1, 24, HY_ISA_ARM_ASIMDDP, HY_ISA_ARM_NEON},
#elif defined(__powerpc64__)
    {1, 7, HY_ISA_POWER_VSX, -1},
    {2, 31, HY_ISA_POWER_ARCH_2_07, -1},
    {2, 23, HY_ISA_POWER_ARCH_3_00, -1},
    {2, 18, HY_ISA_POWER_ARCH_3_1, -1},
    {2, 17, HY_ISA_POWER_MMA, HY_ISA_POWER_VSX},
#elif defined(__s390x__)
    // An emulator without vector registers still sets the bits of the later facilities.
    {1, 11, HY_ISA_S390_VX, -1},
    {1, 13, HY_ISA_S390_VXE, HY_ISA_S390_VX},
    {1, 15, HY_ISA_S390_VXE2, HY_ISA_S390_VXE},
    {1, 20, HY_ISA_S390_NNPA, HY_ISA_S390_VX},
#elif defined(__loongarch__)
    {1, 4, HY_ISA_LOONG_LSX, -1},
    {1, 5, HY_ISA_LOONG_LASX, HY_ISA_LOONG_LSX},
#else
    {0, 0, HY_ISA_VENDOR_FIRST, -1},  // nothing is known of this architecture
#endif
};

}  // namespace

IsaMask DetectIsa() {
  constexpr unsigned long kAtHwcap2 = 26;
  const uint64_t words[3] = {0, getauxval(AT_HWCAP), getauxval(kAtHwcap2)};
  IsaMask isa{};
  for (const Hwcap& hwcap : kHwcaps) {
    const bool there = ((words[hwcap.word] >> hwcap.bit) & 1u) != 0;
    const bool based = hwcap.needs < 0 || HasIsa(isa, static_cast<uint32_t>(hwcap.needs));
    if (there && based) SetIsa(&isa, hwcap.isa);
  }
  return isa;
}

uint32_t DetectVectorBytes() {
#if defined(__aarch64__)
  constexpr int kPrSveGetVl = 51;
  constexpr int kVlMask = 0xffff;
  if (!HasIsa(DetectIsa(), HY_ISA_ARM64_SVE)) return 0;
  const int answer = prctl(kPrSveGetVl);
  return answer < 0 ? 0 : static_cast<uint32_t>(answer & kVlMask);
#else
  return 0;
#endif
}

}  // namespace halyard::internal

#endif  // !__x86_64__ && !__riscv
