// SPDX-License-Identifier: Apache-2.0
//
// Level L2 as a whole: right kernels pass, broken ones are found, named and shrunk.
#include "conformance/graph/graph_case_id.h"
#include "conformance/mutants_ops/op_mutants.h"
#include "conformance/ops/shrink.h"
#include "conformance/runner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halyard::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

RunRequest Request(const char* filter) {
  RunRequest request;
  request.level = "graph";
  request.port = "linux";
  request.load.builtins = hal::BuiltinPorts();
  request.ops.builtin = &TheBuiltinOps();
  request.ops.builtin_kernels = &BuiltinKernelTable();
  request.filter = filter;
  return request;
}

// A request whose kernels are those of a broken one as well.
RunRequest WithMutant(const char* id, const char* filter) {
  RunRequest request = Request(filter);
  for (const OpMutant& mutant : GraphMutants()) {
    if (std::string(mutant.id) != id) continue;
    request.ops.extra = ChooseOpMutant(mutant, TheBuiltinOps());
  }
  return request;
}

TEST(GraphRun, QuickCasesPass) {
  const absl::StatusOr<RunResult> run = conformance::Run(Request(""));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->level, "L2");
  for (const CaseResult& one : run->cases) {
    EXPECT_TRUE(CountsAsPassed(one.verdict)) << one.id << ": " << one.reason;
  }
}

TEST(GraphRun, ShardsShareTheCases) {
  RunRequest request = Request("L2/shared-weights/*");
  size_t cases = 0;
  for (request.shards = 2, request.shard = 1; request.shard <= 2; ++request.shard) {
    const absl::StatusOr<std::vector<CaseResult>> listed = ListCases(request);
    ASSERT_TRUE(listed.ok()) << listed.status();
    cases += listed->size();
  }
  request.shard = request.shards = 1;
  EXPECT_EQ(cases, ListCases(request)->size());
}

TEST(GraphRun, StateInScratchIsFoundInTheStepThatKeepsIt) {
  const std::string id = "L2/in-place-chain/f32/rows=3,cols=96/dist=normal/lay=dense/seed=1/thr=3";
  const absl::StatusOr<RunResult> run = Replay(id, WithMutant("G01", ""));
  ASSERT_TRUE(run.ok()) << run.status();
  const CaseResult& one = run->cases.front();
  EXPECT_EQ(one.verdict, Verdict::kFail);
  EXPECT_THAT(one.reason, StartsWith("step 2 (rmsnorm by rmsnorm/any/generic_k@mutants): y: "));
  EXPECT_THAT(one.reason, HasSubstr("other inputs"));
  ASSERT_GE(one.findings.size(), 2u);
  EXPECT_THAT(one.findings[1].message, HasSubstr("row 0, column 0 (block 0 of 256"));
}

TEST(GraphRun, AFusedStepThatIsNotWhatItsPartsAreIsFound) {
  const std::string id =
      "L2/add-rmsnorm-quantize/f32.a8_b32.q8_0/rows=3,cols=512/dist=normal/lay=dense/seed=1/thr=2";
  const absl::StatusOr<RunResult> run = Replay(id, WithMutant("G03", ""));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->cases.front().reason, HasSubstr("y is y in f32 put through quantize"));
}

TEST(GraphRun, ShrinksToTheTwoStepsThatDoNotGoTogether) {
  const std::string id =
      "L2/shared-weights/f32.f32/m=5,n=40,k=512/dist=normal/lay=dense/seed=1/thr=5";
  const absl::StatusOr<RunResult> run = ShrinkOp(id, WithMutant("G02", ""));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->cases.front().id,
            "L2/shared-weights/f32.f32/m=1,n=1,k=1/dist=walking/lay=dense/seed=1/thr=1");
}

TEST(GraphRun, ARandomGraphShrinksToTheStepsThatShowTheFault) {
  const std::string id =
      "L2/dag/f32.q8_0/ops=10,rows=3,cols=256/dist=normal/lay=dense/seed=7/thr=3";
  const RunRequest request = WithMutant("G01", "");
  const absl::StatusOr<RunResult> whole = Replay(id, request);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_EQ(whole->cases.front().verdict, Verdict::kFail) << whole->cases.front().reason;
  const absl::StatusOr<RunResult> run = ShrinkOp(id, request);
  ASSERT_TRUE(run.ok()) << run.status();
  const absl::StatusOr<GraphCaseId> smallest = ParseGraphCaseId(run->cases.front().id);
  ASSERT_TRUE(smallest.ok());
  EXPECT_EQ(smallest->drop.size(), 9u) << run->cases.front().id;
  EXPECT_EQ(smallest->workers, 1u);
  EXPECT_EQ(smallest->c.dim("rows"), 1);
}

}  // namespace
}  // namespace halyard::conformance
