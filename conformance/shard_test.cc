// SPDX-License-Identifier: Apache-2.0
#include "conformance/shard.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "conformance/runner.h"

namespace halyard::conformance {
namespace {

std::vector<std::string> Ids() {
  std::vector<std::string> ids;
  for (int i = 0; i < 200; ++i) ids.push_back(absl::StrCat("L0/HAL-X-", i, "/T/mode=bare/port=p"));
  return ids;
}

std::vector<RunResult> MakeShards(uint32_t shards) {
  std::vector<RunResult> results(shards);
  for (uint32_t i = 0; i < shards; ++i) {
    RunResult& result = results[i];
    result.level = "L0";
    result.port = "p";
    result.shard = i + 1;
    result.shards = shards;
    result.facts = {
        {kCaseCountFact, "200"}, {kCaseDigestFact, ListDigest(Ids())}, {"machine", "m"}};
    result.seconds = 1;
  }
  for (const std::string& id : Ids()) {
    CaseResult one;
    one.id = id;
    one.verdict = Verdict::kPass;
    results[ShardOf(id, shards) - 1].cases.push_back(one);
  }
  return results;
}

TEST(ShardTest, DigestsDoNotChange) {
  // Ids and shards of old reports must stay what they are.
  EXPECT_EQ(Digest("L0/HAL-MEM-03"), UINT64_C(0x641e3e5a32b2039e));
  EXPECT_NE(Digest("a"), Digest("b"));
  EXPECT_EQ(ListDigest({"a", "b"}), ListDigest({"b", "a"}));
  EXPECT_NE(ListDigest({"a", "b"}), ListDigest({"a", "c"}));
}

TEST(ShardTest, EveryShardGetsItsShare) {
  std::vector<int> counts(4);
  for (const std::string& id : Ids()) {
    const uint32_t shard = ShardOf(id, 4);
    ASSERT_GE(shard, 1u);
    ASSERT_LE(shard, 4u);
    ++counts[shard - 1];
  }
  for (const int count : counts) EXPECT_GT(count, 20);
}

TEST(MergeTest, JoinsWhatBelongsTogether) {
  const absl::StatusOr<RunResult> merged = MergeShards(MakeShards(3));
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->cases.size(), 200u);
  EXPECT_EQ(merged->shards, 1u);
  EXPECT_EQ(merged->seconds, 3);
  EXPECT_EQ(merged->Summarise().passed, 200u);
}

TEST(MergeTest, RefusesWhatDoesNot) {
  EXPECT_TRUE(absl::IsInvalidArgument(MergeShards({}).status()));
  std::vector<RunResult> shards = MakeShards(3);
  shards.pop_back();
  EXPECT_TRUE(absl::IsInvalidArgument(MergeShards(shards).status())) << "a shard is missing";
  shards = MakeShards(3);
  shards[1].cases.push_back(shards[0].cases[0]);
  EXPECT_TRUE(absl::IsInvalidArgument(MergeShards(shards).status())) << "a case is there twice";
  shards = MakeShards(3);
  shards[1].cases[0].id = "another";
  EXPECT_TRUE(absl::IsInvalidArgument(MergeShards(shards).status())) << "a case of another list";
  shards = MakeShards(3);
  shards[1].facts[2].second = "another machine";
  EXPECT_TRUE(absl::IsInvalidArgument(MergeShards(shards).status()));
  shards = MakeShards(3);
  shards[2].device = "another device";
  EXPECT_TRUE(absl::IsInvalidArgument(MergeShards(shards).status()));
}

}  // namespace
}  // namespace halyard::conformance
