// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "conformance/report/areas.h"
#include "conformance/runner.h"

namespace halyard::conformance {
namespace {

// Texts that hurt: markup, quotes, bytes that are no text, a control character.
constexpr char kNasty[] = "a < b && \"c\" > 'd'\n\x01 \xff ]]>";

RunResult Sample() {
  RunResult run;
  run.level = "L0";
  run.port = "./lib <x>.so";
  run.port_origin = "/opt/x.so";
  run.port_version = "1.2";
  run.device = "x:0";
  run.device_name = "X & Y";
  run.started_utc = "2026-01-02T03:04:05Z";
  run.seconds = 2.5;
  run.shard = 2;
  run.shards = 3;
  run.facts = {{"arch", "riscv64"}, {"kernel", "Linux 6.1"}};
  const Verdict verdicts[] = {Verdict::kPass, Verdict::kFail, Verdict::kCrash,  Verdict::kTimeout,
                              Verdict::kWeak, Verdict::kSkip, Verdict::kWaived, Verdict::kXpass};
  int number = 1;
  for (const Verdict verdict : verdicts) {
    CaseResult one;
    one.duty = number % 2 == 0 ? "HAL-MEM-03" : "HAL-QUE-01";
    one.id = "L0/" + one.duty + "/Test" + std::to_string(number++) + "/mode=bare/port=x.so";
    one.level = "L0";
    one.title = "With ZERO every byte reads 0.";
    one.mode = "bare";
    one.verdict = verdict;
    if (verdict != Verdict::kPass) one.reason = "because of something";
    if (CountsAsFailed(verdict)) {
      one.findings = {{"because of something", "conformance/hal/x.cc", 7}, {"more", "", 0}};
    }
    one.seconds = 0.25;
    one.facts = {{"bytes", "17"}};
    run.cases.push_back(one);
  }
  return run;
}

// A strict little reader of elements: names match, attributes are quoted, no stray markup.
std::optional<std::string> XmlProblem(const std::string& xml) {
  std::vector<std::string> open;
  size_t at = xml.find("?>");
  if (at == std::string::npos) return "no declaration";
  at += 2;
  while (at < xml.size()) {
    const size_t begin = xml.find('<', at);
    const std::string text = xml.substr(at, begin == std::string::npos ? begin : begin - at);
    if (text.find('>') != std::string::npos) return "a bare '>' in text: " + text;
    if (begin == std::string::npos) break;
    const size_t end = xml.find('>', begin);
    if (end == std::string::npos) return "an element without end";
    std::string element = xml.substr(begin + 1, end - begin - 1);
    if (std::count(element.begin(), element.end(), '"') % 2 != 0) return "quotes in " + element;
    const std::string name = element.substr(0, element.find_first_of(" /", 1));
    if (element[0] == '/') {
      if (open.empty() || open.back() != element.substr(1)) return "unmatched " + element;
      open.pop_back();
    } else if (element.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  if (!open.empty()) return "not closed: " + open.back();
  for (const char c : xml) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x7f || (byte < 0x20 && c != '\n' && c != '\t')) return "a byte that XML lacks";
  }
  return std::nullopt;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(JsonTest, ComesBackAsItWas) {
  const RunResult run = Sample();
  const absl::StatusOr<RunResult> back = FromJson(ToJson(run).dump());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(ToJson(*back), ToJson(run));
  EXPECT_EQ(back->cases[1].findings[0].line, 7);
  EXPECT_EQ(back->cases[3].verdict, Verdict::kTimeout);
  EXPECT_EQ(back->shard, 2u);
}

TEST(JsonTest, HasTheSummaryThatOthersRead) {
  const nlohmann::json document = ToJson(Sample());
  EXPECT_EQ(document["summary"]["passed"], 1);
  EXPECT_EQ(document["summary"]["failed"], 4);
  EXPECT_EQ(document["summary"]["weak"], 1);
  EXPECT_EQ(document["summary"]["skipped"], 1);
  EXPECT_EQ(document["summary"]["waived"], 1);
  EXPECT_EQ(document["cases"][1]["verdict"], "fail");
  EXPECT_EQ(document["cases"][1]["reason"], "because of something");
}

TEST(JsonTest, SaysWhatIsWrong) {
  const auto problem = [](const nlohmann::json& document) {
    return std::string(FromJson(document.dump()).status().message());
  };
  EXPECT_FALSE(FromJson("{").ok());
  EXPECT_NE(problem(nlohmann::json::array()).find("no object"), std::string::npos);
  nlohmann::json document = ToJson(Sample());
  document.erase("port");
  EXPECT_EQ(problem(document), "port is missing");
  document = ToJson(Sample());
  document["cases"][2]["verdict"] = "fine";
  EXPECT_NE(problem(document).find("cases[2].verdict"), std::string::npos);
  document = ToJson(Sample());
  document["cases"][0]["seconds"] = "long";
  EXPECT_EQ(problem(document), "cases[0].seconds is no number");
  document = ToJson(Sample());
  document["schema"] = "other/9";
  EXPECT_NE(problem(document).find("schema"), std::string::npos);
}

TEST(ReplayLineTest, NamesTheLibrariesThatTheCaseNeeds) {
  RunResult run = Sample();
  SetFact(kKernelFilesFact, "./a.so:/b c.so", &run);
  const std::string line = ReplayLine(run, run.cases[1]);
  EXPECT_NE(line.find(" --kernels ./a.so --kernels '/b c.so'"), std::string::npos) << line;
}

TEST(ReplayLineTest, OpensThePortAsTheRunDid) {
  RunRequest request;
  request.device = "sim:1";
  request.options = {{"queue_depth", "4"}, {"system", "/a b"}};
  RunResult run = Sample();
  AddOpenFacts(request, &run);
  const std::string line = ReplayLine(run, run.cases[1]);
  EXPECT_NE(line.find(" --device sim:1 --option queue_depth=4 --option 'system=/a b'"),
            std::string::npos)
      << line;
}

TEST(ScopeTest, APartOfTheGraphsIsNotTheWholeList) {
  RunRequest request;
  request.level = "graph";
  EXPECT_EQ(ScopeOf(request), kWholeList);
  request.ops.op = "rmsnorm";
  EXPECT_EQ(ScopeOf(request), kChosenCases);
}

TEST(JsonTest, ALineKeepsBytesThatAreNoText) {
  CaseResult one = Sample().cases[1];
  one.reason = kNasty;
  const std::string line = CaseToJsonLine(one);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const absl::StatusOr<CaseResult> back = CaseFromJsonLine(line);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->id, one.id);
  EXPECT_EQ(back->reason.substr(0, 8), std::string(kNasty).substr(0, 8));
}

TEST(JUnitTest, IsWellFormedWhateverTheTexts) {
  RunResult run = Sample();
  for (CaseResult& one : run.cases) {
    one.reason = kNasty;
    one.id += kNasty;
  }
  run.facts.emplace_back("nasty", kNasty);
  EXPECT_EQ(XmlProblem(ToJUnit(run)).value_or(""), "");
}

TEST(JUnitTest, CountsAndNamesEachCase) {
  const std::string xml = ToJUnit(Sample());
  EXPECT_EQ(XmlProblem(xml).value_or(""), "");
  EXPECT_NE(
      xml.find("<testsuites name=\"halyard L0 ./lib &lt;x&gt;.so\" tests=\"8\" failures=\"2\" "
               "errors=\"2\" skipped=\"3\""),
      std::string::npos)
      << xml;
  EXPECT_EQ(Count(xml, "<testsuite "), 2u);
  EXPECT_EQ(Count(xml, "<testcase "), 8u);
  EXPECT_EQ(Count(xml, "<failure "), 2u);
  EXPECT_EQ(Count(xml, "<error "), 2u);
  EXPECT_EQ(Count(xml, "<skipped "), 3u);
  EXPECT_EQ(Count(xml, "replay: halyard conform replay"), 4u);
}

TEST(HtmlTest, FoldsWhatManyFailuresRepeat) {
  RunResult run = Sample();
  CaseResult failure = run.cases[1];
  failure.level = "L2";
  failure.duty = "add-rmsnorm-quantize";
  run.level = "L2";
  run.cases.assign(30, failure);
  const std::string html = ToHtmlSection(run);
  EXPECT_NE(html.find("<td class=\"num\">30</td><td>add-rmsnorm-quantize</td>"), std::string::npos);
  EXPECT_NE(html.find("<summary>10 more</summary>"), std::string::npos);
  EXPECT_NE(html.find("<tr><td>add-rmsnorm-quantize</td><td><span"), std::string::npos) << html;
}

TEST(HtmlTest, ShowsFailuresFirstAndEscapes) {
  RunResult run = Sample();
  run.cases[1].reason = kNasty;
  const std::string html = ToHtmlSection(run);
  EXPECT_EQ(html.find("a < b"), std::string::npos);
  EXPECT_NE(html.find("a &lt; b &amp;&amp;"), std::string::npos);
  EXPECT_NE(html.find("does not hold"), std::string::npos);
  EXPECT_LT(html.find("What does not hold"), html.find("By area"));
  EXPECT_EQ(Count(html, "<details>"), 2u);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  for (const char* tag : {"section", "table", "tr", "td", "details", "p", "pre", "h2", "h3"}) {
    EXPECT_EQ(Count(html, std::string("<") + tag + ">") + Count(html, std::string("<") + tag + " "),
              Count(html, std::string("</") + tag + ">"))
        << tag;
  }
}

TEST(TextTest, NamesFailuresSkipsAndTheSum) {
  const std::string text = ToText(Sample(), false);
  EXPECT_NE(text.find("1 passed, 4 failed, 1 weak, 1 waived, 1 skipped"), std::string::npos)
      << text;
  EXPECT_NE(text.find("conformance/hal/x.cc:7"), std::string::npos);
  EXPECT_NE(text.find("replay: halyard conform replay"), std::string::npos);
  EXPECT_NE(text.find("--port './lib <x>.so'"), std::string::npos) << "quoted for a shell";
  EXPECT_EQ(text.find("Test1/"), std::string::npos) << "a pass is not listed";
  EXPECT_NE(ToText(Sample(), true).find("Test1/"), std::string::npos);
}

TEST(TextTest, ARunOfSelftestSaysItsScore) {
  RunResult run = Sample();
  EXPECT_EQ(ToText(run, false).find("Deliberate faults"), std::string::npos);
  run.facts.emplace_back("mutants_killed", "24/25");
  run.facts.emplace_back("reserve_mutants_killed", "9/10");
  run.facts.emplace_back("graph_mutants_killed", "0/0");
  const std::string text = ToText(run, false);
  EXPECT_NE(text.find("faults found: 24/25 broken kernels and machines, 9/10 reserves\n"),
            std::string::npos);
}

TEST(VerdictTest, FailuresAreWhatTheyAre) {
  for (const Verdict verdict :
       {Verdict::kFail, Verdict::kCrash, Verdict::kTimeout, Verdict::kXpass}) {
    EXPECT_TRUE(CountsAsFailed(verdict)) << VerdictName(verdict);
  }
  for (const Verdict verdict : {Verdict::kPass, Verdict::kSkip, Verdict::kWaived, Verdict::kWeak}) {
    EXPECT_FALSE(CountsAsFailed(verdict)) << VerdictName(verdict);
  }
}

}  // namespace
}  // namespace halyard::conformance
