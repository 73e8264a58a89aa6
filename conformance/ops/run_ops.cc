// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/run_ops.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "conformance/child.h"
#include "conformance/file_facts.h"
#include "conformance/filter.h"
#include "conformance/golden/golden_facts.h"
#include "conformance/graph/graph_case_id.h"
#include "conformance/graph/graph_child.h"
#include "conformance/machine.h"
#include "conformance/meter.h"
#include "conformance/ops/edges.h"
#include "conformance/ops/no_case.h"
#include "conformance/ops/op_case_run.h"
#include "conformance/ops/op_check.h"
#include "conformance/ops/op_child.h"
#include "conformance/ops/op_selftest.h"
#include "conformance/ops/toolchain.h"
#include "conformance/shard.h"
#include "conformance/waivers.h"

namespace halyard::conformance {
namespace {

constexpr double kPlanDeadlineSeconds = 120;
constexpr double kCaseDeadlineSeconds = 10;
constexpr size_t kMostInOneChild = 64;

/// What levels of kernels differ in.
struct KernelLevel {
  const char* name;  ///< as ids begin
  absl::StatusOr<std::string> (*list)(const RunRequest& request);
  void (*run)(const RunRequest& request, bool closely, CaseResult* inout_result);
};
constexpr KernelLevel kOps = {"L1", ListInChild, RunOpCaseInChild};
constexpr KernelLevel kGraphs = {"L2", ListGraphsInChild, RunGraphCaseInChild};

const KernelLevel& LevelOf(const RunRequest& request) {
  return request.level == "graph" ? kGraphs : kOps;
}

bool Fits(const std::string& glob, absl::string_view text) {
  return glob.empty() || GlobMatches(glob, text);
}

bool AnyFits(const std::string& glob, absl::string_view texts, char between) {
  if (glob.empty()) return true;
  for (const absl::string_view text : absl::StrSplit(texts, between)) {
    if (GlobMatches(glob, text)) return true;
  }
  return false;
}

bool Wanted(const ListedCase& one, const RunRequest& request, const Filter& filter) {
  const OpsRequest& ops = request.ops;
  if (request.level == "graph") {
    // Which ops a graph has is known where it was listed; it has no kernel or edge of its own.
    return AnyFits(ops.format, one.types, '.') && filter.Chooses(one.op, one.kernel, one.id);
  }
  const bool every_case_has_it =
      !ops.edge.empty() && AnyFits(ops.edge, absl::StrJoin(EdgesOfEveryCase(), " "), ' ');
  return Fits(ops.op, one.op) && AnyFits(ops.format, one.types, '.') &&
         Fits(ops.kernel, one.kernel) && (every_case_has_it || AnyFits(ops.edge, one.edges, ' ')) &&
         filter.Chooses(one.op, one.kernel, one.id);
}

CaseResult ShellOf(const KernelLevel& level, const ListedCase& one) {
  CaseResult shell;
  shell.id = one.id;
  shell.level = level.name;
  shell.duty = one.op;
  shell.title = one.types;
  shell.mode = one.kernel;
  if (!one.edges.empty()) shell.facts.emplace_back("edges", one.edges);
  return shell;
}

RunResult StartResult(const RunRequest& request, const std::vector<ListedCase>& all) {
  RunResult run;
  run.level = LevelOf(request).name;
  run.port = request.port;
  run.waivers = request.waivers;
  run.started_utc = UtcNow();
  run.shard = request.shard;
  run.shards = request.shards;
  run.facts = MachineFacts();
  for (const char* name : {"HALYARD_FORCE_KERNEL", "HALYARD_DISABLE_KERNEL"}) {
    if (const char* const value = std::getenv(name); value != nullptr && *value != 0) {
      run.facts.emplace_back(name, value);
    }
  }
  AddOpenFacts(request, &run);
  AddFileDigests(request.ops.plugins, &run);
  if (!request.ops.plugins.empty()) {
    run.facts.emplace_back(kKernelFilesFact, absl::StrJoin(request.ops.plugins, ":"));
  }
  std::vector<std::string> ids;
  for (const ListedCase& one : all) ids.push_back(one.id);
  run.facts.emplace_back(kCaseCountFact, absl::StrCat(ids.size()));
  run.facts.emplace_back(kCaseDigestFact, ListDigest(ids));
  run.facts.emplace_back(kScopeFact, ScopeOf(request));
  run.facts.emplace_back("tier", std::string(TierName(request.ops.tier)));
  AddGoldenFacts(request.ops.golden.get(), &run);
  return run;
}

double DeadlineOf(const RunRequest& request) {
  return kCaseDeadlineSeconds * request.deadline_scale * NaturalTimeScale();
}

// In a child, since a kernel's flags may be of an instruction set that only seems to be there. Gives
// what is wrong; empty if nothing is.
absl::StatusOr<std::string> CheckToolchain() {
  const absl::StatusOr<std::string> answer =
      AskInChild([] { return absl::StatusOr<std::string>(ToolchainFault(ProbeToolchain())); },
                 kCaseDeadlineSeconds * NaturalTimeScale());
  if (answer.ok()) return *answer;
  return absl::StrCat("the check itself fails: ", answer.status().message());
}

CaseResult ToolchainCase(const KernelLevel& level, const std::string& fault) {
  CaseResult one;
  one.id = absl::StrCat(level.name, "/toolchain");
  one.level = level.name;
  one.duty = "toolchain";
  one.title = "The compiler and the machine get the basics right";
  one.verdict = Verdict::kToolchainFault;
  one.reason = absl::StrCat(fault, "; no kernel was run, so that none is blamed for it");
  one.findings.push_back({one.reason, "", 0});
  return one;
}

// Broken kernels go into facts, not into the list of cases: they are the same in every shard.
void AddMutationScore(const RunRequest& request, Meter* meter, RunResult* run) {
  const std::vector<CaseResult> results =
      KillOpMutants(request, "", false,
                    [&](const std::string& id) { meter->Starting(absl::StrCat("mutant ", id)); });
  const MutationScore score = ScoreOf(results);
  AddScore(score, run);
  for (const CaseResult& one : results) {
    if (CountsAsFailed(one.verdict)) run->cases.push_back(one);
  }
}

// What a plan would say of an id, as far as the id tells.
absl::StatusOr<ListedCase> CaseOfId(const std::string& id) {
  if (IsOpCheckId(id)) {
    const std::vector<std::string> parts = absl::StrSplit(id, absl::MaxSplits('/', 3));
    if (parts.size() != 4) return absl::InvalidArgumentError(absl::StrCat("'", id, "' is cut"));
    return ListedCase{id, parts[1], parts[2].substr(6), parts[3].substr(5), "", 0};
  }
  if (IsGraphCaseId(id)) {
    HY_ASSIGN_OR_RETURN(const GraphCaseId graph, ParseGraphCaseId(id));
    return ListedCase{GraphCaseIdText(graph), graph.c.op, TypesText(graph.c), kKernelAuto, "", 0};
  }
  HY_ASSIGN_OR_RETURN(const OpCaseId parsed, ParseOpCaseId(id));
  return ListedCase{OpCaseIdText(parsed), parsed.c.op, TypesText(parsed.c), parsed.kernel, "", 0};
}

}  // namespace

absl::string_view TierName(ops::Tier tier) {
  return tier == ops::Tier::kFull ? "full" : tier == ops::Tier::kStandard ? "standard" : "quick";
}

absl::StatusOr<std::vector<ListedCase>> PlanOps(const RunRequest& request) {
  HY_ASSIGN_OR_RETURN(const std::string text,
                      AskInChild([&] { return LevelOf(request).list(request); },
                                 kPlanDeadlineSeconds * NaturalTimeScale()));
  HY_ASSIGN_OR_RETURN(const std::vector<ListedCase> all, ListedCasesFromText(text));
  const Filter filter(request.filter);
  std::vector<ListedCase> wanted;
  for (const ListedCase& one : all) {
    if (Wanted(one, request, filter)) wanted.push_back(one);
  }
  if (wanted.empty()) return NothingFits(request);
  return wanted;
}

absl::StatusOr<std::vector<CaseResult>> ListOps(const RunRequest& request) {
  HY_ASSIGN_OR_RETURN(const std::vector<ListedCase> listed, PlanOps(request));
  std::vector<CaseResult> cases;
  for (const ListedCase& one : listed) {
    if (ShardOf(one.id, request.shards) != request.shard) continue;
    cases.push_back(ShellOf(LevelOf(request), one));
    cases.back().reason = "not run, only listed";
  }
  return cases;
}

absl::StatusOr<RunResult> RunOps(const RunRequest& request, bool until_failure,
                                 const std::function<void(const Progress&)>& on_progress,
                                 const std::function<void(const CaseResult&)>& on_case) {
  HY_ASSIGN_OR_RETURN(const std::string toolchain, CheckToolchain());
  HY_ASSIGN_OR_RETURN(const std::vector<ListedCase> all, PlanOps(request));
  RunResult run = StartResult(request, all);
  if (!toolchain.empty()) {
    run.cases.push_back(ToolchainCase(LevelOf(request), toolchain));
    return run;
  }
  std::vector<CaseResult> results;
  for (const ListedCase& one : all) {
    if (ShardOf(one.id, request.shards) == request.shard)
      results.push_back(ShellOf(LevelOf(request), one));
  }
  Meter meter(on_progress, results.size());
  if (request.ops.mutation_score) AddMutationScore(request, &meter, &run);
  const std::vector<ChildCase> limits(results.size(), ChildCase{DeadlineOf(request), false, false});
  ChildHooks hooks;
  hooks.most_in_one_child = kMostInOneChild;
  hooks.on_start = [&](size_t index) { meter.Starting(results[index].id); };
  hooks.on_result = [&](size_t index, const CaseResult&) {
    if (on_case) on_case(results[index]);
    meter.Done(1);
  };
  size_t ended = 0;
  hooks.stop_after = [&](size_t index) {
    ended = index + 1;
    return until_failure && CountsAsFailed(results[index].verdict);
  };
  const auto body = [&](size_t, CaseResult* result) {
    LevelOf(request).run(request, false, result);
  };
  HY_RETURN_IF_ERROR(RunInChildren(limits, body, hooks, &results));
  results.resize(ended);
  run.cases.insert(run.cases.begin(), results.begin(), results.end());
  CountGoldenCases(&run);
  ApplyWaivers(&run);
  run.seconds = meter.seconds();
  return run;
}

absl::StatusOr<RunResult> RunOpIds(const std::vector<std::string>& ids, const RunRequest& base,
                                   const std::function<void(const Progress&)>& on_progress,
                                   bool closely) {
  RunRequest request = base;
  request.level = !ids.empty() && IsGraphCaseId(ids.front()) ? "graph" : "ops";
  std::vector<ListedCase> listed;
  std::vector<CaseResult> results;
  for (const std::string& id : ids) {
    HY_ASSIGN_OR_RETURN(ListedCase one, CaseOfId(id));
    results.push_back(ShellOf(LevelOf(request), one));
    listed.push_back(std::move(one));
  }
  RunResult run = StartResult(request, listed);
  SetFact(kScopeFact, ids.size() == 1 ? kOneCase : kChosenCases, &run);
  const std::vector<ChildCase> limits(results.size(), ChildCase{DeadlineOf(base), false, false});
  const auto body = [&](size_t, CaseResult* result) {
    LevelOf(request).run(request, closely, result);
  };
  Meter meter(on_progress, results.size());
  ChildHooks hooks;
  hooks.most_in_one_child = kMostInOneChild;
  hooks.on_start = [&](size_t index) { meter.Starting(results[index].id); };
  hooks.on_result = [&](size_t, const CaseResult&) { meter.Done(1); };
  HY_RETURN_IF_ERROR(RunInChildren(limits, body, hooks, &results));
  run.cases = std::move(results);
  CountGoldenCases(&run);
  ApplyWaivers(&run);
  run.seconds = meter.seconds();
  return run;
}

absl::StatusOr<RunResult> ReplayOp(const std::string& id, const RunRequest& base) {
  HY_RETURN_IF_ERROR(CheckCaseSizes(id, base));
  HY_ASSIGN_OR_RETURN(RunResult run, RunOpIds({id}, base, {}, /*closely=*/true));
  // What is wrong is the id, not a kernel.
  absl::string_view reason = run.cases.front().reason;
  if (absl::ConsumePrefix(&reason, kNoCase)) return NoCase(id, reason);
  return run;
}

}  // namespace halyard::conformance
