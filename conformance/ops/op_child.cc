// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/op_child.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/ops/auto_run.h"
#include "conformance/ops/close_look.h"
#include "conformance/ops/op_case_run.h"
#include "conformance/ops/op_check.h"
#include "conformance/ops/op_plan.h"

namespace halyard::conformance {
namespace {

constexpr uint32_t kQuickRepeats = 2;
constexpr uint32_t kRepeats = 20;

absl::StatusOr<std::unique_ptr<UnderTest>>& OfThisProcess(const RunRequest& request) {
  static auto* const under_test = new absl::StatusOr<std::unique_ptr<UnderTest>>(
      UnderTest::Make(*request.ops.builtin, request.ops.plugins, request.ops.extra));
  return *under_test;
}

void FailWith(const std::string& reason, CaseResult* out) {
  out->verdict = Verdict::kFail;
  out->reason = reason;
  out->findings.push_back({reason, "", 0});
}

}  // namespace

absl::StatusOr<std::string> ListInChild(const RunRequest& request) {
  const absl::StatusOr<std::unique_ptr<UnderTest>>& under_test = OfThisProcess(request);
  HY_RETURN_IF_ERROR(under_test.status());
  std::vector<ListedCase> list = ListOpChecks(**under_test);
  const std::vector<ListedCase> cases = ListOpCases(**under_test, request.ops.tier);
  list.insert(list.end(), cases.begin(), cases.end());
  return ListedCasesToText(list);
}

void RunOpCaseInChild(const RunRequest& request, bool closely, CaseResult* inout_result) {
  static auto* const cache = new FixtureCache;
  const absl::StatusOr<std::unique_ptr<UnderTest>>& under_test = OfThisProcess(request);
  if (!under_test.ok()) return FailWith(under_test.status().ToString(), inout_result);
  if (IsOpCheckId(inout_result->id)) return RunOpCheck(**under_test, inout_result);
  const absl::StatusOr<OpCaseId> id = ParseOpCaseId(inout_result->id);
  if (!id.ok()) return FailWith(std::string(id.status().message()), inout_result);
  if (id->kernel == kKernelAuto) return RunAuto(**under_test, request, *id, cache, inout_result);
  OpRunOptions options;
  options.repeats = request.ops.tier == ops::Tier::kQuick ? kQuickRepeats : kRepeats;
  OpCaseRun run(**under_test, *id, options, cache, inout_result);
  run.Run();
  if (closely) LookClosely(run, inout_result);
}

}  // namespace halyard::conformance
