// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_features.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/cpu_detect.h"

namespace halyard {
namespace {

struct Word {
  uint32_t bit;
  const char* text;
};

// The first word of a bit is its name; further ones are other spellings that Linux has used.
constexpr Word kX86[] = {
    {HY_ISA_X86_SSE2, "sse2"},
    {HY_ISA_X86_SSE3, "sse3"},
    {HY_ISA_X86_SSE3, "pni"},
    {HY_ISA_X86_SSSE3, "ssse3"},
    {HY_ISA_X86_SSE4_1, "sse4_1"},
    {HY_ISA_X86_SSE4_2, "sse4_2"},
    {HY_ISA_X86_POPCNT, "popcnt"},
    {HY_ISA_X86_AVX, "avx"},
    {HY_ISA_X86_F16C, "f16c"},
    {HY_ISA_X86_FMA, "fma"},
    {HY_ISA_X86_BMI2, "bmi2"},
    {HY_ISA_X86_AVX2, "avx2"},
    {HY_ISA_X86_AVX512F, "avx512f"},
    {HY_ISA_X86_AVX512BW, "avx512bw"},
    {HY_ISA_X86_AVX512VL, "avx512vl"},
    {HY_ISA_X86_AVX512DQ, "avx512dq"},
    {HY_ISA_X86_AVX512_VNNI, "avx512_vnni"},
    {HY_ISA_X86_AVX512_BF16, "avx512_bf16"},
    {HY_ISA_X86_AVX512_FP16, "avx512_fp16"},
    {HY_ISA_X86_AVX512_VBMI, "avx512vbmi"},
    {HY_ISA_X86_AVX_VNNI, "avx_vnni"},
    {HY_ISA_X86_AVX_VNNI_INT8, "avx_vnni_int8"},
    {HY_ISA_X86_AMX_TILE, "amx_tile"},
    {HY_ISA_X86_AMX_INT8, "amx_int8"},
    {HY_ISA_X86_AMX_BF16, "amx_bf16"},
    {HY_ISA_X86_AMX_FP16, "amx_fp16"},
};
constexpr Word kArm64[] = {
    {HY_ISA_ARM64_ASIMD, "asimd"},     {HY_ISA_ARM64_FPHP, "fphp"},
    {HY_ISA_ARM64_ASIMDHP, "asimdhp"}, {HY_ISA_ARM64_ASIMDDP, "asimddp"},
    {HY_ISA_ARM64_ATOMICS, "atomics"}, {HY_ISA_ARM64_I8MM, "i8mm"},
    {HY_ISA_ARM64_BF16, "bf16"},       {HY_ISA_ARM64_SVE, "sve"},
    {HY_ISA_ARM64_SVE2, "sve2"},       {HY_ISA_ARM64_SVEI8MM, "svei8mm"},
    {HY_ISA_ARM64_SVEBF16, "svebf16"}, {HY_ISA_ARM64_SME, "sme"},
    {HY_ISA_ARM64_SME2, "sme2"},       {HY_ISA_ARM64_FHM, "asimdfhm"},
};
constexpr Word kRiscv[] = {
    {HY_ISA_RISCV_IMAFDC, "imafdc"},     {HY_ISA_RISCV_V, "v"},
    {HY_ISA_RISCV_ZFH, "zfh"},           {HY_ISA_RISCV_ZVFH, "zvfh"},
    {HY_ISA_RISCV_ZVFBFWMA, "zvfbfwma"}, {HY_ISA_RISCV_ZBA, "zba"},
    {HY_ISA_RISCV_ZBB, "zbb"},           {HY_ISA_RISCV_ZICBOP, "zicbop"},
};
constexpr Word kPower[] = {
    {HY_ISA_POWER_VSX, "vsx"},
    {HY_ISA_POWER_ARCH_2_07, "arch_2_07"},
    {HY_ISA_POWER_ARCH_3_00, "arch_3_00"},
    {HY_ISA_POWER_ARCH_3_1, "arch_3_1"},
    {HY_ISA_POWER_MMA, "mma"},
};
constexpr Word kS390[] = {
    {HY_ISA_S390_VX, "vx"},
    {HY_ISA_S390_VXE, "vxe"},
    {HY_ISA_S390_VXE2, "vxe2"},
    {HY_ISA_S390_NNPA, "nnpa"},
};
constexpr Word kArm[] = {
    {HY_ISA_ARM_NEON, "neon"},
    {HY_ISA_ARM_VFPV4, "vfpv4"},
    {HY_ISA_ARM_ASIMDDP, "asimddp"},
};
constexpr Word kLoong[] = {{HY_ISA_LOONG_LSX, "lsx"}, {HY_ISA_LOONG_LASX, "lasx"}};

struct Arch {
  const char* prefix;  // of what `uname -m` says
  absl::Span<const Word> words;
};

// "aarch64" stands before "arm": the first prefix that fits is taken.
constexpr Arch kArches[] = {
    {"x86_64", kX86},  {"aarch64", kArm64}, {"arm64", kArm64},     {"riscv", kRiscv},
    {"ppc64", kPower}, {"s390", kS390},     {"loongarch", kLoong}, {"arm", kArm},
};

absl::Span<const Word> WordsOf(absl::string_view arch) {
  for (const Arch& candidate : kArches) {
    if (absl::StartsWith(arch, candidate.prefix)) return candidate.words;
  }
  return {};
}

// "rv64imafdcv_zba_zbb" as one word: letters, then names between underscores.
void AddRiscvIsaString(absl::string_view text, IsaMask* isa) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text.substr(4), '_');
  const absl::string_view letters = parts[0];
  auto has = [letters](char letter) { return absl::StrContains(letters, letter); };
  const bool imafd = has('g') || (has('i') && has('m') && has('a') && has('f') && has('d'));
  if (imafd && has('c')) internal::SetIsa(isa, HY_ISA_RISCV_IMAFDC);
  if (has('v')) internal::SetIsa(isa, HY_ISA_RISCV_V);
  for (size_t i = 1; i < parts.size(); ++i) {
    const int bit = IsaBit("riscv64", parts[i]);
    if (bit >= 0) internal::SetIsa(isa, static_cast<uint32_t>(bit));
  }
}

}  // namespace

IsaMask LiveIsa() {
  static const IsaMask isa = internal::DetectIsa();
  return isa;
}

uint32_t LiveVectorBytes() { return internal::DetectVectorBytes(); }

absl::string_view IsaName(uint32_t bit) {
  for (const Arch& arch : kArches) {
    for (const Word& word : arch.words) {
      if (word.bit == bit) return word.text;
    }
  }
  return {};
}

std::vector<std::string> IsaNames(const IsaMask& isa) {
  std::vector<std::string> names;
  for (uint32_t bit = 0; bit <= HY_ISA_VENDOR_LAST; ++bit) {
    if (!internal::HasIsa(isa, bit)) continue;
    const absl::string_view name = IsaName(bit);
    if (!name.empty()) {
      names.emplace_back(name);
    } else if (bit >= HY_ISA_VENDOR_FIRST) {
      names.push_back(absl::StrCat("vendor", bit));
    } else {
      names.push_back(absl::StrCat("bit", bit));
    }
  }
  return names;
}

int IsaBit(absl::string_view arch, absl::string_view word) {
  for (const Word& candidate : WordsOf(arch)) {
    if (word == candidate.text) return static_cast<int>(candidate.bit);
  }
  return -1;
}

IsaMask IsaFromWords(absl::string_view arch, absl::Span<const std::string> words) {
  IsaMask isa{};
  for (const std::string& word : words) {
    const int bit = IsaBit(arch, word);
    if (bit >= 0) {
      internal::SetIsa(&isa, static_cast<uint32_t>(bit));
    } else if (absl::StartsWith(arch, "riscv") &&
               (absl::StartsWith(word, "rv64") || absl::StartsWith(word, "rv32"))) {
      AddRiscvIsaString(word, &isa);
    }
  }
  return isa;
}

}  // namespace halyard
