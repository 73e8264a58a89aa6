// SPDX-License-Identifier: Apache-2.0
//
// What is special to the contracts of attention and kv_append; what every contract refuses is tested
// for all ops together.
#include "ops/attention/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ops/kv_append/contract.h"
#include "ops/test_builtin.h"
#include "ops/test_run.h"

namespace halyard::ops {
namespace {

using testing::HasSubstr;

struct AttentionArgs {
  TestTensor q{HY_TYPE_F32, {3, 4, 32}};
  TestTensor k{HY_TYPE_F16, {5, 2, 8, 32}};
  TestTensor v{HY_TYPE_F16, {5, 2, 8, 32}};
  TestTensor table{HY_TYPE_I32, {2, 2}, {0, 1, 2, 3}};
  TestTensor q_start{HY_TYPE_I32, {3}, {0, 2, 3}};
  TestTensor kv_len{HY_TYPE_I32, {2}, {9, 4}};
  TestTensor y{HY_TYPE_F32, {3, 4, 32}};
  hy_attention_args args = {sizeof args,
                            1,
                            0.125f,
                            0,
                            0,
                            0,
                            q.view(),
                            k.view(),
                            v.view(),
                            table.view(),
                            q_start.view(),
                            kv_len.view(),
                            y.view()};

  std::string Refusal() const {
    hy_why why = {};
    const hy_status status = FindOp("attention").desc->validate(&args, &why);
    return status == HY_OK ? "" : std::string(why.text);
  }
};

TEST(AttentionContract, TakesWhatIsRight) { EXPECT_EQ(AttentionArgs().Refusal(), ""); }

TEST(AttentionContract, RefusesOptions) {
  AttentionArgs a;
  a.args.causal = 2;
  EXPECT_THAT(a.Refusal(), HasSubstr("causal"));
  a.args.causal = 0;
  for (const float scale : {NAN, INFINITY}) {
    a.args.scale = scale;
    EXPECT_THAT(a.Refusal(), HasSubstr("scale"));
  }
  a.args.scale = -1;
  EXPECT_EQ(a.Refusal(), "");
  for (const float cap : {NAN, INFINITY, -1.0f}) {
    a.args.soft_cap = cap;
    EXPECT_THAT(a.Refusal(), HasSubstr("soft_cap"));
  }
  a.args.soft_cap = 30;
  a.args.window = -1;
  EXPECT_THAT(a.Refusal(), HasSubstr("window"));
  a.args.window = INT32_MAX;
  EXPECT_EQ(a.Refusal(), "");
  a.args.reserved = 1;
  EXPECT_THAT(a.Refusal(), HasSubstr("reserved"));
}

TEST(AttentionContract, RefusesPagesThatDoNotFit) {
  AttentionArgs a;
  const TestTensor other_type(HY_TYPE_F32, {5, 2, 8, 32});
  a.args.v_pages = other_type.view();
  EXPECT_THAT(a.Refusal(), HasSubstr("v_pages is f32, k_pages is f16"));
  const TestTensor other_page(HY_TYPE_F16, {5, 2, 4, 32});
  a.args.v_pages = other_page.view();
  EXPECT_THAT(a.Refusal(), HasSubstr("v_pages has shape"));
  const TestTensor narrow(HY_TYPE_F16, {5, 2, 8, 16});
  a.args.k_pages = a.args.v_pages = narrow.view();
  EXPECT_THAT(a.Refusal(), HasSubstr("k_pages: shape[3] is 16"));
  const TestTensor heads(HY_TYPE_F16, {5, 3, 8, 32});
  a.args.k_pages = a.args.v_pages = heads.view();
  EXPECT_THAT(a.Refusal(), HasSubstr("a multiple of the heads of k_pages"));
  a.args.k_pages.shape[1] = a.args.v_pages.shape[1] = 0;
  EXPECT_THAT(a.Refusal(), HasSubstr("a multiple of the heads of k_pages"));
  a.args.k_pages.shape[1] = a.args.v_pages.shape[1] = 2;
  a.args.k_pages.shape[2] = a.args.v_pages.shape[2] = 0;
  EXPECT_THAT(a.Refusal(), HasSubstr("the size of a page"));
  const TestTensor half_block(HY_TYPE_Q8_0, {5, 2, 8, 32});
  a.args.k_pages = a.args.v_pages = half_block.view();
  EXPECT_EQ(a.Refusal(), "");
  a.args.k_pages.shape[3] = 16;
  EXPECT_THAT(a.Refusal(), HasSubstr("whole blocks"));
}

TEST(AttentionContract, RefusesSequencesThatDoNotFit) {
  AttentionArgs a;
  const TestTensor starts(HY_TYPE_I32, {2}, {0, 3});
  a.args.q_start = starts.view();
  EXPECT_THAT(a.Refusal(), HasSubstr("q_start: shape[0] is 2"));
  AttentionArgs b;
  const TestTensor lens(HY_TYPE_I32, {3}, {1, 1, 1});
  b.args.kv_len = lens.view();
  EXPECT_THAT(b.Refusal(), HasSubstr("kv_len: shape[0] is 3"));
}

TEST(AttentionContract, TakesResultsInTheTypeOfQueriesOrInFull) {
  AttentionArgs a;
  const TestTensor half_q(HY_TYPE_F16, {3, 4, 32});
  const TestTensor half_y(HY_TYPE_F16, {3, 4, 32});
  a.args.y = half_y.view();
  EXPECT_THAT(a.Refusal(), HasSubstr("y must be f32 or of q's type"));
  a.args.q = half_q.view();
  EXPECT_EQ(a.Refusal(), "");
}

TEST(AttentionContract, CountsWhatIsRead) {
  const AttentionArgs a;
  const hy_op_desc& op = *FindOp("attention").desc;
  // 3 rows of 4 heads of 32 see 16 slots each at most; 4 pages of 2 heads of 8 slots are named.
  EXPECT_EQ(op.flops(&a.args), 4u * 3 * 4 * 32 * 16);
  EXPECT_EQ(op.bytes(&a.args), 2u * 4 * 2 * 8 * 64 + 2 * 3 * 4 * 32 * 4 + (4 + 3 + 2) * 4);
}

struct AppendArgs {
  TestTensor k{HY_TYPE_F32, {3, 2, 32}};
  TestTensor v{HY_TYPE_F32, {3, 2, 32}};
  TestTensor slots{HY_TYPE_I32, {3}, {0, 1, 2}};
  TestTensor pages{HY_TYPE_F16, {10, 2, 8, 32}};
  TestTensor more{HY_TYPE_F16, {10, 2, 8, 32}};
  hy_kv_append_args args = {sizeof args,  0,          k.view(), v.view(), slots.view(),
                            pages.view(), more.view()};

  std::string Refusal() const {
    hy_why why = {};
    const hy_status status = FindOp("kv_append").desc->validate(&args, &why);
    return status == HY_OK ? "" : std::string(why.text);
  }
};

TEST(KvAppendContract, TakesWhatIsRight) { EXPECT_EQ(AppendArgs().Refusal(), ""); }

TEST(KvAppendContract, RefusesWhatDoesNotFit) {
  AppendArgs a;
  const TestTensor heads(HY_TYPE_F16, {10, 4, 8, 32});
  const TestTensor more_heads(HY_TYPE_F16, {10, 4, 8, 32});
  a.args.k_pages = heads.view();
  a.args.v_pages = more_heads.view();
  EXPECT_THAT(a.Refusal(), HasSubstr("the heads of k"));
  AppendArgs b;
  const TestTensor slots(HY_TYPE_I32, {2}, {0, 1});
  b.args.slots = slots.view();
  EXPECT_THAT(b.Refusal(), HasSubstr("slots: shape[0] is 2"));
  AppendArgs c;
  const TestTensor half(HY_TYPE_F16, {3, 2, 32});
  c.args.v = half.view();
  EXPECT_THAT(c.Refusal(), HasSubstr("v is f16, k is f32"));
  c.args.v = c.v.view();
  c.args.reserved = 1;
  EXPECT_THAT(c.Refusal(), HasSubstr("reserved"));
}

// Keys and values by turns along axis `axis` of one allocation.
void Interleave(hy_kv_append_args* args, hy_tensor pages, uint32_t axis) {
  pages.shape[axis] /= 2;
  hy_tensor other = pages;
  other.data = static_cast<char*>(other.data) + pages.stride[axis];
  pages.stride[axis] *= 2;
  other.stride[axis] *= 2;
  args->k_pages = pages;
  args->v_pages = other;
}

TEST(KvAppendContract, TakesPagesThatInterleave) {
  AppendArgs a;
  Interleave(&a.args, a.pages.view(), 0);
  EXPECT_EQ(a.Refusal(), "") << "page by page";
  std::swap(a.args.k_pages, a.args.v_pages);
  EXPECT_EQ(a.Refusal(), "") << "values first";
  const TestTensor heads(HY_TYPE_F16, {10, 4, 8, 32});
  Interleave(&a.args, heads.view(), 1);
  EXPECT_EQ(a.Refusal(), "") << "head by head";
  Interleave(&a.args, a.pages.view(), 2);
  EXPECT_EQ(a.Refusal(), "") << "slot by slot";
  a.args.v_pages.data = static_cast<char*>(a.args.v_pages.data) - 2;
  EXPECT_THAT(a.Refusal(), HasSubstr("v_pages overlaps k_pages"));
}

TEST(KvAppendContract, RefusesPagesThatShareSlots) {
  AppendArgs a;
  a.args.v_pages = a.args.k_pages;
  EXPECT_THAT(a.Refusal(), HasSubstr("v_pages overlaps k_pages"));
  a.args.k_pages.shape[0] = a.args.v_pages.shape[0] = 6;
  a.args.v_pages.data = static_cast<char*>(a.args.v_pages.data) + 2 * a.args.k_pages.stride[0];
  EXPECT_THAT(a.Refusal(), HasSubstr("v_pages overlaps k_pages")) << "whole pages further on";
}

}  // namespace
}  // namespace halyard::ops
