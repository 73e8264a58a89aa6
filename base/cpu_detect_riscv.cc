// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/arch/riscv/hwprobe.rst and vector.rst,
//          arch/riscv/include/uapi/asm/hwprobe.h; the RISC-V "V" specification 3.3 (vlenb).
#if defined(__riscv)

#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu_detect.h"

namespace halyard::internal {
namespace {

constexpr long kSysRiscvHwprobe = 258;
constexpr int64_t kKeyBaseBehavior = 3;
constexpr int64_t kKeyImaExt0 = 4;

struct HwprobePair {
  int64_t key;
  uint64_t value;
};

struct Extension {
  uint32_t bit;
  uint32_t isa;
};

constexpr Extension kExtensions[] = {
    {2, HY_ISA_RISCV_V},       {3, HY_ISA_RISCV_ZBA},   {4, HY_ISA_RISCV_ZBB},
    {27, HY_ISA_RISCV_ZFH},    {30, HY_ISA_RISCV_ZVFH}, {54, HY_ISA_RISCV_ZVFBFWMA},
    {60, HY_ISA_RISCV_ZICBOP},
};

// What all online harts share: an empty set of CPUs means that.
bool ProbeBySyscall(IsaMask* isa) {
  constexpr uint64_t kIma = 1;
  constexpr uint64_t kFdAndC = 3;
  HwprobePair pairs[2] = {{kKeyBaseBehavior, 0}, {kKeyImaExt0, 0}};
  if (syscall(kSysRiscvHwprobe, pairs, 2L, 0L, nullptr, 0L) != 0) return false;
  if (pairs[0].key != kKeyBaseBehavior || pairs[1].key != kKeyImaExt0) return false;
  if ((pairs[0].value & kIma) != 0 && (pairs[1].value & kFdAndC) == kFdAndC) {
    SetIsa(isa, HY_ISA_RISCV_IMAFDC);
  }
  for (const Extension& extension : kExtensions) {
    if (((pairs[1].value >> extension.bit) & 1u) != 0) SetIsa(isa, extension.isa);
  }
  return true;
}

constexpr uint64_t Letter(char letter) { return uint64_t{1} << (letter - 'a'); }

// Kernels before 6.4 tell the single-letter extensions only.
void ProbeByHwcap(IsaMask* isa) {
  constexpr uint64_t kImafdc =
      Letter('i') | Letter('m') | Letter('a') | Letter('f') | Letter('d') | Letter('c');
  const uint64_t hwcap = getauxval(AT_HWCAP);
  if ((hwcap & kImafdc) == kImafdc) SetIsa(isa, HY_ISA_RISCV_IMAFDC);
  if ((hwcap & Letter('v')) != 0) SetIsa(isa, HY_ISA_RISCV_V);
}

// The administrator can keep the vector unit from a process; a kernel without the call does not.
bool SystemGivesVectors() {
  constexpr int kPrRiscvVGetControl = 70;
  constexpr int kStateMask = 3;
  constexpr int kStateOff = 1;
  const int state = prctl(kPrRiscvVGetControl, 0L, 0L, 0L, 0L);
  return state < 0 || (state & kStateMask) != kStateOff;
}

}  // namespace

IsaMask DetectIsa() {
  IsaMask isa{};
  if (!ProbeBySyscall(&isa)) ProbeByHwcap(&isa);
  if (HasIsa(isa, HY_ISA_RISCV_V) && !SystemGivesVectors()) {
    IsaMask vectors{};
    for (uint32_t bit : {HY_ISA_RISCV_V, HY_ISA_RISCV_ZVFH, HY_ISA_RISCV_ZVFBFWMA}) {
      SetIsa(&vectors, bit);
    }
    for (size_t word = 0; word < isa.size(); ++word) isa[word] &= ~vectors[word];
  }
  return isa;
}

uint32_t DetectVectorBytes() {
  if (!HasIsa(DetectIsa(), HY_ISA_RISCV_V)) return 0;
  unsigned long vlenb = 0;
  __asm__ volatile("csrr %0, 0xc22" : "=r"(vlenb));  // by number: the assembler may not know V
  return static_cast<uint32_t>(vlenb);
}

}  // namespace halyard::internal

#endif  // __riscv
