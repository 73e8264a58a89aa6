// SPDX-License-Identifier: Apache-2.0
#include "conformance/bundle/bundle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "conformance/bundle/sha256.h"
#include "conformance/bundle/spot_check.h"
#include "conformance/ops/op_facts.h"
#include "conformance/report/report.h"
#include "conformance/runner.h"
#include "conformance/shard.h"
#include "conformance/suite_version.h"
#include "conformance/waivers.h"

namespace halyard::conformance {
namespace {

constexpr char kNow[] = "2026-01-03";

RunResult RunOf(const std::string& level, int cases = 4) {
  RunResult run;
  run.level = level;
  run.port = "linux";
  run.started_utc = "2026-01-02T03:04:05Z";
  std::vector<std::string> ids;
  for (int i = 0; i < cases; ++i) {
    CaseResult one;
    one.level = level;
    one.duty = level == "L0" ? "HAL-MEM-03" : "softmax";
    one.title = "f32.f32";
    one.mode = "softmax/any/fast@acme";
    one.id = level == "L0" ? absl::StrCat("L0/HAL-MEM-03/T", i, "/mode=bare/port=linux")
                           : absl::StrCat("L1/softmax/f32.f32/rows=3,cols=", i,
                                          "/dist=normal/lay=dense/seed=1/thr=1/kern=", one.mode);
    one.verdict = Verdict::kPass;
    if (level == "L1") one.facts = {{kModeFact, "E"}, {kErrorFact, "0"}, {kUlpFact, "0"}};
    ids.push_back(one.id);
    run.cases.push_back(one);
  }
  run.facts = {{kScopeFact, kWholeList},
               {kCaseCountFact, absl::StrCat(cases)},
               {kCaseDigestFact, ListDigest(ids)},
               {"machine", "Acme X1"},
               {kSuiteFact, "0.1.0"},
               {kCommitFact, "abc"},
               {kDirtyFact, "no"}};
  return run;
}

Statement Signed() {
  Statement statement;
  statement.product = "Acme Box";
  statement.contact = "jo@example.com";
  return statement;
}

std::vector<BundleFile> Pack(const std::vector<RunResult>& runs) {
  std::vector<std::string> documents;
  for (const RunResult& run : runs) documents.push_back(ToJson(run).dump());
  Statement statement = Signed();
  const absl::StatusOr<std::vector<BundleFile>> files = MakeBundle(documents, &statement);
  EXPECT_TRUE(files.ok()) << files.status();
  return files.ok() ? *files : std::vector<BundleFile>{};
}

BundleReport Verified(const std::vector<BundleFile>& files, const std::string& date = kNow) {
  const absl::StatusOr<BundleReport> report = VerifyBundle(files, date);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : BundleReport{};
}

std::string& ContentsOf(std::vector<BundleFile>& files, const std::string& path) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const BundleFile& file) { return file.path == path; });
  EXPECT_NE(found, files.end()) << path;
  return found->contents;
}

// As somebody does who edits a bundle and knows how manifests are made.
void Edit(std::vector<BundleFile>& files, const std::string& path, const std::string& from,
          const std::string& to) {
  std::string& contents = ContentsOf(files, path);
  const std::string before = Sha256(contents);
  ASSERT_NE(contents.find(from), std::string::npos) << from;
  contents = absl::StrReplaceAll(contents, {{from, to}});
  std::string& manifest = ContentsOf(files, kManifestName);
  manifest = absl::StrReplaceAll(manifest, {{before, Sha256(contents)}});
}

bool Has(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST(BundleTest, GoodOnesHold) {
  const BundleReport report = Verified(Pack({RunOf("L0"), RunOf("L1")}));
  EXPECT_TRUE(report.faults.empty()) << report.faults.front();
  EXPECT_TRUE(report.waivers.empty());
  EXPECT_EQ(report.level, "Halyard Ops");
  EXPECT_EQ(report.statement.product, "Acme Box");
  EXPECT_EQ(report.statement.part, "Acme X1");
  EXPECT_EQ(Verified(Pack({RunOf("L0")})).level, "Halyard HAL");
  EXPECT_EQ(Verified(Pack({RunOf("L1")})).level, kNoLevel) << "it stands on the HAL";
}

TEST(BundleTest, ShardsAreJoinedAndNoneMayBeMissing) {
  const RunResult whole = RunOf("L1", 20);
  std::vector<RunResult> shards(2, whole);
  for (uint32_t i = 0; i < 2; ++i) {
    shards[i].shard = i + 1;
    shards[i].shards = 2;
    shards[i].cases.clear();
  }
  for (const CaseResult& one : whole.cases) {
    shards[ShardOf(one.id, 2) - 1].cases.push_back(one);
  }
  const std::vector<BundleFile> files = Pack({RunOf("L0"), shards[0], shards[1]});
  EXPECT_TRUE(Verified(files).faults.empty());
  EXPECT_EQ(Verified(files).level, "Halyard Ops");
  Statement statement = Signed();
  const std::vector<std::string> one = {ToJson(shards[0]).dump()};
  EXPECT_TRUE(absl::IsInvalidArgument(MakeBundle(one, &statement).status()));
}

TEST(BundleTest, ChangedFilesAreSeen) {
  std::vector<BundleFile> files = Pack({RunOf("L0")});
  ContentsOf(files, kStatementName) += " ";
  EXPECT_TRUE(Has(Verified(files).faults, "STATEMENT has another digest"));
  files = Pack({RunOf("L0")});
  files.push_back({"results/extra.json", "{}"});
  EXPECT_TRUE(Has(Verified(files).faults, "extra.json is not in the manifest"));
  files = Pack({RunOf("L0")});
  files.erase(files.begin() + 2);
  EXPECT_FALSE(VerifyBundle(files, kNow).ok() && Verified(files).faults.empty());
  EXPECT_TRUE(absl::IsInvalidArgument(VerifyBundle({}, kNow).status()));
}

TEST(BundleTest, EditedResultsAreSeenThoughTheManifestFits) {
  RunResult failing = RunOf("L0");
  failing.cases[0].verdict = Verdict::kFail;
  failing.cases[0].reason = "wrong";
  std::vector<BundleFile> files = Pack({failing});
  EXPECT_TRUE(Has(Verified(files).faults, "fail  L0/HAL-MEM-03/T0"));
  EXPECT_EQ(Verified(files).level, kNoLevel);
  Edit(files, "results/L0.json", "\"verdict\":\"fail\"", "\"verdict\":\"pass\"");
  EXPECT_TRUE(Has(Verified(files).faults, "the summary is not that of the cases"));
  files = Pack({failing});
  Edit(files, kStatementName, "level: none", "level: Halyard HAL");
  EXPECT_TRUE(Has(Verified(files).faults, "the statement says 'Halyard HAL'"));
  files = Pack({RunOf("L0")});
  Edit(files, "results/L0.json", "/T0/", "/T9/");
  EXPECT_TRUE(Has(Verified(files).faults, "do not hold the cases of the run's list"));
}

TEST(BundleTest, FilteredRunsShowNoLevel) {
  RunResult run = RunOf("L0");
  run.facts[0].second = kChosenCases;
  const BundleReport report = Verified(Pack({run}));
  EXPECT_TRUE(Has(report.faults, "not of the whole list"));
  EXPECT_EQ(report.level, kNoLevel);
}

TEST(BundleTest, RunsOfOneSuiteAndMachine) {
  RunResult other = RunOf("L1");
  other.facts[5].second = "def";
  EXPECT_TRUE(Has(Verified(Pack({RunOf("L0"), other})).faults, "differ in source_commit"));
}

RunResult WaivedRun() {
  RunResult run = RunOf("L1");
  run.waivers = {{"W-1", "L1/softmax/*cols=0*", "*@acme", "", "known", "https://example.com/1",
                  "2026-02-01", "Jo Doe", 2.0}};
  run.cases[0].verdict = Verdict::kFail;
  run.cases[0].reason = "1 of 9 are wrong";
  run.cases[0].facts = {
      {kModeFact, "B"}, {kErrorFact, "1.5"}, {kUlpFact, "1"}, {kOffByNumbersFact, "yes"}};
  ApplyWaivers(&run);
  return run;
}

TEST(BundleTest, WaiversMustCoverAndBeValid) {
  std::vector<BundleFile> files = Pack({RunOf("L0"), WaivedRun()});
  EXPECT_TRUE(Verified(files).faults.empty()) << Verified(files).faults.front();
  EXPECT_TRUE(Verified(files).waivers.empty());
  EXPECT_EQ(Verified(files).statement.waivers, "1 cases, 1 waivers");
  EXPECT_TRUE(Has(Verified(files, "2026-02-02").waivers, "W-1 is over since 2026-02-01"));
  EXPECT_TRUE(Verified(files, "2026-02-01").waivers.empty());
  Edit(files, "results/L1.json", "\"max_err_T\":2.0", "\"max_err_T\":1.0");
  EXPECT_TRUE(Has(Verified(files).faults, "no waiver covers what is waived"));
  files = Pack({RunOf("L0"), WaivedRun()});
  Edit(files, "results/L1.json", "2026-02-01", "2027-02-01");
  EXPECT_TRUE(Has(Verified(files).faults, "no day within 180 days"));
}

TEST(StatementTest, ComesBackAsItWas) {
  Statement statement = Signed();
  Complete({RunOf("L0")}, &statement);
  const absl::StatusOr<Statement> back = ParseStatement(StatementText(statement));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(StatementText(*back), StatementText(statement));
  EXPECT_FALSE(ParseStatement("product: x\n").ok());
  EXPECT_FALSE(ParseStatement(StatementText(statement) + "product: y\n").ok());
  EXPECT_FALSE(ParseStatement(StatementText(statement) + "more: y\n").ok());
}

TEST(SpotCheckTest, DrawsExactCasesWithOtherSeeds) {
  RunResult run = RunOf("L1", 2000);
  for (int i = 0; i < 1000; ++i) run.cases[static_cast<size_t>(i)].facts[0].second = "B";
  const std::vector<std::string> ids = SpotCases(run, 7);
  EXPECT_EQ(ids.size(), 10u);
  EXPECT_NE(ids, SpotCases(run, 8));
  EXPECT_EQ(ids, SpotCases(run, 7));
  for (const std::string& id : ids) EXPECT_EQ(id.find("/seed=1/"), std::string::npos) << id;
}

TEST(Sha256Test, IsTheDigest) {
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace halyard::conformance
