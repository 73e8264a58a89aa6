// SPDX-License-Identifier: Apache-2.0
#include "conformance/expectations.h"

#include <gtest/gtest.h>

namespace halyard::conformance {
namespace {

constexpr char kText[] = R"(
unsupported:
  - test: "HAL-MEM-09*"
    reason: one page size
expected_failures:
  - {test: "L0/HAL-TIM-02/*", reason: counter stops, issue: "https://example.com/12", since: "2026-01-31"}
)";

CaseResult Case(const char* duty, Verdict verdict) {
  CaseResult one;
  one.duty = duty;
  one.id = std::string("L0/") + duty + "/T/mode=bare/port=p";
  one.verdict = verdict;
  one.reason = verdict == Verdict::kPass ? "" : "seen";
  return one;
}

TEST(ExpectationsTest, ReadsBothLists) {
  const absl::StatusOr<Expectations> read = ParseExpectations(kText);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->unsupported.size(), 1u);
  EXPECT_EQ(read->unsupported[0].reason, "one page size");
  ASSERT_EQ(read->expected_failures.size(), 1u);
  EXPECT_EQ(read->expected_failures[0].since, "2026-01-31");
  EXPECT_NE(read->FindUnsupported(Case("HAL-MEM-09", Verdict::kSkip), "T"), nullptr);
  EXPECT_EQ(read->FindUnsupported(Case("HAL-MEM-08", Verdict::kSkip), "T"), nullptr);
}

TEST(ExpectationsTest, WaivesFailuresOnly) {
  const Expectations list = *ParseExpectations(kText);
  CaseResult one = Case("HAL-TIM-02", Verdict::kFail);
  list.Apply("T", &one);
  EXPECT_EQ(one.verdict, Verdict::kWaived);
  EXPECT_NE(one.reason.find("https://example.com/12"), std::string::npos);
  EXPECT_NE(one.reason.find("seen"), std::string::npos);
  one = Case("HAL-TIM-02", Verdict::kPass);
  list.Apply("T", &one);
  EXPECT_EQ(one.verdict, Verdict::kXpass);
  EXPECT_TRUE(CountsAsFailed(one.verdict));
  for (const Verdict verdict : {Verdict::kCrash, Verdict::kTimeout, Verdict::kSkip}) {
    one = Case("HAL-TIM-02", verdict);
    list.Apply("T", &one);
    EXPECT_EQ(one.verdict, verdict) << "a crash is no known failure";
  }
  one = Case("HAL-TIM-01", Verdict::kFail);
  list.Apply("T", &one);
  EXPECT_EQ(one.verdict, Verdict::kFail);
}

TEST(ExpectationsTest, AnEmptyFileExpectsNothing) {
  EXPECT_TRUE(ParseExpectations("").ok());
  EXPECT_TRUE(ParseExpectations("unsupported:\nexpected_failures:\n").ok());
}

TEST(ExpectationsTest, RefusesWhatItCannotRead) {
  for (const char* text :
       {"- a", "unsupported: {test: x}", "unsupported: [{test: x}]", "unsupported: [{reason: x}]",
        "unsupported: [{test: x, reason: y, issue: z}]", "expected: []", "unsupported: ['x']",
        "expected_failures: [{test: x, reason: y}]",
        "expected_failures: [{test: x, reason: y, issue: z}]", "unsupported: [", "a: b: c"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseExpectations(text).status())) << text;
  }
  EXPECT_TRUE(absl::IsNotFound(ReadExpectations("/no/such/file").status()));
}

}  // namespace
}  // namespace halyard::conformance
