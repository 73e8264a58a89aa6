// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/cpu_detect.h"

namespace halyard {
namespace {

using internal::HasIsa;
using internal::SetIsa;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::Not;

constexpr const char* kArches[] = {"x86_64", "aarch64", "riscv64",    "ppc64le",
                                   "s390x",  "armv7l",  "loongarch64"};

std::vector<std::string> NamesOf(absl::string_view arch, std::vector<std::string> words) {
  return IsaNames(IsaFromWords(arch, words));
}

TEST(CpuFeaturesTest, EveryNameLeadsBackToItsBit) {
  std::set<uint32_t> named;
  for (const char* arch : kArches) {
    for (uint32_t bit = 0; bit < 128; ++bit) {
      const absl::string_view name = IsaName(bit);
      if (!name.empty() && IsaBit(arch, name) == static_cast<int>(bit)) named.insert(bit);
    }
  }
  for (uint32_t bit = 0; bit < 128; ++bit) {
    EXPECT_EQ(named.count(bit) == 1, !IsaName(bit).empty()) << bit;
  }
  EXPECT_EQ(named.count(HY_ISA_X86_AMX_FP16), 1u);
  EXPECT_EQ(named.count(HY_ISA_LOONG_LASX), 1u);
}

TEST(CpuFeaturesTest, OneWordMeansDifferentBitsOnDifferentArchitectures) {
  EXPECT_EQ(IsaBit("aarch64", "asimddp"), HY_ISA_ARM64_ASIMDDP);
  EXPECT_EQ(IsaBit("armv7l", "asimddp"), HY_ISA_ARM_ASIMDDP);
  EXPECT_EQ(IsaBit("armv8l", "neon"), HY_ISA_ARM_NEON);
  EXPECT_EQ(IsaBit("x86_64", "asimddp"), -1);
  EXPECT_EQ(IsaBit("vax", "fma"), -1);
}

TEST(CpuFeaturesTest, WordsWithoutABitArePassedOver) {
  EXPECT_THAT(NamesOf("x86_64", {"fpu", "pni", "avx2", "hypervisor"}), ElementsAre("sse3", "avx2"));
  EXPECT_THAT(NamesOf("aarch64", {"asimdhp", "jscvt", "asimd"}), ElementsAre("asimd", "asimdhp"));
  EXPECT_THAT(NamesOf("s390x", {}), IsEmpty());
}

TEST(CpuFeaturesTest, RiscvIsaStringsAreTakenApart) {
  EXPECT_THAT(NamesOf("riscv64", {"rv64imafdcv_zicbop_zba_zvfh_svinval"}),
              ElementsAre("imafdc", "v", "zvfh", "zba", "zicbop"));
  EXPECT_THAT(NamesOf("riscv64", {"rv64gc"}), ElementsAre("imafdc"));
  EXPECT_THAT(NamesOf("riscv64", {"rv64imac_zbb"}), ElementsAre("zbb"));
}

TEST(CpuFeaturesTest, VendorBitsHaveNumbersForNames) {
  IsaMask isa{};
  SetIsa(&isa, HY_ISA_VENDOR_FIRST);
  SetIsa(&isa, HY_ISA_VENDOR_LAST);
  EXPECT_THAT(IsaNames(isa), ElementsAre("vendor118", "vendor127"));
  EXPECT_EQ(IsaName(HY_ISA_VENDOR_FIRST), "");
}

TEST(CpuFeaturesTest, TheProcessorExecutesWhatThisProgramWasBuiltFor) {
  EXPECT_THAT(IsaNames(BuildIsa()), IsSubsetOf(IsaNames(LiveIsa())));
}

TEST(CpuFeaturesTest, LiveBitsBelongToTheBuiltArchitecture) {
  for (const std::string& name : IsaNames(LiveIsa())) {
    EXPECT_GE(IsaBit(BuildArch(), name), 0) << name << " on " << BuildArch();
  }
  EXPECT_THAT(std::string(BuildArch()), Not("unknown"));
}

TEST(CpuFeaturesTest, DetectionGivesTheSameEachTime) {
  EXPECT_EQ(internal::DetectIsa(), LiveIsa());
  EXPECT_EQ(LiveVectorBytes(), LiveVectorBytes());
}

TEST(CpuFeaturesTest, VectorLengthFitsTheExtensions) {
  const bool scalable = HasIsa(LiveIsa(), HY_ISA_ARM64_SVE) || HasIsa(LiveIsa(), HY_ISA_RISCV_V);
  if (scalable) {
    EXPECT_GE(LiveVectorBytes(), 4u);
    EXPECT_LE(LiveVectorBytes(), 8192u);
  } else {
    EXPECT_EQ(LiveVectorBytes(), 0u);
  }
}

#if defined(__x86_64__)
// The compiler's own runtime is an independent reader of cpuid and XCR0.
TEST(CpuFeaturesTest, AgreesWithTheCompilersRuntime) {
  __builtin_cpu_init();
  const IsaMask isa = LiveIsa();
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_SSE4_2), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_AVX), __builtin_cpu_supports("avx") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_FMA), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_BMI2), __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_AVX2), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_AVX512F), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_AVX512BW), __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_AVX512VL), __builtin_cpu_supports("avx512vl") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_AVX512_VNNI), __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_AVX512_BF16), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ(HasIsa(isa, HY_ISA_X86_AVX512_VBMI), __builtin_cpu_supports("avx512vbmi") != 0);
}
#endif

}  // namespace
}  // namespace halyard
