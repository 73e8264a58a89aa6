// SPDX-License-Identifier: Apache-2.0
#include "conformance/filter.h"

#include <gtest/gtest.h>

namespace halyard::conformance {
namespace {

constexpr char kId[] = "L0/HAL-MEM-03/ZeroedMemoryReadsZero/mode=bare/port=linux";

bool Chosen(const char* filter) {
  return Filter(filter).Chooses("HAL-MEM-03", "ZeroedMemoryReadsZero", kId);
}

TEST(GlobTest, StarsAndQuestionMarks) {
  EXPECT_TRUE(GlobMatches("", ""));
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("a*c", "abbbc"));
  EXPECT_TRUE(GlobMatches("a*b*c", "a-b-b-c"));
  EXPECT_TRUE(GlobMatches("?b?", "abc"));
  EXPECT_TRUE(GlobMatches("**x", "aax"));
  EXPECT_FALSE(GlobMatches("a", "ab"));
  EXPECT_FALSE(GlobMatches("a?", "a"));
  EXPECT_FALSE(GlobMatches("*b", "abc"));
  EXPECT_FALSE(GlobMatches("", "a"));
}

TEST(GlobTest, ManyStarsEndSoon) {
  EXPECT_FALSE(GlobMatches("*a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST(FilterTest, ChoosesByDutyTestOrId) {
  EXPECT_TRUE(Chosen(""));
  EXPECT_TRUE(Chosen("HAL-MEM-*"));
  EXPECT_TRUE(Chosen("HAL-MEM-03"));
  EXPECT_TRUE(Chosen("ZeroedMemoryReadsZero"));
  EXPECT_TRUE(Chosen(kId));
  EXPECT_TRUE(Chosen("HAL-QRY-*:HAL-MEM-*"));
  EXPECT_FALSE(Chosen("HAL-QRY-*"));
  EXPECT_FALSE(Chosen("MEM"));
}

TEST(FilterTest, ExclusionsWin) {
  EXPECT_FALSE(Chosen("HAL-MEM-*:-HAL-MEM-03"));
  EXPECT_FALSE(Chosen("-*mode=bare*"));
  EXPECT_TRUE(Chosen("-HAL-QRY-*"));
  EXPECT_TRUE(Chosen("HAL-MEM-*:-*mode=fault*"));
}

}  // namespace
}  // namespace halyard::conformance
