// SPDX-License-Identifier: Apache-2.0
#include "ops/case.h"

#include <gtest/gtest.h>

namespace halyard::ops {
namespace {

TEST(CaseTest, TextGoesThereAndBack) {
  const std::string text =
      "matmul/f32.q4_k.f32/M=37,N=3,K=768/dist=lossless/lay=pad64+off4/seed=17";
  const absl::StatusOr<Case> c = ParseCase(text);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->op, "matmul");
  EXPECT_EQ(c->types, (std::vector<uint32_t>{HY_TYPE_F32, HY_TYPE_Q4_K, HY_TYPE_F32}));
  EXPECT_EQ(c->dim("K"), 768);
  EXPECT_EQ(c->dim("B", 5), 5);
  EXPECT_EQ(c->dist, "lossless");
  EXPECT_EQ(c->lay, "pad64+off4");
  EXPECT_EQ(c->seed, 17u);
  EXPECT_EQ(CaseText(*c), text);
}

TEST(CaseTest, NoDimsAndNegativeOnes) {
  for (const char* text : {"op/f32//dist=uniform/lay=dense/seed=1",
                           "op/none.i32/a=-5/dist=uniform/lay=dense/seed=18446744073709551615"}) {
    const absl::StatusOr<Case> c = ParseCase(text);
    ASSERT_TRUE(c.ok()) << c.status();
    EXPECT_EQ(CaseText(*c), text);
  }
}

TEST(CaseTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"matmul", "needs op/types"},
      {"m/f33/M=1/dist=a/lay=b/seed=1", "'f33' is no type"},
      {"m/f32/M/dist=a/lay=b/seed=1", "'M' is not NAME=INTEGER"},
      {"m/f32/M=x/dist=a/lay=b/seed=1", "'M=x' is not"},
      {"m/f32/M=1/a/lay=b/seed=1", "dist="},
      {"m/f32/M=1/dist=a/b/seed=1", "lay="},
      {"m/f32/M=1/dist=a/lay=b/seed=-1", "seed="},
      {"m/f32/M=1,M=2/dist=a/lay=b/seed=1", "'M' is there twice"},
      {"/f32/M=1/dist=a/lay=b/seed=1", "no op"},
  };
  for (const auto& [text, what] : wrong) {
    const absl::StatusOr<Case> c = ParseCase(text);
    ASSERT_FALSE(c.ok()) << text;
    EXPECT_EQ(c.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(c.status().message().find(what), std::string::npos) << c.status();
  }
}

}  // namespace
}  // namespace halyard::ops
