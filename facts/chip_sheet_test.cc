// SPDX-License-Identifier: Apache-2.0
#include "facts/chip_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "halyard/hal_types.h"

namespace halyard::facts {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* const kSource = HALYARD_TEST_SOURCE_DIR;

// A sheet of a chip that is nowhere, with a value in every place. Lines are counted below.
constexpr char kGood[] = R"(schema: 1
id: acme_x1
name: Acme X1
kind: chip
match:
  arch: aarch64
  midr: [{implementer: 0x41, part: 0xd01}]
  x86: []
  hints: ["Acme"]
  isa: [asimd]
core_classes:
  - {name: core, microarchitecture: Acme One, count: 8, max_mhz: unknown, smt: 1}
isa: [asimd, asimddp]
isa_optional:
  - {word: sve, note: "Of the second stepping."}
isa_absent:
  - {word: bf16, note: "Whatever is said of it."}
vector_bits: {asimd: 128}
caches:
  - {level: 1, type: data, kib: 64, line_bytes: 64, per: core, class: core}
memory:
  - {name: two, when_model_contains: [], channels: 2, type: DDR4, mt_s: 3200, bus_bits: 64, theoretical_gb_s: 51.2}
numa: {nodes_per_socket: [1, 2], note: "Set by firmware."}
pages: {base_bytes: [4096], note: "Usual."}
bandwidth: {min_ok_share: 0.5, reason: "Few misses in flight."}
checked: {how: none, model: "", note: "Made for a test."}
sources:
  - what: [match, core_classes, isa, isa_optional, isa_absent, vector_bits, caches, memory, numa, pages]
    title: "The data book"
    url: https://example.org/x1
    opened: true
)";

std::string Refusal(const std::string& text) {
  const absl::StatusOr<ChipSheet> sheet = ParseChipSheet("chips/acme_x1.yaml", text);
  if (sheet.ok()) return "it was accepted";
  EXPECT_EQ(sheet.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(sheet.status().message());
}

struct Wrong {
  const char* name;
  const char* from;  // in kGood, once
  const char* to;
  const char* refusal;
};

constexpr Wrong kWrong[] = {
    {"UnknownKey", "isa: [asimd, asimddp]", "iso: [asimd, asimddp]", "line 13: unknown key 'iso'"},
    {"MissingKey", "pages: {base_bytes: [4096], note: \"Usual.\"}\n", "", "'pages' is missing"},
    {"RepeatedKey", "kind: chip\n", "kind: chip\nname: Another\n", "line 5: key 'name'"},
    {"UnknownInnerKey", "smt: 1}", "smt: 1, turbo: 2}", "line 12: unknown key 'turbo'"},
    {"MissingInnerKey", ", smt: 1}", "}", "line 12: key 'smt' is missing"},
    {"RepeatedInnerKey", "smt: 1}", "smt: 1, smt: 2}", "line 12: key 'smt'"},
    {"SchemaOfAnotherTime", "schema: 1", "schema: 2", "'schema' must be 1"},
    {"SchemaAsText", "schema: 1", "schema: \"1\"", "line 1: 'schema' must be a whole number"},
    {"Kind", "kind: chip", "kind: board", "line 4: 'kind' must be one of: generic, family, chip"},
    {"NumberForText", "name: Acme X1", "name: 920", "line 3: 'name' must be a text"},
    {"TruthForText", "name: Acme X1", "name: yes", "line 3: 'name' must be a text"},
    {"NothingForText", "name: Acme X1", "name:", "line 3: 'name' must be a text"},
    {"BlankText", "name: Acme X1", "name: \" \"", "line 3: 'name' must be a text, not blank"},
    {"ListForText", "name: Acme X1", "name: [Acme, X1]", "line 3: 'name' must be a text"},
    {"TextForList", "isa: [asimd, asimddp]", "isa: asimd", "line 13: 'isa' must be a list"},
    {"TextForMap", "vector_bits: {asimd: 128}", "vector_bits: asimd", "line 18: expected a map"},
    {"TextForCount", "count: 8", "count: eight", "line 12: 'count' must be a whole number"},
    {"QuotedCount", "count: 8", "count: \"8\"", "line 12: 'count' must be a whole number"},
    {"NegativeCount", "count: 8", "count: -8", "line 12: 'count' must be a whole number"},
    {"NoCount", "count: 8", "count: 0", "line 12: 'count' must be a whole number above 0"},
    {"Fraction", "kib: 64", "kib: 64.5", "line 20: 'kib' must be a whole number"},
    {"CacheType", "type: data", "type: victim", "line 20: 'type' must be one of"},
    {"CacheSharers", "per: core, class", "per: thread, class", "line 20: 'per' must be one of"},
    {"CacheClass", "class: core}", "class: big}", "unknown core class 'big'"},
    {"Rate", "gb_s: 51.2", "gb_s: 0", "line 22: 'theoretical_gb_s' must be a number above 0"},
    {"Share", "min_ok_share: 0.5", "min_ok_share: 1.5", "line 25: min_ok_share must be below 1"},
    {"ShareWithoutRate", "gb_s: 51.2", "gb_s: unknown", "'bandwidth' must be there exactly when"},
    {"Flag", "opened: true", "opened: maybe", "line 31: 'opened' must be true or false"},
    {"IdOfAnotherFile", "id: acme_x1", "id: acme_x2", "id 'acme_x2' is not the file's name"},
    {"MatchPromise", "  isa: [asimd]", "  isa: [asimd, i8mm]", "match asks for 'i8mm'"},
    {"NotYaml", "name: Acme X1", "name: [Acme", "line "},
    {"NotAscii", "Acme One", "Acm\xc3\xa9 One", "line 12: not ASCII"},
    {"TwoDocuments", "schema: 1\n", "---\nschema: 1\n---\n", "expected one YAML document"},
};

class WrongSheet : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongSheet, IsRefusedWithTheLine) {
  const Wrong& wrong = GetParam();
  ASSERT_THAT(kGood, HasSubstr(wrong.from));
  const std::string text = absl::StrReplaceAll(kGood, {{wrong.from, wrong.to}});
  EXPECT_THAT(Refusal(text), StartsWith("chips/acme_x1.yaml: "));
  EXPECT_THAT(Refusal(text), HasSubstr(wrong.refusal));
}

INSTANTIATE_TEST_SUITE_P(All, WrongSheet, ::testing::ValuesIn(kWrong),
                         [](const auto& one) { return one.param.name; });

TEST(ChipSheet, GoodOneIsReadWhole) {
  const absl::StatusOr<ChipSheet> sheet = ParseChipSheet("acme_x1.yaml", kGood);
  ASSERT_TRUE(sheet.ok()) << sheet.status();
  EXPECT_EQ(sheet->id, "acme_x1");
  EXPECT_EQ(sheet->kind, SheetKind::kChip);
  EXPECT_THAT(sheet->match.midr, ElementsAre(MidrPart{0x41, 0xd01}));
  EXPECT_THAT(sheet->match.hints, ElementsAre("Acme"));
  ASSERT_EQ(sheet->core_classes.size(), 1u);
  EXPECT_EQ(sheet->core_classes[0].count, 8u);
  EXPECT_EQ(sheet->core_classes[0].max_mhz, std::nullopt);
  EXPECT_THAT(sheet->isa, ElementsAre("asimd", "asimddp"));
  EXPECT_EQ(sheet->isa_optional[0].word, "sve");
  EXPECT_EQ(sheet->isa_absent[0].note, "Whatever is said of it.");
  EXPECT_THAT(sheet->vector_bits, ElementsAre(std::pair<std::string, uint32_t>("asimd", 128)));
  EXPECT_EQ(sheet->caches[0].kind, uint32_t{HY_CACHE_DATA});
  EXPECT_EQ(sheet->caches[0].core_class, "core");
  EXPECT_EQ(sheet->memory[0].theoretical_gb_per_s, 51.2);
  EXPECT_THAT(sheet->nodes_per_socket, ElementsAre(1, 2));
  EXPECT_EQ(sheet->min_ok_share, 0.5);
  EXPECT_EQ(sheet->checked_how, "none");
}

TEST(ChipSheet, OnlyGenericSheetsMatchByWordsAlone) {
  const std::string text = absl::StrReplaceAll(
      kGood, {{"[{implementer: 0x41, part: 0xd01}]", "[]"}, {"hints: [\"Acme\"]", "hints: []"}});
  EXPECT_THAT(Refusal(text), HasSubstr("only a generic sheet may match by ISA words alone"));
}

TEST(ChipSheet, HugeAndDeepAndRepeatedFilesAreRefused) {
  EXPECT_THAT(Refusal(absl::StrCat(kGood, "#", std::string(300'000, 'x'))),
              HasSubstr("larger than 256 KiB"));
  EXPECT_THAT(Refusal(std::string(100'000, '[')), HasSubstr("acme_x1.yaml: "));
  // A short text that an alias makes long: 1,000 lists of 1,000 words.
  std::string words = "x";
  std::string lists = "{what: *a, title: t, url: u, opened: true}";
  for (int i = 1; i < 1000; ++i) {
    words += ", x";
    lists += ", {what: *a, title: t, url: u, opened: true}";
  }
  const std::string bomb = absl::StrReplaceAll(
      kGood, {{"isa: [asimd, asimddp]", absl::StrCat("isa: &a [", words, "]")},
              {"sources:\n", absl::StrCat("sources: [", lists, "]\nothers:\n")}});
  EXPECT_THAT(Refusal(bomb), HasSubstr("'what' holds too much"));
}

TEST(ChipSheet, EverySheetOfTheTreeReads) {
  const absl::StatusOr<std::vector<ChipSheet>> sheets =
      ReadChipSheets(absl::StrCat(kSource, "/ports/chips"));
  ASSERT_TRUE(sheets.ok()) << sheets.status();
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(absl::StrCat(kSource, "/ports/chips"))) {
    if (entry.path().extension() == ".yaml") ++files;
  }
  EXPECT_EQ(sheets->size(), files);
  const absl::StatusOr<ChipSheet> kunpeng = FindChipSheet(*sheets, "kunpeng920");
  ASSERT_TRUE(kunpeng.ok()) << kunpeng.status();
  EXPECT_EQ(kunpeng->core_classes[0].count, 64u);
  EXPECT_EQ(kunpeng->memory[0].theoretical_gb_per_s, 187.7);
  EXPECT_THAT(std::string(FindChipSheet(*sheets, "kunpeng921").status().message()),
              HasSubstr("there are: a64fx "));
}

TEST(ChipSheet, FoldersAndFilesThatAreNotThere) {
  EXPECT_EQ(ReadChipSheets("/nonexistent/chips").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadChipSheet("/nonexistent/x.yaml").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadChipSheet(kSource).status().code(), absl::StatusCode::kNotFound);  // a folder
}

/// Two readers of one schema: what this one refuses, tools/check_chips.py refuses too.
class BothReaders : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / absl::StrCat("chips", ::getpid());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    fs::create_directories(folder_ / name);
    const fs::path path = folder_ / name / "acme_x1.yaml";
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  fs::path folder_;
};

TEST_F(BothReaders, Agree) {
  std::string files = Write("Good", kGood);
  for (const Wrong& wrong : kWrong) {
    absl::StrAppend(&files, " ",
                    Write(wrong.name, absl::StrReplaceAll(kGood, {{wrong.from, wrong.to}})));
  }
  const std::string command =
      absl::StrCat("python3 ", kSource, "/tools/check_chips.py ", files, " 2>&1");
  FILE* const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  char chunk[4096];
  while (const size_t got = fread(chunk, 1, sizeof chunk, pipe)) text.append(chunk, got);
  const int status = pclose(pipe);
  if (!absl::StrContains(text, " sheets, ")) {
    GTEST_SKIP() << "check_chips.py cannot run here (" << status << "): " << text;
  }
  std::vector<std::string> verdicts;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::EndsWith(line, " acme_x1")) verdicts.emplace_back(line);
  }
  ASSERT_EQ(verdicts.size(), 1 + std::size(kWrong)) << text;
  EXPECT_THAT(verdicts[0], StartsWith("ok"));
  for (size_t i = 0; i < std::size(kWrong); ++i) {
    EXPECT_THAT(verdicts[i + 1], StartsWith("FAULT")) << kWrong[i].name;
  }
}

}  // namespace
}  // namespace halyard::facts
