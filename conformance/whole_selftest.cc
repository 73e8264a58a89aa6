// SPDX-License-Identifier: Apache-2.0
//
// The proof of the suite as a whole: HALs and kernels, and the faults of one list that either shows.
#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/machine.h"
#include "conformance/ops/op_selftest.h"
#include "conformance/runner.h"

namespace halyard::conformance {
namespace {

// Two runs as one, for who watches.
class Both {
 public:
  explicit Both(const std::function<void(const Progress&)>& on_progress)
      : on_progress_(on_progress) {}

  void Part(const Progress& part, uint32_t before, uint32_t after) const {
    if (!on_progress_) return;
    Progress whole = part;
    whole.done += before;
    whole.total += before + after;
    // The end of a part is not the end.
    if (after != 0 && part.done == part.total) return;
    on_progress_(whole);
  }

 private:
  const std::function<void(const Progress&)>& on_progress_;
};

// A part of which the filter leaves nothing is no error of the whole.
absl::StatusOr<RunResult> OrNothing(absl::StatusOr<RunResult> part, const RunRequest& base) {
  if (part.ok() || base.filter.empty() || !absl::IsInvalidArgument(part.status())) return part;
  RunResult nothing;
  nothing.port = "selftest";
  nothing.started_utc = UtcNow();
  nothing.facts = MachineFacts();
  return nothing;
}

}  // namespace

absl::StatusOr<RunResult> WholeSelfTest(const RunRequest& base,
                                        const std::function<void(const Progress&)>& on_progress) {
  const Both both(on_progress);
  constexpr uint32_t kAboutSoManyOps = 40;
  const auto on_hal = [&](const Progress& part) { both.Part(part, 0, kAboutSoManyOps); };
  HY_ASSIGN_OR_RETURN(RunResult run, OrNothing(SelfTest(base, on_hal), base));
  const auto hal_cases = static_cast<uint32_t>(run.cases.size());
  const auto on_ops = [&](const Progress& part) { both.Part(part, hal_cases, 0); };
  HY_ASSIGN_OR_RETURN(RunResult ops, OrNothing(OpSelfTest(base, on_ops), base));
  RunRequest of_graphs = base;
  of_graphs.level = "graph";
  HY_ASSIGN_OR_RETURN(RunResult graphs, OrNothing(OpSelfTest(of_graphs, {}), base));
  std::move(graphs.cases.begin(), graphs.cases.end(), std::back_inserter(ops.cases));
  ops.seconds += graphs.seconds;
  std::vector<CaseResult> mapped = MapHalMutants(run.cases);
  std::move(mapped.begin(), mapped.end(), std::back_inserter(ops.cases));
  if (run.cases.empty() && ops.cases.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no deliberate fault fits the filter '", base.filter,
                     "'; they are HM01, ... of HALs, K01, ... of kernels, G01, ... of graphs"));
  }
  const MutationScore score = ScoreOf(ops.cases);
  run.level = "all";
  run.facts.emplace_back("mutants_killed", score.mutants);
  run.facts.emplace_back("reserve_mutants_killed", score.reserves);
  run.facts.emplace_back("graph_mutants_killed", score.graphs);
  run.seconds += ops.seconds;
  std::move(ops.cases.begin(), ops.cases.end(), std::back_inserter(run.cases));
  return run;
}

}  // namespace halyard::conformance
