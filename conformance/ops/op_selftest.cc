// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/op_selftest.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/monotonic_clock.h"
#include "conformance/filter.h"
#include "conformance/machine.h"
#include "conformance/mutants_ops/op_mutants.h"
#include "conformance/ops/run_ops.h"

namespace halyard::conformance {
namespace {

constexpr char kMutantKernels[] = "*@mutants";

bool IsOfGraphs(const RunRequest& request) { return request.level == "graph"; }

std::vector<OpMutant> MutantsOf(const RunRequest& request) {
  return IsOfGraphs(request) ? GraphMutants() : AllOpMutants();
}
std::vector<OpMutant> ControlsOf(const RunRequest& request) {
  return IsOfGraphs(request) ? GraphControls() : ControlKernels();
}

CaseResult Shell(const std::string& level, const std::string& id, int variant,
                 const std::string& title) {
  CaseResult shell;
  shell.id = absl::StrCat(level, "/selftest/", id, ".", variant);
  shell.level = level;
  shell.duty = "selftest";
  shell.title = title;
  shell.mode = "mutant";
  return shell;
}

void Fail(const std::string& reason, CaseResult* out) {
  out->verdict = Verdict::kFail;
  out->reason = reason;
  out->findings.push_back({reason, "", 0});
}

RunRequest RequestFor(const RunRequest& base, const OpMutant& mutant,
                      const hy_kernel_table* table) {
  RunRequest request = base;
  request.level = IsOfGraphs(base) ? "graph" : "ops";
  request.filter.clear();
  request.expectations.clear();
  request.waivers.clear();
  request.shard = request.shards = 1;
  request.ops.plugins.clear();
  request.ops.extra = table;
  request.ops.tier = ops::Tier::kQuick;
  request.ops.op = mutant.op;
  // Real teams take their time; a few cases tell as much as all.
  request.ops.format = mutant.trap == Trap::kPretender ? "q5_1" : "";
  request.ops.edge.clear();
  request.ops.kernel = mutant.trap == Trap::kPretender ? kKernelAuto : kMutantKernels;
  request.ops.mutation_score = false;
  return request;
}

const CaseResult* FirstFailure(const RunResult& run) {
  const auto found = std::find_if(run.cases.begin(), run.cases.end(), [](const CaseResult& one) {
    return CountsAsFailed(one.verdict);
  });
  return found == run.cases.end() ? nullptr : &*found;
}

// A kernel that does nothing is found out if no case that it was chosen for counts as its own.
void JudgePretender(const RunResult& run, CaseResult* out) {
  for (const CaseResult& one : run.cases) {
    if (one.verdict != Verdict::kPassFallback) {
      return Fail(absl::StrCat("survived: ", one.id, " is ", VerdictName(one.verdict),
                               " though the kernel that was chosen declined"),
                  out);
    }
  }
  if (run.cases.empty()) return Fail("no case was run", out);
  out->verdict = Verdict::kPass;
  out->reason = "seen: what ran in its place is a fallback";
  out->facts = {{"killed_by", "proof of execution"}, {"case", run.cases.front().id}};
}

void JudgeMutant(const OpMutant& mutant, const RunResult& run, CaseResult* out) {
  if (mutant.trap == Trap::kPretender) return JudgePretender(run, out);
  const CaseResult* const killer = FirstFailure(run);
  if (killer == nullptr) {
    return Fail(absl::StrCat("survived: ", run.Summarise().passed, " cases pass on it"), out);
  }
  out->verdict = Verdict::kPass;
  out->reason = absl::StrCat("killed: ", VerdictName(killer->verdict));
  out->facts = {{"killed_by", std::string(VerdictName(killer->verdict))},
                {"case", killer->id},
                {"seen", killer->reason}};
}

void JudgeControl(const RunResult& run, CaseResult* out) {
  const CaseResult* const failure = FirstFailure(run);
  if (failure != nullptr) {
    return Fail(
        absl::StrCat("the same code without a fault fails: ", failure->id, ": ", failure->reason),
        out);
  }
  out->verdict = Verdict::kPass;
  out->facts = {{"passed", absl::StrCat(run.Summarise().passed)}};
}

CaseResult RunOne(const RunRequest& base, const OpMutant& mutant, int variant, bool is_control) {
  CaseResult result = Shell(IsOfGraphs(base) ? "L2" : "L1", mutant.id, variant, mutant.description);
  const uint64_t start_ns = MonotonicNs();
  const hy_kernel_table* const table = ChooseOpMutant(mutant, *base.ops.builtin);
  if (table == nullptr) {
    result.verdict = Verdict::kSkip;
    result.reason = "what it breaks is not here";
    return result;
  }
  const absl::StatusOr<RunResult> run =
      RunOps(RequestFor(base, mutant, table), !is_control, {}, {});
  if (!run.ok()) {
    Fail(absl::StrCat("could not be run: ", run.status().ToString()), &result);
  } else if (is_control) {
    JudgeControl(*run, &result);
  } else {
    JudgeMutant(mutant, *run, &result);
  }
  result.seconds = static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
  return result;
}

}  // namespace

std::vector<CaseResult> KillOpMutants(const RunRequest& base, const std::string& filter,
                                      bool with_controls,
                                      const std::function<void(const std::string&)>& on_start) {
  std::vector<CaseResult> results;
  const Filter wanted(filter);
  for (const bool is_control : {false, true}) {
    if (is_control && !with_controls) break;
    std::map<std::string, int> variants;
    for (const OpMutant& mutant : is_control ? ControlsOf(base) : MutantsOf(base)) {
      const int variant = ++variants[mutant.id];
      if (!wanted.Chooses("selftest", mutant.id, mutant.op)) continue;
      if (on_start) on_start(mutant.id);
      results.push_back(RunOne(base, mutant, variant, is_control));
    }
  }
  return results;
}

MutationScore ScoreOf(const std::vector<CaseResult>& results) {
  std::map<std::string, bool> killed;
  MutationScore score;
  for (const CaseResult& one : results) {
    if (one.duty != "selftest" || one.verdict == Verdict::kSkip) continue;
    if (CountsAsFailed(one.verdict)) score.full = false;
    const std::vector<std::string> parts = absl::StrSplit(one.id, '/');
    if (parts.size() < 3) continue;
    const std::string id = parts[2].substr(0, parts[2].find('.'));
    if (id.empty() || absl::StrContains("KARG", id.substr(0, 1)) == false) continue;
    const auto [place, is_new] = killed.emplace(id, true);
    place->second = place->second && one.verdict == Verdict::kPass;
  }
  int counts[3][2] = {};
  for (const auto& [id, dead] : killed) {
    const int kind = id[0] == 'R' ? 1 : id[0] == 'G' ? 2 : 0;
    ++counts[kind][1];
    counts[kind][0] += dead ? 1 : 0;
  }
  score.mutants = absl::StrCat(counts[0][0], "/", counts[0][1]);
  score.reserves = absl::StrCat(counts[1][0], "/", counts[1][1]);
  score.graphs = absl::StrCat(counts[2][0], "/", counts[2][1]);
  return score;
}

void AddScore(const MutationScore& score, RunResult* run) {
  if (run->level == "L2") {
    run->facts.emplace_back("graph_mutants_killed", score.graphs);
    return;
  }
  run->facts.emplace_back("mutants_killed", score.mutants);
  run->facts.emplace_back("reserve_mutants_killed", score.reserves);
}

absl::StatusOr<RunResult> OpSelfTest(const RunRequest& base,
                                     const std::function<void(const Progress&)>& on_progress) {
  RunResult run;
  run.level = IsOfGraphs(base) ? "L2" : "L1";
  run.port = "selftest";
  run.started_utc = UtcNow();
  run.facts = MachineFacts();
  const uint64_t start_ns = MonotonicNs();
  Progress progress;
  progress.total = static_cast<uint32_t>(MutantsOf(base).size() + ControlsOf(base).size());
  run.cases = KillOpMutants(base, base.filter, true, [&](const std::string& id) {
    progress.current = id;
    progress.seconds = static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
    progress.seconds_left =
        progress.done == 0 ? 0
                           : progress.seconds / progress.done * (progress.total - progress.done);
    if (on_progress) on_progress(progress);
    ++progress.done;
  });
  if (run.cases.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no broken kernel fits the filter '", base.filter, "'; they are ",
                     IsOfGraphs(base) ? "G01, G02, ..." : "K01, K02, ..."));
  }
  progress.done = progress.total;
  if (on_progress) on_progress(progress);
  AddScore(ScoreOf(run.cases), &run);
  run.seconds = static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
  return run;
}

std::vector<CaseResult> MapHalMutants(const std::vector<CaseResult>& hal_results) {
  std::vector<CaseResult> mapped;
  for (const MappedMutant& one : MappedHalMutants()) {
    CaseResult result = Shell("L1", one.id, 1, one.description);
    result.level = "L0";
    result.verdict = Verdict::kPass;
    int seen = 0;
    for (const absl::string_view hal : absl::StrSplit(one.hal_mutants, ' ')) {
      for (const CaseResult& other : hal_results) {
        if (!absl::StrContains(other.id, absl::StrCat("/", hal, "/"))) continue;
        ++seen;
        if (other.verdict != Verdict::kPass) {
          Fail(absl::StrCat(hal, ": ", other.reason), &result);
        } else {
          result.facts.emplace_back(std::string(hal), other.reason);
        }
      }
    }
    if (seen == 0) continue;
    if (result.verdict == Verdict::kPass) {
      result.reason = absl::StrCat("killed as ", one.hal_mutants);
    }
    mapped.push_back(std::move(result));
  }
  return mapped;
}

}  // namespace halyard::conformance
