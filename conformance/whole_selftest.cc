// SPDX-License-Identifier: Apache-2.0
//
// The proof of the suite as a whole: HALs and kernels, and the faults of one list that either shows.
#include <algorithm>
#include <iterator>

#include "base/status_macros.h"
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

}  // namespace

absl::StatusOr<RunResult> WholeSelfTest(const RunRequest& base,
                                        const std::function<void(const Progress&)>& on_progress) {
  const Both both(on_progress);
  constexpr uint32_t kAboutSoManyOps = 40;
  HY_ASSIGN_OR_RETURN(RunResult run, SelfTest(base, [&](const Progress& part) {
                        both.Part(part, 0, kAboutSoManyOps);
                      }));
  const auto hal_cases = static_cast<uint32_t>(run.cases.size());
  HY_ASSIGN_OR_RETURN(RunResult ops, OpSelfTest(base, [&](const Progress& part) {
                        both.Part(part, hal_cases, 0);
                      }));
  RunRequest of_graphs = base;
  of_graphs.level = "graph";
  HY_ASSIGN_OR_RETURN(RunResult graphs, OpSelfTest(of_graphs, {}));
  std::move(graphs.cases.begin(), graphs.cases.end(), std::back_inserter(ops.cases));
  ops.seconds += graphs.seconds;
  std::vector<CaseResult> mapped = MapHalMutants(run.cases);
  std::move(mapped.begin(), mapped.end(), std::back_inserter(ops.cases));
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
