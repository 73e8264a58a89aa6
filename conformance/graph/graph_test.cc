// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/graph.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "conformance/graph/graph_case_id.h"
#include "conformance/graph/graph_cases.h"
#include "conformance/graph/graph_ops.h"
#include "conformance/shard.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/case.h"

namespace halyard::conformance {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> LabelsOf(const Graph& graph) {
  std::vector<std::string> labels;
  for (const GraphStep& step : graph.steps) labels.push_back(step.label + " " + step.op);
  return labels;
}

// x -> scale -> t2 -> norm with residual x, quantised -> t.
Graph SmallGraph() {
  Graph graph;
  const int x = graph.Input("x", HY_TYPE_F32, {2, 32});
  const int t = AddScale(&graph, x, 2);
  const int sum = graph.Value(HY_TYPE_F32, {2, 32});
  AddSumNorm(&graph, t, x, -1, HY_TYPE_A8_B32, sum);
  return graph;
}

TEST(Graph, UnfusedFormsStandBeforeWhatDoesTheirWork) {
  Graph graph = SmallGraph();
  AddUnfused(&graph);
  EXPECT_THAT(LabelsOf(graph),
              ElementsAre("0 scale", "1a add", "1b rmsnorm", "1c quantize", "1 rmsnorm"));
  ASSERT_THAT(graph.equalities, SizeIs(2));
  const Equality& sum = graph.equalities[0];
  EXPECT_EQ(sum.a, graph.steps[4].operand("sum"));
  EXPECT_EQ(sum.b, graph.steps[1].operand("y"));
  EXPECT_EQ(sum.after, 4u);
  EXPECT_THAT(sum.same_kernel, IsEmpty());
  const Equality& y = graph.equalities[1];
  EXPECT_EQ(y.a, graph.steps[4].operand("y"));
  EXPECT_EQ(y.b, graph.steps[3].operand("y"));
  EXPECT_THAT(y.same_kernel, ElementsAre(2u, 4u));
  EXPECT_EQ(graph.steps[2].operand("add"), -1);
  EXPECT_EQ(graph.tensor(graph.steps[2].operand("y")).type, uint32_t{HY_TYPE_F32});
}

TEST(Graph, WhatADroppedStepWouldHaveWrittenBecomesAnInput) {
  Graph graph = SmallGraph();
  const int t = graph.steps[0].operand("y");
  EXPECT_EQ(graph.tensor(t).origin, Origin::kValue);
  DropSteps({0}, TheBuiltinOps(), &graph);
  EXPECT_THAT(LabelsOf(graph), ElementsAre("1 rmsnorm"));
  EXPECT_EQ(graph.tensor(t).origin, Origin::kInput);
}

TEST(Graph, WhatIsWrittenInPlaceAfterADroppedStepBecomesState) {
  Graph graph;
  const int t = AddScale(&graph, graph.Input("x", HY_TYPE_F32, {2, 32}), 2);
  AddScale(&graph, t, 3, t);
  DropSteps({0}, TheBuiltinOps(), &graph);
  EXPECT_EQ(graph.tensor(t).origin, Origin::kState);
}

TEST(Graph, EqualitiesOfDroppedStepsGo) {
  Graph graph;
  const int x = graph.Input("x", HY_TYPE_F32, {2, 32});
  const int a = AddScale(&graph, x, 2);
  const int b = AddScale(&graph, x, 2);
  AddCopy(&graph, b);
  graph.equalities.push_back({a, b, 1, {0, 1}, 0, "they are the same"});
  Graph other = graph;
  DropSteps({2}, TheBuiltinOps(), &graph);
  EXPECT_THAT(graph.equalities, SizeIs(1));
  DropSteps({0}, TheBuiltinOps(), &other);
  EXPECT_THAT(other.equalities, IsEmpty());
}

TEST(Graph, ViewsBelongToTheirBase) {
  Graph graph;
  const int x = graph.Input("x", HY_TYPE_F32, {2, 64});
  const int view = graph.View(x, {2, 1, 32}, 32);
  EXPECT_EQ(graph.Owner(view), x);
  EXPECT_EQ(graph.Owner(x), x);
}

TEST(GraphCaseId, IsCompleteAsText) {
  const std::string text =
      "L2/dag/f32.q4_k/ops=7,rows=3,cols=256/dist=normal/lay=pad64+off4/seed=41/drop=2+5/thr=3";
  const absl::StatusOr<GraphCaseId> id = ParseGraphCaseId(text);
  ASSERT_TRUE(id.ok()) << id.status();
  EXPECT_EQ(GraphCaseIdText(*id), text);
  EXPECT_THAT(id->drop, ElementsAre(2, 5));
  EXPECT_EQ(id->workers, 3u);
}

TEST(GraphCaseId, SaysWhatIsWrong) {
  for (const char* text : {"L1/dag/f32.q8_0/ops=3/dist=normal/lay=dense/seed=1/thr=1",
                           "L2/dag/f32.q8_0/ops=3/dist=normal/lay=dense/seed=1",
                           "L2/dag/f32.q8_0/ops=3/dist=normal/lay=dense/seed=1/thr=0",
                           "L2/dag/f32.q8_0/ops=3/dist=normal/lay=dense/seed=1/thr=99",
                           "L2/dag/f32.q8_0/ops=3/dist=normal/lay=dense/seed=1/drop=x/thr=1",
                           "L2/dag/f32.what/ops=3/dist=normal/lay=dense/seed=1/thr=1"}) {
    EXPECT_FALSE(ParseGraphCaseId(text).ok()) << text;
  }
  const absl::StatusOr<Graph> none = MakeGraph(
      *ParseGraphCaseId("L2/nothing/f32/n=1/dist=normal/lay=dense/seed=1/thr=1"), TheBuiltinOps());
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("nothing"));
}

TEST(GraphCases, AreAsManyAsTheBudgetSays) {
  const size_t quick = ListGraphCases(ops::Tier::kQuick, "", TheBuiltinOps()).size();
  const size_t standard = ListGraphCases(ops::Tier::kStandard, "", TheBuiltinOps()).size();
  EXPECT_GE(quick, 150u);
  EXPECT_LE(quick, 200u);
  EXPECT_GE(standard, 600u);
  EXPECT_LE(standard, 700u);
}

TEST(GraphCases, IdsAreTheirOwnAndMakeTheSameGraphAgain) {
  std::set<std::string> seen;
  for (const ListedCase& one : ListGraphCases(ops::Tier::kStandard, "", TheBuiltinOps())) {
    EXPECT_TRUE(seen.insert(one.id).second) << one.id;
    const absl::StatusOr<GraphCaseId> id = ParseGraphCaseId(one.id);
    ASSERT_TRUE(id.ok()) << id.status();
    EXPECT_EQ(GraphCaseIdText(*id), one.id);
    const absl::StatusOr<Graph> first = MakeGraph(*id, TheBuiltinOps());
    const absl::StatusOr<Graph> again = MakeGraph(*id, TheBuiltinOps());
    ASSERT_TRUE(first.ok()) << one.id << ": " << first.status();
    EXPECT_EQ(LabelsOf(*first), LabelsOf(*again)) << one.id;
  }
}

// All that a graph is, as text.
std::string TextOf(const Graph& graph) {
  std::string text;
  for (const GraphTensor& t : graph.tensors) {
    absl::StrAppend(&text, t.name, " ", static_cast<int>(t.origin), " ", t.type, " [",
                    absl::StrJoin(t.shape, ","), "] ", t.base, " ", t.first_col, "\n");
  }
  for (const GraphStep& step : graph.steps) {
    absl::StrAppend(&text, step.label, " ", step.op);
    for (const auto& [name, tensor] : step.operands) absl::StrAppend(&text, " ", name, "=", tensor);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

TEST(GraphCases, AreTheSameOnEveryTarget) {
  std::string all;
  for (const ListedCase& one : ListGraphCases(ops::Tier::kStandard, "", TheBuiltinOps())) {
    const absl::StatusOr<Graph> graph = MakeGraph(*ParseGraphCaseId(one.id), TheBuiltinOps());
    ASSERT_TRUE(graph.ok()) << one.id;
    absl::StrAppend(&all, one.id, "\n", TextOf(*graph));
  }
  // Changes with the list; then old ids may mean other graphs, which CHANGELOG.md is to say.
  EXPECT_EQ(absl::StrCat(absl::Hex(Digest(all))), "a11694a76bbd6c4b");
}

TEST(GraphCases, HaveEveryOpThatGraphsAreMadeOf) {
  std::set<std::string> ops;
  for (const ListedCase& one : ListGraphCases(ops::Tier::kQuick, "", TheBuiltinOps())) {
    const absl::StatusOr<Graph> graph = MakeGraph(*ParseGraphCaseId(one.id), TheBuiltinOps());
    ASSERT_TRUE(graph.ok()) << one.id;
    for (const GraphStep& step : graph->steps) ops.insert(step.op);
  }
  // An op that comes later does without until somebody gives it a place; sample draws.
  for (const char* op :
       {"get_rows", "rmsnorm",    "layernorm", "add",       "mul",     "scale",    "rope",
        "matmul",   "matmul_id",  "attention", "kv_append", "softmax", "silu_mul", "gelu_mul",
        "quantize", "dequantize", "cast",      "copy",      "argmax",  "top_k",    "log_softmax"}) {
    EXPECT_THAT(ops, Contains(op));
  }
}

TEST(GraphCases, AreChosenByAnOpOfTheirs) {
  for (const ListedCase& one : ListGraphCases(ops::Tier::kQuick, "matmul_id", TheBuiltinOps())) {
    EXPECT_EQ(one.op, "experts");
  }
  EXPECT_THAT(ListGraphCases(ops::Tier::kQuick, "matmul_id", TheBuiltinOps()), SizeIs(3));
}

TEST(GraphCases, ShrinkByStepsThatTheGraphHas) {
  const std::string id = "L2/dag/f32.q8_0/ops=4,rows=3,cols=256/dist=normal/lay=dense/seed=1/thr=2";
  const std::vector<std::string> smaller = SmallerGraphs(id, TheBuiltinOps());
  EXPECT_EQ(smaller.front(),
            "L2/dag/f32.q8_0/ops=4,rows=3,cols=256/dist=normal/lay=dense/seed=1/drop=2+3/thr=2");
  EXPECT_THAT(smaller, Contains(HasSubstr("/drop=1/thr=2")));
  EXPECT_THAT(smaller, Contains(HasSubstr("ops=4,rows=1,")));
  for (const std::string& one : smaller) EXPECT_THAT(one, HasSubstr("ops=4,")) << one;
}

}  // namespace
}  // namespace halyard::conformance
