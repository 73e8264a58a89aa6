// SPDX-License-Identifier: Apache-2.0
#include "facts/chip_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hal/test_image.h"
#include "hal/topology.h"

namespace halyard::facts {
namespace {

const std::string kChips = absl::StrCat(HALYARD_TEST_SOURCE_DIR, "/ports/chips");
const std::string kFixtures =
    absl::StrCat(HALYARD_TEST_SOURCE_DIR, "/ports/sim_topology/fixtures/");

const std::vector<ChipSheet>& Sheets() {
  static const std::vector<ChipSheet> sheets = *ReadChipSheets(kChips);
  return sheets;
}

ChipMarks MarksOf(const hal::SystemView& view) {
  return ReadChipMarks(view, hal::ReadTopology(view, false));
}

/// Id of the sheet that an image fits; "" if none does.
std::string SheetOf(const hal::SystemView& view) {
  const ChipSheet* const sheet = MatchChipSheet(Sheets(), MarksOf(view));
  return sheet == nullptr ? "" : sheet->id;
}

std::string SheetOf(absl::string_view lines, absl::string_view arch) {
  return SheetOf(*hal::TestImage(lines, arch));
}

// Every word of x86-64-v2 and v3 that has no HY_ISA bit.
constexpr absl::string_view kV3Words =
    "fpu sse sse2 cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2 avx avx2 bmi1 bmi2 f16c fma abm "
    "movbe "
    "xsave";

std::string X86Image(absl::string_view vendor, int family, int model,
                     absl::string_view more_words) {
  const std::string words = absl::StrCat(kV3Words, " ", more_words);
  return absl::StrCat("sys/devices/system/cpu/online = 0\n@isa ", words, "\nproc/cpuinfo <<END\n",
                      "processor\t: 0\nvendor_id\t: ", vendor, "\ncpu family\t: ", family,
                      "\nmodel\t\t: ", model, "\nmodel name\t: Some CPU\nflags\t\t: ", words,
                      "\nEND\n");
}

constexpr absl::string_view kZen5Words =
    "avx_vnni avx512f avx512bw avx512vl avx512dq avx512_vnni avx512_bf16";

TEST(ChipMatch, ZenByFamilyAndModel) {
  EXPECT_EQ(SheetOf(X86Image("AuthenticAMD", 0x1a, 0x44, kZen5Words), "x86_64"), "zen5");
  // Between the ranges of Zen 5's models, of another maker, and without its words.
  EXPECT_EQ(SheetOf(X86Image("AuthenticAMD", 0x1a, 0x3f, kZen5Words), "x86_64"), "x86_64_v3");
  EXPECT_EQ(SheetOf(X86Image("GenuineIntel", 0x1a, 0x44, kZen5Words), "x86_64"), "x86_64_v3");
  EXPECT_EQ(SheetOf(X86Image("AuthenticAMD", 0x1a, 0x44, ""), "x86_64"), "x86_64_v3");
}

TEST(ChipMatch, GenericSheetsByWords) {
  EXPECT_EQ(SheetOf("sys/devices/system/cpu/online = 0\n"
                    "@isa sse2,pni,ssse3,sse4_1,sse4_2,popcnt\n"
                    "proc/cpuinfo <<END\nprocessor : 0\n"
                    "flags : sse sse2 cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2\nEND\n",
                    "x86_64"),
            "x86_64_v2");
  // lahf_lm has no bit of Halyard: /proc/cpuinfo decides.
  EXPECT_EQ(SheetOf("sys/devices/system/cpu/online = 0\n"
                    "@isa sse2,pni,ssse3,sse4_1,sse4_2,popcnt\n"
                    "proc/cpuinfo <<END\nprocessor : 0\n"
                    "flags : sse sse2 cx16 popcnt pni ssse3 sse4_1 sse4_2\nEND\n",
                    "x86_64"),
            "");
}

TEST(ChipMatch, TheProcessorsWordBeatsThatOfCpuinfo) {
  // As under an emulator: cpuinfo is that of the host, the ISA is what the guest executes.
  EXPECT_EQ(SheetOf(absl::StrCat("sys/devices/system/cpu/online = 0\n"
                                 "@isa sse2,pni,ssse3,sse4_1,sse4_2,popcnt\n"
                                 "proc/cpuinfo <<END\nprocessor : 0\nflags : ",
                                 kV3Words, "\nEND\n"),
                    "x86_64"),
            "x86_64_v2");
  const std::string foreign = X86Image("AuthenticAMD", 0x1a, 0x44, kZen5Words);
  const ChipMarks marks = MarksOf(*hal::TestImage(foreign, "aarch64"));
  EXPECT_FALSE(marks.words.has_value());
  EXPECT_FALSE(marks.x86.has_value());
  EXPECT_EQ(marks.name, "");
}

constexpr absl::string_view kKunpengIsa = "@isa asimd,asimdhp,asimddp,atomics,fphp,asimdfhm\n";

TEST(ChipMatch, KunpengByMidr) {
  const std::string cpus = absl::StrCat("sys/devices/system/cpu/online = 0-1\n", kKunpengIsa);
  const absl::string_view midr = "sys/devices/system/cpu/cpu{0-1}/regs/identification/midr_el1 = ";
  EXPECT_EQ(SheetOf(absl::StrCat(cpus, midr, "0x00000000481fd010\n"), "aarch64"), "kunpeng920");
  // HIP09 is another chip, and one more kind of core makes it another chip, too.
  EXPECT_EQ(SheetOf(absl::StrCat(cpus, midr, "0x00000000481fd020\n"), "aarch64"), "");
  EXPECT_EQ(SheetOf(absl::StrCat(cpus, midr, "0x00000000481fd010\n",
                                 "sys/devices/system/cpu/cpu1/regs/identification/midr_el1 = "
                                 "0x00000000410fd030\n"),
                    "aarch64"),
            "");
  // Older kernels show it in /proc/cpuinfo alone.
  EXPECT_EQ(SheetOf(absl::StrCat(cpus,
                                 "proc/cpuinfo <<END\nprocessor\t: 0\nCPU implementer\t: 0x48\n"
                                 "CPU part\t: 0xd01\nEND\n"),
                    "aarch64"),
            "kunpeng920");
}

TEST(ChipMatch, SharedCoresNeedAHint) {
  const std::string n1 = absl::StrCat(
      "sys/devices/system/cpu/online = 0\n", kKunpengIsa,
      "sys/devices/system/cpu/cpu0/regs/identification/midr_el1 = 0x00000000413fd0c1\n");
  EXPECT_EQ(SheetOf(n1, "aarch64"), "");
  EXPECT_EQ(SheetOf(absl::StrCat(n1, "sys/class/dmi/id/product_name = HR330A Altra\n"), "aarch64"),
            "ampere_altra");
}

TEST(ChipMatch, AVirtualMachineIsSeen) {
  EXPECT_TRUE(MarksOf(*hal::TestImage(X86Image("AuthenticAMD", 25, 1, "hypervisor"))).is_virtual);
  EXPECT_FALSE(MarksOf(*hal::TestImage(X86Image("AuthenticAMD", 25, 1, ""))).is_virtual);
  const absl::string_view amazon = "sys/class/dmi/id/sys_vendor = Amazon EC2\n";
  const std::string guest = absl::StrCat(amazon, "sys/class/dmi/id/product_name = c7g.xlarge\n");
  const std::string whole = absl::StrCat(amazon, "sys/class/dmi/id/product_name = c7g.metal\n");
  EXPECT_TRUE(MarksOf(*hal::TestImage(guest, "aarch64")).is_virtual);
  EXPECT_FALSE(MarksOf(*hal::TestImage(whole, "aarch64")).is_virtual);
}

TEST(ChipMatch, WordsByBitThenByCpuinfo) {
  const ChipMarks x86 = MarksOf(*hal::TestImage(X86Image("AuthenticAMD", 25, 1, "")));
  EXPECT_EQ(HasWord(x86, "avx2"), true);
  EXPECT_EQ(HasWord(x86, "avx512f"), false);
  EXPECT_EQ(HasWord(x86, "movbe"), true);
  EXPECT_EQ(HasWord(x86, "sha_ni"), false);
  ChipMarks power;
  power.arch = "ppc64le";
  EXPECT_EQ(HasWord(power, "altivec"), std::nullopt);  // neither a bit nor a line that could tell
  const ChipMarks riscv = MarksOf(*hal::TestImage(
      "sys/devices/system/cpu/online = 0-1\n@isa rv64imafdcv_zba\nproc/cpuinfo <<END\n"
      "processor : 0\nisa : rv64imafdcv_zicbom_zba_zbkb\n\nprocessor : 1\n"
      "isa : rv64imafdcv_zicbom_zba\nEND\n",
      "riscv64"));
  EXPECT_EQ(HasWord(riscv, "rv64imafdc"), true);
  EXPECT_EQ(HasWord(riscv, "v"), true);
  EXPECT_EQ(HasWord(riscv, "zicbom"), true);
  EXPECT_EQ(HasWord(riscv, "zbkb"), false) << "one hart lacks it";
}

TEST(ChipMatch, WordsThatCannotBeSeenAreNotHeldAgainstAMachineUnlessNoneCan) {
  ChipMarks marks;  // without the words of /proc/cpuinfo
  marks.arch = "x86_64";
  hy_isa_set(marks.isa.data(), HY_ISA_X86_AVX2);
  MatchRule rule;
  rule.arch = "x86_64";
  rule.isa = {"movbe", "avx2"};
  EXPECT_TRUE(Fits(rule, marks));
  rule.isa = {"movbe", "abm"};
  EXPECT_FALSE(Fits(rule, marks));
  rule.isa = {"movbe", "avx2", "fma"};
  EXPECT_FALSE(Fits(rule, marks));
}

TEST(ChipMatch, ChipBeatsFamilyBeatsGenericThenMoreWordsThenId) {
  ChipMarks marks;
  marks.arch = "x86_64";
  marks.texts = {"Acme board"};
  marks.isa = {~uint64_t{0}, 0};
  const auto make = [](std::string id, SheetKind kind, std::vector<std::string> isa) {
    ChipSheet sheet;
    sheet.id = std::move(id);
    sheet.kind = kind;
    sheet.match.arch = "x86_64";
    sheet.match.isa = std::move(isa);
    return sheet;
  };
  std::vector<ChipSheet> sheets = {make("g", SheetKind::kGeneric, {"avx", "avx2", "fma"}),
                                   make("f", SheetKind::kFamily, {"avx"}),
                                   make("f_more", SheetKind::kFamily, {"avx", "avx2"}),
                                   make("f_also", SheetKind::kFamily, {"avx", "fma"})};
  EXPECT_EQ(MatchChipSheet(sheets, marks)->id, "f_also");
  sheets.push_back(make("c", SheetKind::kChip, {}));
  EXPECT_EQ(MatchChipSheet(sheets, marks)->id, "c");
  sheets.back().match.hints = {"Other board"};
  EXPECT_EQ(MatchChipSheet(sheets, marks)->id, "f_also");
  sheets.back().match.hints = {"Other board", "Acme"};
  EXPECT_EQ(MatchChipSheet(sheets, marks)->id, "c");
}

TEST(ChipMatch, TheFirstMemoryThatFits) {
  ChipSheet sheet;
  sheet.memory.resize(2);
  sheet.memory[0].name = "of one board";
  sheet.memory[0].when_model_contains = {"Raspberry Pi 4"};
  sheet.memory[1].name = "of another";
  sheet.memory[1].when_model_contains = {"ROCK 3"};
  ChipMarks marks;
  EXPECT_EQ(FittingMemory(sheet, marks), nullptr);
  marks.texts = {"Radxa ROCK 3A"};
  EXPECT_EQ(FittingMemory(sheet, marks)->name, "of another");
  sheet.memory[0].when_model_contains.clear();
  EXPECT_EQ(FittingMemory(sheet, marks)->name, "of one board");
}

/// The machines of the simulator, each with the sheet that it must find.
TEST(ChipMatch, Fixtures) {
  const std::pair<const char*, const char*> kWanted[] = {
      {"a64fx", "a64fx"},
      {"a64fx_assistant", "a64fx"},
      {"kunpeng920_4n", "kunpeng920"},
      {"graviton3", "graviton3"},
      {"cix_p1", "cix_p1"},
      {"rpi4_a72", "cortex_a72"},
      {"z14", "z14"},
      {"ryzen_ccx", "zen4"},
      {"gh200_empty_nodes", ""},
      {"n1_a510_mix", ""},
      {"pixel6", ""},
      {"loongson_16k", "loongarch64_la464"},
      {"power9_sparse", ""},
      {"odroid_xu4", ""},
  };
  for (const auto& [fixture, wanted] : kWanted) {
    const auto view = hal::OpenSystemView(absl::StrCat(kFixtures, fixture, ".topo"));
    ASSERT_TRUE(view.ok()) << view.status();
    EXPECT_EQ(SheetOf(**view), wanted) << fixture;
  }
}

}  // namespace
}  // namespace halyard::facts
