// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/coverage.h"

#include <gtest/gtest.h>

#include "conformance/ops/op_facts.h"
#include "conformance/report/report.h"

namespace halyard::conformance {
namespace {

constexpr char kKernel[] = "softmax/any/fast@acme";

RunResult MakeRun(const std::string& scope = kWholeList) {
  RunResult run;
  run.level = "L1";
  run.port = "linux";
  run.facts = {{kScopeFact, scope}, {"mutants_killed", "25/25"}};
  return run;
}

CaseResult& Add(RunResult& run, Verdict verdict, const std::string& mode) {
  CaseResult one;
  one.level = "L1";
  one.duty = "softmax";
  one.title = "f32.f32";
  one.mode = kKernel;
  one.id =
      "L1/softmax/f32.f32/rows=3,cols=" + std::to_string(run.cases.size()) + "/kern=" + kKernel;
  one.verdict = verdict;
  one.facts = {{"edges", "X01 X23"}};
  if (!mode.empty()) one.facts.emplace_back(kModeFact, mode);
  if (verdict == Verdict::kWeak) one.reason = "the bound hides a dropped term (power 0.20)";
  run.cases.push_back(one);
  return run.cases.back();
}

TEST(CoverageTest, CountsByEdgeWithThoseOfEveryCase) {
  RunResult run = MakeRun();
  Add(run, Verdict::kPass, "E");
  Add(run, Verdict::kFail, "B");
  Add(run, Verdict::kWeak, "B");
  Add(run, Verdict::kNotSupported, "");
  const std::vector<KernelCoverage> all = CoverageOf(run);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].counts.passed, 1u);
  EXPECT_EQ(all[0].counts.failed, 1u);
  EXPECT_EQ(all[0].counts.weak, 1u);
  EXPECT_EQ(all[0].counts.skipped, 1u);
  EXPECT_EQ(all[0].telling, 1u);
  EXPECT_EQ(all[0].exact, 1u);
  EXPECT_EQ(all[0].edges.at("X23").ran(), 3u) << "a skipped case covers nothing";
  EXPECT_EQ(all[0].edges.at("X11").passed, 1u) << "of every case";
}

TEST(CoverageTest, WorstCasesAreThoseOfBoundsAndFailures) {
  RunResult run = MakeRun();
  Add(run, Verdict::kPass, "B")
      .facts.insert(run.cases.back().facts.end(), {{kErrorFact, "0.5"}, {kUlpFact, "2"}});
  Add(run, Verdict::kPass, "B")
      .facts.insert(run.cases.back().facts.end(), {{kErrorFact, "0.7"}, {kUlpFact, "1"}});
  Add(run, Verdict::kPass, "E")
      .facts.insert(run.cases.back().facts.end(), {{kErrorFact, "0"}, {kUlpFact, "0"}});
  KernelCoverage one = CoverageOf(run).front();
  EXPECT_EQ(one.worst_error, &run.cases[1]);
  EXPECT_EQ(one.worst_ulp, &run.cases[0]);
  Add(run, Verdict::kFail, "E")
      .facts.insert(run.cases.back().facts.end(), {{kErrorFact, "inf"}, {kUlpFact, "9"}});
  one = CoverageOf(run).front();
  EXPECT_EQ(one.worst_error, &run.cases[3]) << "infinite is more than any number";
}

TEST(VacuityTest, OneTellingCaseIsEnough) {
  RunResult run = MakeRun();
  for (int i = 0; i < 5; ++i) Add(run, Verdict::kWeak, "B");
  ASSERT_EQ(Unshown(run).size(), 1u);
  EXPECT_EQ(Unshown(run)[0], std::string(kKernel) + " on f32.f32: 5 weak");
  EXPECT_FALSE(Holds(run));
  Add(run, Verdict::kPass, "B");
  EXPECT_TRUE(Unshown(run).empty());
  EXPECT_TRUE(Holds(run)) << "weak cases alone do not fail a run of level L1";
}

TEST(VacuityTest, SafetyAndEdgesAloneShowNothing) {
  RunResult run = MakeRun();
  Add(run, Verdict::kPass, "S");
  Add(run, Verdict::kPass, "E").facts.emplace_back(kEdgeOnlyFact, "there is nothing to compute");
  EXPECT_EQ(Unshown(run).size(), 1u);
  run.facts[0].second = kChosenCases;
  EXPECT_TRUE(Unshown(run).empty()) << "whoever chooses an edge gets edges";
  Add(run, Verdict::kWeak, "B");
  EXPECT_EQ(Unshown(run).size(), 1u) << "but a weak case that stands alone is named";
}

TEST(VacuityTest, ShardsReplaysAndChecksAreNoGround) {
  RunResult run = MakeRun();
  Add(run, Verdict::kWeak, "B");
  run.shards = 2;
  EXPECT_TRUE(Unshown(run).empty());
  run.shards = 1;
  run.facts[0].second = kOneCase;
  EXPECT_TRUE(Unshown(run).empty());
  run = MakeRun();
  Add(run, Verdict::kPass, "P").id = "L1/softmax/check=masked-isa/kern=x";
  EXPECT_TRUE(Unshown(run).empty());
  run = MakeRun();
  Add(run, Verdict::kPassFallback, "S").mode = "auto";
  EXPECT_TRUE(Unshown(run).empty());
}

TEST(VacuityTest, OfLevelL0AWeakCaseDoesNotHold) {
  RunResult run = MakeRun();
  run.level = "L0";
  Add(run, Verdict::kWeak, "").level = "L0";
  EXPECT_FALSE(Holds(run));
}

TEST(OpsReportTest, WeakCasesAreCountedNotListed) {
  RunResult run = MakeRun();
  for (int i = 0; i < 5; ++i) Add(run, Verdict::kWeak, "B");
  const std::string text = ToText(run, false);
  EXPECT_EQ(text.find("replay:"), std::string::npos) << text;
  EXPECT_NE(text.find("  5  the bound hides a dropped term (softmax, ...)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("nothing is shown of  softmax/any/fast@acme on f32.f32"), std::string::npos);
}

TEST(OpsReportTest, ThePageHasTheMatrixAndWorstCases) {
  RunResult run = MakeRun();
  Add(run, Verdict::kPass, "B")
      .facts.insert(run.cases.back().facts.end(), {{kErrorFact, "0.5"}, {kUlpFact, "2"}});
  Add(run, Verdict::kWeak, "B");
  const std::string html = ToHtmlSection(run);
  EXPECT_NE(html.find("Operators and kernels on port linux"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"p\">1 <i>1</i></td>"), std::string::npos) << html;
  EXPECT_NE(html.find("halyard conform replay " + run.cases[0].id), std::string::npos);
  EXPECT_NE(html.find("found 25/25"), std::string::npos);
  EXPECT_EQ(html.find("What does not hold"), std::string::npos);
}

TEST(OpsReportTest, TheDocumentHasTheMatrix) {
  RunResult run = MakeRun();
  Add(run, Verdict::kPass, "E");
  const nlohmann::json document = ToJson(run);
  const nlohmann::json& kernel = document["coverage"]["kernels"][0];
  EXPECT_EQ(kernel["kernel"], kKernel);
  EXPECT_EQ(kernel["edges"]["X23"], nlohmann::json({1, 0, 0, 0}));
  EXPECT_EQ(document["coverage"]["mutants"]["killed"], "25/25");
  EXPECT_EQ(document["summary"]["holds"], true);
  const absl::StatusOr<RunResult> back = FromJson(document.dump());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(ToJson(*back), document);
}

}  // namespace
}  // namespace halyard::conformance
