// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/diff.h"

#include <gtest/gtest.h>

#include "conformance/ops/op_facts.h"

namespace halyard::conformance {
namespace {

RunResult RunOf(const std::vector<std::pair<std::string, Verdict>>& cases) {
  RunResult run;
  run.level = "L1";
  run.started_utc = "2026-01-02T03:04:05Z";
  for (const auto& [id, verdict] : cases) {
    CaseResult one;
    one.id = id;
    one.level = "L1";
    one.mode = "k@acme";
    one.verdict = verdict;
    run.cases.push_back(one);
  }
  return run;
}

TEST(DiffTest, SortsChanges) {
  const RunResult before = RunOf({{"a", Verdict::kPass},
                                  {"b", Verdict::kFail},
                                  {"c", Verdict::kSkip},
                                  {"d", Verdict::kPass},
                                  {"e", Verdict::kPass},
                                  {"f", Verdict::kFail},
                                  {"g", Verdict::kPass},
                                  {"h", Verdict::kSkip}});
  RunResult after = RunOf({{"a", Verdict::kCrash},
                           {"b", Verdict::kPass},
                           {"c", Verdict::kPass},
                           {"d", Verdict::kPass},
                           {"e", Verdict::kWeak},
                           {"f", Verdict::kTimeout},
                           {"new", Verdict::kPass},
                           {"h", Verdict::kFail}});
  after.cases[0].reason = "a < b";
  const absl::StatusOr<RunDiff> diff = DiffRuns(before, after);
  ASSERT_TRUE(diff.ok()) << diff.status();
  ASSERT_EQ(diff->worse.size(), 3u);
  EXPECT_EQ(diff->worse[0].id, "a");
  EXPECT_EQ(diff->worse[1].id, "e");
  EXPECT_EQ(diff->worse[2].id, "h") << "it was skipped, and fails now that it runs";
  ASSERT_EQ(diff->better.size(), 1u);
  EXPECT_EQ(diff->better[0].id, "b");
  EXPECT_EQ(diff->other.size(), 2u);
  EXPECT_EQ(diff->added, 1u);
  EXPECT_EQ(diff->gone, 1u);
  const std::string text = DiffToText(*diff);
  EXPECT_NE(text.find("3 worse, 1 better, 2 changed otherwise, 1 new, 1 gone"), std::string::npos);
  EXPECT_NE(text.find("pass -> crash  a  -- a < b"), std::string::npos) << text;
  EXPECT_NE(DiffToHtml(*diff).find("a &lt; b"), std::string::npos);
  EXPECT_EQ(DiffToJson(*diff)["worse"][0]["after"], "crash");
}

TEST(DiffTest, NamesKernelsWhoseErrorMoved) {
  RunResult before = RunOf({{"a", Verdict::kPass}});
  RunResult after = before;
  before.cases[0].facts = {{kErrorFact, "0.4"}};
  after.cases[0].facts = {{kErrorFact, "0.45"}};
  EXPECT_TRUE(DiffRuns(before, after)->errors.empty()) << "less than a quarter";
  after.cases[0].facts = {{kErrorFact, "0.8"}};
  ASSERT_EQ(DiffRuns(before, after)->errors.size(), 1u);
  EXPECT_EQ(DiffRuns(before, after)->errors[0].kernel, "k@acme");
}

TEST(DiffTest, RefusesAnotherLevel) {
  RunResult before = RunOf({});
  before.level = "L0";
  EXPECT_TRUE(absl::IsInvalidArgument(DiffRuns(before, RunOf({})).status()));
}

}  // namespace
}  // namespace halyard::conformance
