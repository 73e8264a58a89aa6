// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "conformance/child.h"
#include "conformance/expectations.h"
#include "conformance/file_facts.h"
#include "conformance/graph/graph_case_id.h"
#include "conformance/machine.h"
#include "conformance/meter.h"
#include "conformance/ops/run_ops.h"
#include "conformance/ops/run_parts.h"
#include "conformance/plan.h"
#include "conformance/run_until.h"
#include "conformance/shard.h"

namespace halyard::conformance {
namespace {

RunResult StartResult(const RunRequest& request, const PortFacts& port, const Plan& plan) {
  RunResult result;
  result.level = "L0";
  result.port = request.port;
  result.port_origin = port.origin;
  result.port_version = port.version;
  result.device = port.device;
  result.device_name = port.device_name;
  result.started_utc = UtcNow();
  result.shard = request.shard;
  result.shards = request.shards;
  result.facts = MachineFacts();
  AddFileDigests({port.origin}, &result);
  AddOpenFacts(request, &result);
  result.facts.emplace_back(kCaseCountFact, absl::StrCat(plan.list_count));
  result.facts.emplace_back(kCaseDigestFact, plan.list_digest);
  result.facts.emplace_back(kScopeFact, ScopeOf(request));
  if (!port.trouble.empty()) result.facts.emplace_back("port_trouble", port.trouble);
  return result;
}

bool IsOfKernels(const RunRequest& request) {
  return request.level == "ops" || request.level == "graph";
}

absl::StatusOr<Expectations> ExpectationsOf(const RunRequest& request) {
  if (request.expectations.empty()) return Expectations{};
  return ReadExpectations(request.expectations);
}

}  // namespace

void AddOpenFacts(const RunRequest& request, RunResult* run) {
  if (!request.device.empty()) run->facts.emplace_back(kAskedDeviceFact, request.device);
  for (const auto& [key, value] : request.options) {
    run->facts.emplace_back(absl::StrCat(kOpenOptionFact, key), value);
  }
}

std::string ScopeOf(const RunRequest& request) {
  if (!request.filter.empty()) return kChosenCases;
  if (!IsOfKernels(request)) {
    return request.modes.size() < RunRequest().modes.size() ? kChosenCases : kWholeList;
  }
  const OpsRequest& ops = request.ops;
  const bool chosen =
      !ops.op.empty() || !ops.format.empty() || !ops.kernel.empty() || !ops.edge.empty();
  return chosen ? kChosenCases : kWholeList;
}

absl::StatusOr<RunResult> Run(const RunRequest& request,
                              const std::function<void(const Progress&)>& on_progress,
                              const std::function<void(const CaseResult&)>& on_case) {
  return RunUntil(request, /*until_failure=*/false, on_progress, on_case);
}

absl::StatusOr<RunResult> RunUntil(const RunRequest& request, bool until_failure,
                                   const std::function<void(const Progress&)>& on_progress,
                                   const std::function<void(const CaseResult&)>& on_case) {
  if (IsOfKernels(request)) {
    const bool in_parts =
        request.level == "ops" && request.ops.jobs > 1 && !until_failure && !on_case;
    return in_parts ? RunOpsInParts(request, on_progress)
                    : RunOps(request, until_failure, on_progress, on_case);
  }
  HY_ASSIGN_OR_RETURN(const Expectations expectations, ExpectationsOf(request));
  HY_ASSIGN_OR_RETURN(const PortFacts port, AskPort(request));
  HY_ASSIGN_OR_RETURN(const Plan plan, MakePlan(request, port));
  RunResult run = StartResult(request, port, plan);
  Meter meter(on_progress, plan.cases.size());

  std::vector<const PlannedCase*> to_run;
  std::vector<ChildCase> limits;
  std::vector<CaseResult> results;
  for (const PlannedCase& planned : plan.cases) {
    const Expectation* const unsupported =
        expectations.FindUnsupported(planned.shell, planned.test);
    if (unsupported == nullptr) {
      to_run.push_back(&planned);
      limits.push_back(planned.limits);
      results.push_back(planned.shell);
      continue;
    }
    run.cases.push_back(planned.shell);
    run.cases.back().verdict = Verdict::kSkip;
    run.cases.back().reason = absl::StrCat("the port does not support it: ", unsupported->reason);
    if (on_case) on_case(run.cases.back());
  }
  meter.Done(run.cases.size());

  ChildHooks hooks;
  hooks.on_start = [&](size_t index) { meter.Starting(results[index].id); };
  hooks.on_result = [&](size_t index, const CaseResult&) {
    expectations.Apply(to_run[index]->test, &results[index]);
    if (on_case) on_case(results[index]);
    meter.Done(1);
  };
  const auto body = [&](size_t index, CaseResult* result) {
    RunHalCase(request, to_run[index]->body, result);
  };
  size_t ended = 0;
  hooks.stop_after = [&](size_t index) {
    ended = index + 1;
    return until_failure && CountsAsFailed(results[index].verdict);
  };
  HY_RETURN_IF_ERROR(RunInChildren(limits, body, hooks, &results));
  results.resize(ended);
  run.cases.insert(run.cases.end(), results.begin(), results.end());
  run.seconds = meter.seconds();
  return run;
}

absl::StatusOr<RunResult> Replay(const std::string& id, const RunRequest& base) {
  if (IsOpCaseId(id) || IsGraphCaseId(id)) return ReplayOp(id, base);
  HY_ASSIGN_OR_RETURN(const CaseIdParts parts, ParseCaseId(id));
  RunRequest request = base;
  request.modes = {parts.mode};
  // A colon would part the id into two globs.
  request.filter = absl::StrReplaceAll(id, {{":", "?"}});
  request.shard = request.shards = 1;
  if (PortLabel(request.port) != parts.port) request.port = parts.port;
  if (!parts.device.empty()) request.device = parts.device;
  absl::StatusOr<RunResult> run = Run(request);
  if (run.ok()) SetFact(kScopeFact, kOneCase, &*run);
  return run;
}

absl::StatusOr<std::vector<CaseResult>> ListCases(const RunRequest& request) {
  if (IsOfKernels(request)) return ListOps(request);
  HY_ASSIGN_OR_RETURN(const PortFacts port, AskPort(request));
  HY_ASSIGN_OR_RETURN(const Plan plan, MakePlan(request, port));
  std::vector<CaseResult> cases;
  for (const PlannedCase& planned : plan.cases) {
    cases.push_back(planned.shell);
    cases.back().reason = "not run, only listed";
  }
  return cases;
}

}  // namespace halyard::conformance
