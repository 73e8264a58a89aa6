// SPDX-License-Identifier: Apache-2.0
//
// Level L2 is as good as the broken kernels that it finds, and L1 does not.
#include "conformance/mutants_ops/op_mutants.h"
#include "conformance/ops/op_selftest.h"
#include "conformance/runner.h"
#include "gtest/gtest.h"

namespace halyard::conformance {
namespace {

RunRequest Request(const char* level) {
  RunRequest request;
  request.level = level;
  request.load.builtins = hal::BuiltinPorts();
  request.ops.builtin = &TheBuiltinOps();
  request.ops.builtin_kernels = &BuiltinKernelTable();
  return request;
}

TEST(GraphSelfTest, EveryBrokenKernelIsKilledAndControlsLive) {
  for (const CaseResult& one : KillOpMutants(Request("graph"), "", true, {})) {
    EXPECT_EQ(one.verdict, Verdict::kPass) << one.id << ": " << one.reason;
  }
}

// What makes them mutants of graphs: one op at a time does not show them.
TEST(GraphSelfTest, OneOpAloneDoesNotShowThem) {
  for (const OpMutant& mutant : GraphMutants()) {
    if (std::string(mutant.id) == "G04") continue;  // memory that comes back shows it
    RunRequest request = Request("ops");
    request.ops.op = mutant.op;
    request.ops.kernel = "*@mutants";
    request.ops.extra = ChooseOpMutant(mutant, TheBuiltinOps());
    const absl::StatusOr<RunResult> run = conformance::Run(request);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_GT(run->cases.size(), 10u) << mutant.id;
    for (const CaseResult& one : run->cases) {
      EXPECT_FALSE(CountsAsFailed(one.verdict)) << mutant.id << ": " << one.id << one.reason;
    }
  }
}

}  // namespace
}  // namespace halyard::conformance
