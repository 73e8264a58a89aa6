// SPDX-License-Identifier: Apache-2.0
//
// What contracts of ops on rows demand of their settings and of operands together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "ops/add/contract.h"
#include "ops/contract_check.h"
#include "ops/gelu_mul/contract.h"
#include "ops/layernorm/contract.h"
#include "ops/log_softmax/contract.h"
#include "ops/rmsnorm/contract.h"
#include "ops/rope/contract.h"
#include "ops/sample/contract.h"
#include "ops/scale/contract.h"
#include "ops/silu_mul/contract.h"
#include "ops/softmax/contract.h"
#include "ops/test_builtin.h"
#include "ops/test_run.h"
#include "ops/top_k/contract.h"

namespace halyard::ops {
namespace {

using testing::HasSubstr;

constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();

// Why an op refuses args, empty if it takes them.
template <typename Args>
std::string Refusal(const char* op, const Args& args) {
  hy_why why = {};
  return FindOp(op).desc->validate(&args, &why) == HY_OK ? "" : why.text;
}

// As Refusal, of valid args after one change.
template <typename Args>
std::string After(const char* op, Args args, const std::function<void(Args*)>& change) {
  EXPECT_EQ(Refusal(op, args), "") << op;
  change(&args);
  return Refusal(op, args);
}

// Tensors that live as long as the test.
class RowsSettings : public testing::Test {
 protected:
  hy_tensor Make(uint32_t type, const std::vector<int64_t>& shape) {
    kept_.emplace_back(type, shape);
    return kept_.back().view();
  }
  hy_tensor F32(const std::vector<int64_t>& shape) { return Make(HY_TYPE_F32, shape); }

 private:
  std::vector<TestTensor> kept_;
};

TEST_F(RowsSettings, AddRepeatsAxesOfSizeOneOnly) {
  const hy_add_args args = {sizeof args, 0, F32({2, 3, 4}), F32({1, 3, 1}), F32({2, 3, 4})};
  const auto after = [&](const std::function<void(hy_add_args*)>& change) {
    return After<hy_add_args>("add", args, change);
  };
  EXPECT_THAT(after([&](auto* a) { a->b = F32({2, 2, 4}); }), HasSubstr("b: shape[1] is 2"));
  EXPECT_THAT(after([&](auto* a) { a->b = F32({3, 4}); }), HasSubstr("b has rank 2"));
  EXPECT_THAT(after([&](auto* a) { a->b = Make(HY_TYPE_F16, {2, 3, 4}); }), HasSubstr("b must be"));
  EXPECT_THAT(after([&](auto* a) { a->y = Make(HY_TYPE_F16, {2, 3, 4}); }), HasSubstr("y must be"));
  EXPECT_THAT(after([&](auto* a) { a->y = F32({2, 4, 3}); }), HasSubstr("y has shape [2, 4, 3]"));
  EXPECT_THAT(after([](auto* a) { a->reserved = 1; }), HasSubstr("reserved"));
  EXPECT_THAT(after([](auto* a) { a->y.data = a->b.data; }), HasSubstr("y overlaps b"))
      << "a repeated b cannot be the output";
  EXPECT_EQ(after([](auto* a) { a->y = a->a; }), "");
  EXPECT_EQ(after([](auto* a) { a->b = a->y; }), "");
}

TEST_F(RowsSettings, ScaleNeedsAFiniteFactor) {
  const hy_scale_args args = {sizeof args, 2.0f, F32({2, 3}), F32({2, 3})};
  for (const float factor : {kNanF, kInfF, -kInfF}) {
    EXPECT_THAT(After<hy_scale_args>("scale", args, [&](auto* a) { a->factor = factor; }),
                HasSubstr("factor"));
  }
}

TEST_F(RowsSettings, NormsNeedAFiniteEpsAndTheirColumns) {
  const hy_rmsnorm_args rms = {sizeof rms, 1e-5f,       F32({2, 8}), F32({2, 8}),
                               F32({8}),   F32({2, 8}), F32({2, 8})};
  const auto after = [&](const std::function<void(hy_rmsnorm_args*)>& change) {
    return After<hy_rmsnorm_args>("rmsnorm", rms, change);
  };
  for (const float eps : {-1e-5f, kNanF, kInfF})
    EXPECT_THAT(after([&](auto* a) { a->eps = eps; }), HasSubstr("eps"));
  EXPECT_THAT(after([&](auto* a) { a->w = F32({7}); }), HasSubstr("w: shape[0] is 7"));
  EXPECT_THAT(after([](auto* a) { a->add = {}; }), HasSubstr("sum needs add"));
  EXPECT_THAT(after([](auto* a) { a->y = a->sum; }), HasSubstr("sum overlaps y"));
  EXPECT_THAT(after([](auto* a) { a->y = a->add; }), HasSubstr("y overlaps add"));
  EXPECT_EQ(after([](auto* a) { a->sum = a->add; }), "");
  EXPECT_EQ(after([](auto* a) { a->y = a->x; }), "");
  EXPECT_EQ(after([](auto* a) { a->eps = 0; }), "");

  const hy_layernorm_args layer = {sizeof layer, 1e-5f,    F32({2, 8}),
                                   F32({8}),     F32({8}), F32({2, 8})};
  EXPECT_THAT(After<hy_layernorm_args>("layernorm", layer, [](auto* a) { a->eps = -1; }),
              HasSubstr("eps"));
  EXPECT_THAT(After<hy_layernorm_args>("layernorm", layer, [&](auto* a) { a->b = F32({9}); }),
              HasSubstr("b: shape[0] is 9"));
}

TEST_F(RowsSettings, QuantisedOutputsNeedWholeBlocks) {
  const hy_silu_mul_args args = {sizeof args, 0, F32({2, 48}), F32({2, 48}), F32({2, 48})};
  EXPECT_THAT(After<hy_silu_mul_args>("silu_mul", args,
                                      [&](auto* a) {
                                        a->y = Make(HY_TYPE_A8_B32, {2, 48});
                                      }),
              HasSubstr("y: rows of 48 elements are not whole blocks of 32"));
  EXPECT_EQ(After<hy_silu_mul_args>("silu_mul", args,
                                    [&](auto* a) {
                                      a->y = Make(HY_TYPE_A8_TOKEN, {2, 48});
                                    }),
            "");
}

TEST_F(RowsSettings, GeluKnowsTwoForms) {
  const hy_gelu_mul_args args = {sizeof args, 0, F32({2, 4}), F32({2, 4}), F32({2, 4})};
  EXPECT_THAT(After<hy_gelu_mul_args>("gelu_mul", args, [](auto* a) { a->approximation = 2; }),
              HasSubstr("approximation"));
  EXPECT_EQ(After<hy_gelu_mul_args>("gelu_mul", args, [](auto* a) { a->approximation = 1; }), "");
}

TEST_F(RowsSettings, RopeTurnsNoMoreThanAHead) {
  const hy_rope_args args = {sizeof args,    HY_ROPE_SPLIT,          F32({3, 2, 9}),
                             F32({7, 4, 2}), Make(HY_TYPE_I32, {3}), F32({3, 2, 9})};
  const auto after = [&](const std::function<void(hy_rope_args*)>& change) {
    return After<hy_rope_args>("rope", args, change);
  };
  EXPECT_THAT(after([&](auto* a) { a->table = F32({7, 5, 2}); }), HasSubstr("table turns 5 pairs"));
  EXPECT_THAT(after([&](auto* a) {
                a->table = F32({7, 2, 4});
              }),
              HasSubstr("table: shape[2] is 4"));
  EXPECT_THAT(after([&](auto* a) { a->positions = Make(HY_TYPE_I32, {4}); }),
              HasSubstr("positions: shape[0] is 4"));
  EXPECT_THAT(after([](auto* a) { a->mode = 2; }), HasSubstr("mode"));
  EXPECT_EQ(after([&](auto* a) { a->table = F32({7, 0, 2}); }), "");
}

TEST_F(RowsSettings, SoftmaxMasks) {
  const hy_softmax_args args = {sizeof args, 1.0f, F32({3, 5}), F32({1, 5}), F32({3, 5})};
  const auto after = [&](const std::function<void(hy_softmax_args*)>& change) {
    return After<hy_softmax_args>("softmax", args, change);
  };
  EXPECT_THAT(after([&](auto* a) { a->mask = F32({2, 5}); }), HasSubstr("mask: shape[0] is 2"));
  EXPECT_THAT(after([&](auto* a) { a->mask = F32({3, 4}); }), HasSubstr("mask: shape[1] is 4"));
  EXPECT_THAT(after([](auto* a) { a->scale = kInfF; }), HasSubstr("scale"));
  EXPECT_EQ(after([&](auto* a) { a->mask = F32({3, 5}); }), "");
}

TEST_F(RowsSettings, LogSoftmaxGivesNamedColumnsOrAll) {
  const hy_log_softmax_args args = {sizeof args, 0, F32({3, 9}), Make(HY_TYPE_I32, {3, 2}),
                                    F32({3, 2})};
  const auto after = [&](const std::function<void(hy_log_softmax_args*)>& change) {
    return After<hy_log_softmax_args>("log_softmax", args, change);
  };
  EXPECT_THAT(after([](auto* a) { a->ids = {}; }), HasSubstr("y has shape [3, 2]"));
  EXPECT_THAT(after([&](auto* a) { a->ids = Make(HY_TYPE_I32, {2, 2}); }), HasSubstr("ids"));
  EXPECT_THAT(after([](auto* a) { a->y.data = a->x.data; }), HasSubstr("y overlaps x"));
}

TEST_F(RowsSettings, SampleNeedsSettingsForEachRow) {
  hy_sample_args args = {};
  args.struct_size = sizeof args;
  args.logits = F32({3, 9});
  args.temperature = F32({3});
  args.u = F32({3});
  args.id = Make(HY_TYPE_I32, {3});
  const auto after = [&](const std::function<void(hy_sample_args*)>& change) {
    return After<hy_sample_args>("sample", args, change);
  };
  EXPECT_EQ(after([](auto*) {}), "");
  EXPECT_THAT(after([&](auto* a) { a->top_p = F32({2}); }), HasSubstr("top_p: shape[0] is 2"));
  EXPECT_THAT(after([&](auto* a) { a->top_k = F32({3}); }), HasSubstr("top_k: type f32"));
  EXPECT_THAT(after([&](auto* a) { a->u = {}; }), HasSubstr("u is missing"));
  EXPECT_THAT(after([](auto* a) { a->id.data = a->u.data; }), HasSubstr("id overlaps u"));
}

TEST_F(RowsSettings, TopKGivesAsManyIdsAsValues) {
  const hy_top_k_args args = {sizeof args, 0, F32({2, 9}), F32({2, 3}), Make(HY_TYPE_I32, {2, 3})};
  EXPECT_THAT(After<hy_top_k_args>("top_k", args,
                                   [&](auto* a) {
                                     a->ids = Make(HY_TYPE_I32, {2, 4});
                                   }),
              HasSubstr("ids has shape [2, 4]"));
}

TEST(RowsCost, FlopsAndBytes) {
  const int64_t shape[] = {2, 4096};
  const hy_tensor t = hy_tensor_dense(nullptr, HY_TYPE_F16, 2, shape);
  const hy_add_args args = {sizeof args, 0, t, t, t};
  const hy_op_desc& add = *FindOp("add").desc;
  EXPECT_EQ(add.flops(&args), 2u * 4096);
  EXPECT_EQ(OperandBytes(add, &args), 3u * 2 * 4096 * 2);
}

}  // namespace
}  // namespace halyard::ops
