// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<uint32_t> Parsed(absl::string_view text) {
  auto ids = ParseCpuList(text);
  EXPECT_TRUE(ids.ok()) << ids.status();
  return ids.ok() ? *ids : std::vector<uint32_t>{};
}

TEST(CpuListTest, ReadsWhatTheKernelWrites) {
  EXPECT_THAT(Parsed("0"), ElementsAre(0));
  EXPECT_THAT(Parsed("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(Parsed("0-7/3"), ElementsAre(0, 3, 6));
  EXPECT_THAT(Parsed("5-5"), ElementsAre(5));
}

TEST(CpuListTest, BlankTextIsTheEmptySet) {
  EXPECT_THAT(Parsed(""), IsEmpty());
  EXPECT_THAT(Parsed(" \n"), IsEmpty());
}

TEST(CpuListTest, SortsAndDropsRepeats) {
  EXPECT_THAT(Parsed("8,0-2,1-3,8"), ElementsAre(0, 1, 2, 3, 8));
}

TEST(CpuListTest, RefusesWhatTheKernelWouldNotWrite) {
  for (const char* text : {",", "0,", ",0", "-", "1-", "-1", "3-1", "0-3/0", "0-3/", "0x1", "+1",
                           "a", "0 1", "0, 1", "1-2-3", "4294967296", "0-4294967295", "(null)"}) {
    EXPECT_EQ(ParseCpuList(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(CpuListTest, HoldsAtMost65536Ids) {
  EXPECT_EQ(Parsed("0-65535").size(), 65536u);
  EXPECT_THAT(std::string(ParseCpuList("0-65536").status().message()), HasSubstr("65536"));
  EXPECT_FALSE(ParseCpuList("0-65535,70000").ok());
}

TEST(CpuListTest, LargeIdsDoNotWrap) {
  EXPECT_THAT(Parsed("4294967295"), ElementsAre(4294967295u));
  EXPECT_THAT(Parsed("4294967290-4294967295/4"), ElementsAre(4294967290u, 4294967294u));
}

TEST(CpuListTest, ErrorsQuoteAtMostOneLine) {
  const auto status = ParseCpuList(std::string(5000, 'x')).status();
  EXPECT_LT(status.message().size(), 200u);
}

TEST(CpuListTest, WritesTheShortestText) {
  EXPECT_EQ(FormatCpuList({}), "");
  EXPECT_EQ(FormatCpuList({7}), "7");
  EXPECT_EQ(FormatCpuList({8, 3, 2, 1, 0, 3}), "0-3,8");
  EXPECT_EQ(FormatCpuList({0, 1, 4, 6, 7}), "0-1,4,6-7");
}

TEST(CpuListTest, WritingAndReadingGivesTheSame) {
  for (const char* text : {"", "0", "0-3,8", "0,2,4", "0-1,4294967294-4294967295"}) {
    EXPECT_EQ(FormatCpuList(Parsed(text)), text);
  }
}

}  // namespace
}  // namespace halyard
