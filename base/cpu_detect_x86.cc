// SPDX-License-Identifier: Apache-2.0
//
// Source   Intel SDM vol. 2 (CPUID) and vol. 1 ch. 13 (XCR0: which registers the system saves).
#if defined(__x86_64__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iterator>

#include "base/cpu_detect.h"

namespace halyard::internal {
namespace {

struct CpuidRegs {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// Zeros for a leaf that the processor does not have.
CpuidRegs Cpuid(uint32_t leaf, uint32_t subleaf) {
  CpuidRegs regs;
  __get_cpuid_count(leaf, subleaf, &regs.eax, &regs.ebx, &regs.ecx, &regs.edx);
  return regs;
}

constexpr bool Bit(uint64_t word, uint32_t bit) { return ((word >> bit) & 1u) != 0; }

constexpr uint64_t kXcr0Avx = 0x6;      // SSE and AVX state
constexpr uint64_t kXcr0Avx512 = 0xe6;  // and opmask, upper ZMM, ZMM16..31
constexpr uint64_t kXcr0Amx = 0x60000;  // tile configuration and data
constexpr uint32_t kXfeatureTileData = 18;

uint64_t ReadXcr0() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

// Since Linux 5.16 tile data is given on request (ARCH_REQ_XCOMP_PERM), which whoever runs tile
// kernels makes once; before it, the kernel's support was never complete.
bool SystemGivesTiles() {
  constexpr int kArchGetXcompSupp = 0x1021;
  uint64_t supported = 0;
  return syscall(SYS_arch_prctl, kArchGetXcompSupp, &supported) == 0 &&
         Bit(supported, kXfeatureTileData);
}

struct Flag {
  uint32_t word;
  uint32_t bit;
  uint32_t isa;
};

void SetFlags(const Flag* flags, size_t count, const uint32_t* words, IsaMask* isa) {
  for (size_t i = 0; i < count; ++i) {
    if (Bit(words[flags[i].word], flags[i].bit)) SetIsa(isa, flags[i].isa);
  }
}

// Words that the tables below index.
enum : uint32_t {
  kLeaf1Ecx,
  kLeaf1Edx,
  kLeaf7Ebx,
  kLeaf7Ecx,
  kLeaf7Edx,
  kLeaf71Eax,
  kLeaf71Edx,
  kWords
};

constexpr Flag kBase[] = {
    {kLeaf1Edx, 26, HY_ISA_X86_SSE2},   {kLeaf1Ecx, 0, HY_ISA_X86_SSE3},
    {kLeaf1Ecx, 9, HY_ISA_X86_SSSE3},   {kLeaf1Ecx, 19, HY_ISA_X86_SSE4_1},
    {kLeaf1Ecx, 20, HY_ISA_X86_SSE4_2}, {kLeaf1Ecx, 23, HY_ISA_X86_POPCNT},
    {kLeaf7Ebx, 8, HY_ISA_X86_BMI2},
};
constexpr Flag kAvx[] = {
    {kLeaf1Ecx, 28, HY_ISA_X86_AVX},      {kLeaf1Ecx, 29, HY_ISA_X86_F16C},
    {kLeaf1Ecx, 12, HY_ISA_X86_FMA},      {kLeaf7Ebx, 5, HY_ISA_X86_AVX2},
    {kLeaf71Eax, 4, HY_ISA_X86_AVX_VNNI}, {kLeaf71Edx, 4, HY_ISA_X86_AVX_VNNI_INT8},
};
constexpr Flag kAvx512[] = {
    {kLeaf7Ebx, 16, HY_ISA_X86_AVX512F},     {kLeaf7Ebx, 30, HY_ISA_X86_AVX512BW},
    {kLeaf7Ebx, 31, HY_ISA_X86_AVX512VL},    {kLeaf7Ebx, 17, HY_ISA_X86_AVX512DQ},
    {kLeaf7Ecx, 11, HY_ISA_X86_AVX512_VNNI}, {kLeaf71Eax, 5, HY_ISA_X86_AVX512_BF16},
    {kLeaf7Edx, 23, HY_ISA_X86_AVX512_FP16}, {kLeaf7Ecx, 1, HY_ISA_X86_AVX512_VBMI},
};
constexpr Flag kAmx[] = {
    {kLeaf7Edx, 24, HY_ISA_X86_AMX_TILE},
    {kLeaf7Edx, 25, HY_ISA_X86_AMX_INT8},
    {kLeaf7Edx, 22, HY_ISA_X86_AMX_BF16},
    {kLeaf71Eax, 21, HY_ISA_X86_AMX_FP16},
};

}  // namespace

IsaMask DetectIsa() {
  const CpuidRegs leaf1 = Cpuid(1, 0);
  const CpuidRegs leaf7 = Cpuid(7, 0);
  const CpuidRegs leaf71 = leaf7.eax >= 1 ? Cpuid(7, 1) : CpuidRegs{};
  const uint32_t words[kWords] = {leaf1.ecx, leaf1.edx,  leaf7.ebx, leaf7.ecx,
                                  leaf7.edx, leaf71.eax, leaf71.edx};
  IsaMask isa{};
  SetFlags(kBase, std::size(kBase), words, &isa);
  const bool osxsave = Bit(leaf1.ecx, 27);  // without it xgetbv is an illegal instruction
  const uint64_t xcr0 = osxsave ? ReadXcr0() : 0;
  if ((xcr0 & kXcr0Avx) != kXcr0Avx || !Bit(leaf1.ecx, 28)) return isa;
  SetFlags(kAvx, std::size(kAvx), words, &isa);
  if ((xcr0 & kXcr0Avx512) == kXcr0Avx512 && Bit(leaf7.ebx, 16)) {
    SetFlags(kAvx512, std::size(kAvx512), words, &isa);
  }
  if ((xcr0 & kXcr0Amx) == kXcr0Amx && Bit(leaf7.edx, 24) && SystemGivesTiles()) {
    SetFlags(kAmx, std::size(kAmx), words, &isa);
  }
  return isa;
}

uint32_t DetectVectorBytes() { return 0; }

}  // namespace halyard::internal

#endif  // __x86_64__
