// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/graph_child.h"

#include "conformance/graph/graph_case_run.h"
#include "conformance/graph/graph_cases.h"
#include "conformance/ops/op_child.h"

namespace halyard::conformance {

absl::StatusOr<std::string> ListGraphsInChild(const RunRequest& request) {
  return ListedCasesToText(ListGraphCases(request.ops.tier, request.ops.op, *request.ops.builtin));
}

void RunGraphCaseInChild(const RunRequest& request, bool closely, CaseResult* inout_result) {
  const UnderTest* const under_test = LoadedHere(request, inout_result);
  if (under_test == nullptr) return;
  const absl::StatusOr<GraphCaseId> id = ParseGraphCaseId(inout_result->id);
  if (!id.ok()) {
    inout_result->verdict = Verdict::kFail;
    inout_result->reason = std::string(id.status().message());
    return;
  }
  GraphCaseRun run(*under_test, request, *id, closely, inout_result);
  run.Run();
  SuspectEmulator(request, run.isa().data(), inout_result);
}

}  // namespace halyard::conformance
