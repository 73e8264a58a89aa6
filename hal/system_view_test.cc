// SPDX-License-Identifier: Apache-2.0
#include "hal/system_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "hal/bind.h"
#include "hal/cpuinfo.h"
#include "hal/test_image.h"
#include "hal/topology.h"

namespace halyard::hal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kHead[] = "@machine m\n@arch x86_64\n";

std::string ParseError(absl::string_view text) {
  const auto view = ParseSystemImage(text);
  if (view.ok()) return "no error";
  EXPECT_EQ(view.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(view.status().message());
}

TEST(SystemImageTest, ReadsLinesAndHeredocs) {
  const auto view = TestImage(
      "# a comment\n"
      "a/one = 1 = one\n"
      "a/empty =\n"
      "a/text <<END\n"
      "first\n"
      " # not a comment\n"
      "\n"
      "END\n"
      "a/one = 2\n");
  EXPECT_EQ(view->Read("a/one"), "2");
  EXPECT_EQ(view->Read("a/empty"), "");
  EXPECT_EQ(view->Read("a/text"), "first\n # not a comment\n");
  EXPECT_EQ(view->Read("a"), std::nullopt);
  EXPECT_EQ(view->Read("a/none"), std::nullopt);
  EXPECT_FALSE(view->is_live());
  EXPECT_EQ(view->source(), uint32_t{HY_SOURCE_FIXTURE});
  EXPECT_EQ(view->page_bytes(), 4096u);
}

TEST(SystemImageTest, ListsFoldersLikeAFileSystem) {
  const auto view = TestImage(
      "sys/node1-x/a = 1\nsys/node1/a = 1\nsys/node1/b/c = 1\nsys/node10/a = 1\nsys/node = 1\n");
  EXPECT_THAT(view->List("sys"), ElementsAre("node", "node1", "node1-x", "node10"));
  EXPECT_THAT(view->List("sys/node1"), ElementsAre("a", "b"));
  EXPECT_THAT(view->List("sy"), IsEmpty());
  EXPECT_THAT(view->List("sys/node"), IsEmpty());
}

TEST(SystemImageTest, ExpandsIndexes) {
  const auto view = TestImage(
      "cpu{0-1,7}/x = {} {+1} {*3} {/2} {%4} {x} {+} {\n"
      "cpu{7-8}/down = {-7}\n"
      "cpu{2}/list <<END\n"
      "Node {} a\n"
      "END\n"
      "plain = {}\n");
  EXPECT_EQ(view->Read("cpu7/x"), "7 8 21 3 3 {x} {+} {");
  EXPECT_EQ(view->Read("cpu0/x"), "0 1 0 0 0 {x} {+} {");
  EXPECT_EQ(view->Read("cpu8/down"), "1");
  EXPECT_EQ(view->Read("cpu2/list"), "Node 2 a");
  EXPECT_EQ(view->Read("plain"), "{}");
}

TEST(SystemImageTest, GivesTheIsaOfEachUnit) {
  const auto view = TestImage("@isa sse2,avx2\n@isa[4-5] sse2\n@page_bytes 65536\n");
  EXPECT_EQ(view->isa(0), IsaFromWords("x86_64", {"sse2", "avx2"}));
  EXPECT_EQ(view->isa(5), IsaFromWords("x86_64", {"sse2"}));
  EXPECT_EQ(view->page_bytes(), 65536u);
}

TEST(SystemImageTest, GivesFacts) {
  const auto facts = ImageFacts(absl::StrCat(kHead, "@expect a=1 b=x=y\n@expect c=3\n"));
  ASSERT_TRUE(facts.ok());
  using Fact = std::pair<std::string, std::string>;
  EXPECT_THAT(*facts,
              ElementsAre(Fact("a", "1"), Fact("b", "x=y"), Fact("c", "3"), Fact("machine", "m")));
}

TEST(SystemImageTest, ErrorsSayTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"nonsense\n", "line 3: expected"},
      {"/abs = 1\n", "line 3: '/abs' is no path"},
      {"a b = 1\n", "line 3: 'a b' is no path"},
      {"a//b = 1\n", "line 3: 'a//b' is no path"},
      {"a\tb = 1\n", "line 3: 'a\tb' is no path"},
      {"a}b = 1\n", "line 3: 'a}b' is no path"},
      {"# x\na{0 = 1\n", "line 4: '{' without '}'"},
      {"a{0-1}b{2} = 1\n", "line 3: more than one brace group"},
      {"a{1-0} = 1\n", "line 3: "},
      {"a{0-2} = {-1}\n", "line 3: '{-1}' is negative at 0"},
      {"a{0} = {/0}\n", "line 3: '{/0}' divides by zero"},
      {"a{0} = {+99999999999}\n", "line 3: '{+99999999999}'"},
      {"a <<END\nbody\n", "line 3: 'END' never comes"},
      {"a << \nbody\n", "line 3: no word after"},
      {"@what 1\n", "line 3: unknown directive @what"},
      {"@machine n\n", "line 3: second @machine"},
      {"@page_bytes 5000\n", "line 3: @page_bytes '5000'"},
      {"@page_bytes 0\n", "line 3: @page_bytes '0'"},
      {"@isa[x] a\n", "line 3: "},
      {"@isa[1 a\n", "line 3: expected"},
      {"@expect a\n", "line 3: @expect 'a'"},
  };
  for (const auto& [lines, message] : cases) {
    EXPECT_THAT(ParseError(absl::StrCat(kHead, lines)), HasSubstr(message)) << lines;
  }
  EXPECT_EQ(ParseError("@machine m\n"), "no @arch line");
  EXPECT_EQ(ParseError(""), "no @machine line");
}

TEST(SystemImageTest, BoundsWhatItExpandsTo) {
  std::string files = kHead;
  for (int i = 0; i < 17; ++i) absl::StrAppend(&files, "f{0-65535} = ", i, "\n");
  EXPECT_THAT(ParseError(files), HasSubstr("line 18: the image is too large"));
  const std::string bytes = absl::StrCat(kHead, "f{0-65535} = ", std::string(2000, 'x'), "\n");
  EXPECT_THAT(ParseError(bytes), HasSubstr("line 3: the image is too large"));
}

TEST(SystemImageTest, TakesWindowsLineEnds) {
  const auto view = TestImage("a = 1\r\nb <<END\r\nx\r\nEND\r\nc = 2\r\n");
  EXPECT_EQ(view->Read("a"), "1");
  EXPECT_EQ(view->Read("c"), "2");
}

class FolderTest : public testing::Test {
 protected:
  FolderTest() : root_(testing::TempDir() + "/halyard_view_" + std::to_string(getpid())) {}
  ~FolderTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  const std::filesystem::path root_;
};

TEST_F(FolderTest, ReadsBelowItsRoot) {
  Write("sys/a", "1\n");
  Write("sys/b", "1\n\n");
  Write("proc/long", std::string(100000, 'x'));
  for (const char* slash : {"", "/", "//"}) {
    const auto view = RealSystem(root_.string() + slash);
    EXPECT_EQ(view->Read("sys/a"), "1");
    EXPECT_EQ(view->Read("sys/b"), "1\n");
    EXPECT_EQ(view->Read("sys"), std::nullopt);
    EXPECT_EQ(view->Read("proc/long")->size(), 100000u);
    EXPECT_THAT(view->List("sys"), ElementsAre("a", "b"));
    EXPECT_FALSE(view->is_live());
  }
}

TEST_F(FolderTest, APipeDoesNotHang) {
  std::filesystem::create_directories(root_);
  ASSERT_EQ(mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(RealSystem(root_.string())->Read("pipe").value_or(""), "");
}

TEST_F(FolderTest, AnotherRootSaysItsArchAndIsa) {
  Write("proc/sys/kernel/arch", "aarch64\n");
  Write("proc/cpuinfo",
        "processor\t: 0\nFeatures\t: fp asimd asimddp\n\n"
        "processor\t: 4\nFeatures\t: fp asimd\n");
  const auto view = RealSystem(root_.string());
  EXPECT_EQ(view->arch(), "aarch64");
  EXPECT_EQ(view->isa(0), IsaFromWords("aarch64", {"asimd", "asimddp"}));
  EXPECT_EQ(view->isa(4), IsaFromWords("aarch64", {"asimd"}));
}

TEST_F(FolderTest, OpensByWhatIsThere) {
  EXPECT_EQ(OpenSystemView((root_ / "none").string()).status().code(), absl::StatusCode::kNotFound);
  Write("bad.topo", "what\n");
  const absl::Status bad = OpenSystemView((root_ / "bad.topo").string()).status();
  EXPECT_EQ(bad.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bad.message()), HasSubstr("bad.topo: line 1: "));
  Write("good.topo", absl::StrCat(kHead, "a = 1\n"));
  const auto image = OpenSystemView((root_ / "good.topo").string());
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ((*image)->Read("a"), "1");
  const auto folder = OpenSystemView(root_.string());
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ((*folder)->source(), uint32_t{HY_SOURCE_SYSFS});
}

TEST(LiveSystemTest, OnlyTheRealRootIsLive) {
  EXPECT_TRUE(RealSystem()->is_live());
  EXPECT_TRUE(RealSystem("/")->is_live());
  EXPECT_FALSE(RealSystem("/nowhere")->is_live());
  EXPECT_EQ(RealSystem()->isa(0), LiveIsa());
  EXPECT_FALSE(RealSystem()->arch().empty());
}

TEST(CpuinfoTest, KnowsTheFormsOfTheArchitectures) {
  const auto riscv = ParseCpuinfo("riscv64",
                                  "processor\t: 0\nhart\t\t: 2\nisa\t\t: rv64imafdcv_zba\n\n"
                                  "processor\t: 1\nisa\t: rv64imafdc\nhart isa\t: rv64imafdcv\n");
  ASSERT_EQ(riscv.size(), 2u);
  EXPECT_TRUE(hy_isa_has(riscv[0].isa.data(), HY_ISA_RISCV_ZBA));
  EXPECT_TRUE(hy_isa_has(riscv[1].isa.data(), HY_ISA_RISCV_V));
  const auto s390 = ParseCpuinfo("s390x",
                                 "vendor_id       : IBM/S390\nfeatures\t: esan3 vx vxe\n"
                                 "processor 0: version = 00,  identification = 1\n"
                                 "processor 7: version = 00,  identification = 1\n");
  ASSERT_EQ(s390.size(), 2u);
  EXPECT_EQ(s390[1].os_id, 7u);
  EXPECT_EQ(CpuinfoIsa(s390, 7), IsaFromWords("s390x", {"vx", "vxe"}));
  const auto arm =
      ParseCpuinfo("armv7l", "Processor : ARMv7 rev 1\nprocessor : 3\nFeatures : neon\n");
  ASSERT_EQ(arm.size(), 1u);
  EXPECT_EQ(arm[0].os_id, 3u);
  EXPECT_EQ(CpuinfoIsa(arm, 9), IsaFromWords("armv7l", {"neon"}));
  EXPECT_THAT(ParseCpuinfo("x86_64", ""), IsEmpty());
}

// What a capture writes by name must come back as the same bit.
TEST(IsaWordsTest, NamesComeBackAsBits) {
  for (const char* arch :
       {"x86_64", "aarch64", "riscv64", "ppc64le", "s390x", "armv7l", "loongarch64"}) {
    for (uint32_t bit = 0; bit < HY_ISA_VENDOR_FIRST; ++bit) {
      const std::string name(IsaName(bit));
      const int back = IsaBit(arch, name);
      if (name.empty() || back < 0) continue;
      EXPECT_EQ(IsaName(static_cast<uint32_t>(back)), name);
    }
  }
}

}  // namespace
}  // namespace halyard::hal
