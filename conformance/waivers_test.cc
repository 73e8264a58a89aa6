// SPDX-License-Identifier: Apache-2.0
#include "conformance/waivers.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "conformance/ops/op_facts.h"
#include "conformance/report/report.h"

namespace halyard::conformance {
namespace {

constexpr char kFile[] = R"yaml(
waivers:
  - id: W-1
    cases: "L1/softmax/bf16.*"
    kernel: "softmax/any/fast@acme"
    reason: "the table of exp has 10 bits"
    issue: "https://example.com/issues/12"
    expires: 2026-05-31
    max_err_T: 2.5
    approved_by: "Jo Doe"
)yaml";

absl::StatusOr<std::vector<Waiver>> With(const std::string& from, const std::string& to) {
  return ParseWaivers(absl::StrReplaceAll(kFile, {{from, to}}), "2026-01-02T03:04:05Z");
}

std::string Problem(const std::string& from, const std::string& to) {
  return std::string(With(from, to).status().message());
}

RunResult RunWith(Verdict verdict, const std::string& error, bool off_by_numbers = true) {
  RunResult run;
  run.level = "L1";
  run.port = "linux";
  run.started_utc = "2026-01-02T03:04:05Z";
  run.facts = {{kScopeFact, kWholeList}, {"machine", "Acme X1 rev 2"}};
  run.waivers = *With("", "");
  CaseResult one;
  one.level = "L1";
  one.duty = "softmax";
  one.title = "bf16.bf16";
  one.mode = "softmax/any/fast@acme";
  one.id = "L1/softmax/bf16.bf16/rows=3/kern=softmax/any/fast@acme";
  one.verdict = verdict;
  one.reason = "1 of 9 are wrong";
  one.facts = {{kModeFact, "B"}, {kErrorFact, error}};
  if (off_by_numbers) one.facts.emplace_back(kOffByNumbersFact, "yes");
  run.cases.push_back(one);
  one.id += "2";
  one.title = "f32.f32";
  one.id = absl::StrReplaceAll(one.id, {{"bf16.bf16", "f32.f32"}});
  one.verdict = Verdict::kPass;
  run.cases.push_back(one);
  return run;
}

TEST(WaiverFileTest, IsReadWhole) {
  const absl::StatusOr<std::vector<Waiver>> waivers = With("", "");
  ASSERT_TRUE(waivers.ok()) << waivers.status();
  ASSERT_EQ(waivers->size(), 1u);
  EXPECT_EQ(waivers->front().id, "W-1");
  EXPECT_EQ(waivers->front().expires, "2026-05-31");
  EXPECT_EQ(waivers->front().max_error, 2.5);
  EXPECT_EQ(waivers->front().device, "");
}

TEST(WaiverFileTest, SaysWhatIsWrong) {
  EXPECT_NE(Problem("approved_by", "approved").find("W-1: unknown key 'approved'"),
            std::string::npos);
  for (const char* key : {"id", "cases", "kernel", "reason", "issue", "expires", "approved_by"}) {
    const std::string without = absl::StrCat("device: x\n    #");
    EXPECT_NE(Problem(absl::StrCat(key, ": "), without).find(absl::StrCat("no '", key, "'")),
              std::string::npos)
        << key << ": " << Problem(absl::StrCat(key, ": "), without);
  }
  EXPECT_NE(Problem("max_err_T: 2.5", "").find("max_err_T"), std::string::npos);
  for (const char* error : {"inf", "nan", "-1", "0", "much"}) {
    EXPECT_NE(Problem("2.5", error).find("max_err_T"), std::string::npos) << error;
  }
  EXPECT_NE(Problem("L1/softmax", "L1/*").find("L1/OP/"), std::string::npos);
  EXPECT_NE(Problem("L1/softmax/", "*").find("L1/OP/"), std::string::npos);
  EXPECT_NE(Problem("softmax/any/fast@acme", "*").find("every kernel"), std::string::npos);
  EXPECT_NE(Problem("https://", "").find("'issue'"), std::string::npos);
  EXPECT_NE(Problem("2026-05-31", "2026-02-30").find("no date"), std::string::npos);
  EXPECT_NE(Problem("2026-05-31", "soon").find("no date"), std::string::npos);
  EXPECT_NE(Problem("waivers:", "waiver:").find("'waivers'"), std::string::npos);
  EXPECT_FALSE(ParseWaivers("waivers: [", "2026-01-02").ok());
  EXPECT_TRUE(ParseWaivers("waivers: []", "2026-01-02").ok());
  const std::string twice = std::string(kFile) + std::string(kFile).substr(10);
  EXPECT_NE(ParseWaivers(twice, "2026-01-02").status().message().find("twice"), std::string::npos);
}

TEST(WaiverFileTest, AtMost180DaysAhead) {
  EXPECT_TRUE(With("2026-05-31", "2026-07-01").ok());
  EXPECT_NE(Problem("2026-05-31", "2026-07-02").find("180 days"), std::string::npos);
  EXPECT_TRUE(With("2026-05-31", "2025-01-01").ok()) << "over, which is for the run to say";
}

TEST(WaiverTest, CoversNumbersUpToItsLimit) {
  RunResult run = RunWith(Verdict::kFail, "2.4");
  ApplyWaivers(&run);
  EXPECT_EQ(run.cases[0].verdict, Verdict::kWaived);
  EXPECT_NE(run.cases[0].reason.find("W-1 until 2026-05-31"), std::string::npos);
  EXPECT_EQ(run.cases[1].verdict, Verdict::kPass) << "of other types";
  EXPECT_TRUE(WaiverTroubles(run).empty());
  EXPECT_FALSE(FailsByWaiversAlone(run));
  EXPECT_NE(ToHtmlSection(run).find("1 waived by 1 waivers"), std::string::npos);
  const absl::StatusOr<RunResult> back = FromJson(ToJson(run).dump());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(ToJson(*back), ToJson(run));
}

TEST(WaiverTest, NeverCoversWhatIsNotANumber) {
  RunResult run = RunWith(Verdict::kFail, "2.6");
  ApplyWaivers(&run);
  EXPECT_EQ(run.cases[0].verdict, Verdict::kFail) << "more than its limit";
  run = RunWith(Verdict::kFail, "inf");
  ApplyWaivers(&run);
  EXPECT_EQ(run.cases[0].verdict, Verdict::kFail) << "a wrong bit of an exact case";
  run = RunWith(Verdict::kFail, "0.5", false);
  ApplyWaivers(&run);
  EXPECT_EQ(run.cases[0].verdict, Verdict::kFail) << "NaN, a status, a row that is not its own";
  for (const Verdict verdict :
       {Verdict::kCrash, Verdict::kTimeout, Verdict::kMemoryViolation, Verdict::kAbiViolation,
        Verdict::kNondeterministic, Verdict::kToolchainFault}) {
    run = RunWith(verdict, "0.5");
    ApplyWaivers(&run);
    EXPECT_EQ(run.cases[0].verdict, verdict) << VerdictName(verdict);
    EXPECT_FALSE(FailsByWaiversAlone(run));
  }
}

TEST(WaiverTest, OneThatNothingNeedsIsTrouble) {
  RunResult run = RunWith(Verdict::kNotSupported, "0");
  ApplyWaivers(&run);
  ASSERT_EQ(WaiverTroubles(run).size(), 1u);
  EXPECT_TRUE(FailsByWaiversAlone(run));
  run.facts[0].second = kChosenCases;
  EXPECT_TRUE(WaiverTroubles(run).empty()) << "what it covers may be among the others";
}

TEST(WaiverTest, APassIsTrouble) {
  RunResult run = RunWith(Verdict::kPass, "0.5");
  ApplyWaivers(&run);
  EXPECT_EQ(run.cases[0].verdict, Verdict::kXpass);
  EXPECT_TRUE(FailsByWaiversAlone(run));
  run.cases[1].verdict = Verdict::kFail;
  EXPECT_FALSE(FailsByWaiversAlone(run)) << "something else fails as well";
}

TEST(WaiverTest, ADayThatIsOverIsTrouble) {
  RunResult run = RunWith(Verdict::kFail, "2");
  run.started_utc = "2026-05-31T23:59:59Z";
  RunResult late = run;
  late.started_utc = "2026-06-01T00:00:01Z";
  ApplyWaivers(&run);
  EXPECT_EQ(run.cases[0].verdict, Verdict::kWaived) << "its last day";
  ApplyWaivers(&late);
  EXPECT_EQ(late.cases[0].verdict, Verdict::kFail);
  EXPECT_NE(ToText(late, false).find("W-1 is over since 2026-05-31"), std::string::npos);
  EXPECT_TRUE(FailsByWaiversAlone(late));
}

TEST(WaiverTest, OfAnotherDeviceItSaysNothing) {
  RunResult run = RunWith(Verdict::kFail, "2");
  run.waivers[0].device = "Acme X2*";
  ApplyWaivers(&run);
  EXPECT_EQ(run.cases[0].verdict, Verdict::kFail);
  run.waivers[0].device = "Acme X1*";
  ApplyWaivers(&run);
  EXPECT_EQ(run.cases[0].verdict, Verdict::kWaived);
}

TEST(DayTest, CountsFrom1970) {
  EXPECT_EQ(*DayOf("1970-01-01"), 0);
  EXPECT_EQ(*DayOf("2026-01-02T03:04:05Z"), 20455);
  for (const char* wrong : {"", "2026", "2026-1-2", "2026-13-01", "2026-02-29", "2026-01-02x"}) {
    EXPECT_FALSE(DayOf(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace halyard::conformance
