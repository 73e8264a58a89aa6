// SPDX-License-Identifier: Apache-2.0
//
// A plan gave other bits than its steps one by one: which step is it?
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/graph/graph_case_run.h"
#include "conformance/ops/team_here.h"

namespace halyard::conformance {

absl::StatusOr<GraphMemory::Difference> GraphCaseRun::FindFirst(uint32_t workers,
                                                                GraphMemory* memory,
                                                                const OneByOne& alone) {
  HY_ASSIGN_OR_RETURN(const hal::Team* team, TeamHere(request_, workers));
  const hy_kernel_target target = registry::TargetOf(*team);
  ops::Case strange = id_.c;
  strange.seed += 2 * kGraphOtherSeed;
  HY_ASSIGN_OR_RETURN(
      const std::unique_ptr<GraphMemory> stranger,
      GraphMemory::Make(under_test_, graph_, strange, GuardSide::kAfter, target, memory));
  HY_ASSIGN_OR_RETURN(
      const std::unique_ptr<GraphMemory> kept,
      GraphMemory::Make(under_test_, graph_, id_.c, GuardSide::kAfter, target, memory));
  kept->TakeInputs(*memory);
  for (size_t steps = 1; steps <= graph_.steps.size(); ++steps) {
    HY_ASSIGN_OR_RETURN(const std::unique_ptr<registry::Plan> plan, MakePlan(team, *memory, steps));
    for (const GraphMemory* data : {stranger.get(), kept.get()}) {
      memory->TakeInputs(*data);
      memory->Reset(kPoisonNan);
      plan->Run().IgnoreError();  // what it left is what counts here
    }
    GraphMemory::Difference found =
        memory->FirstDifference(alone.BitsAfter(steps), memory->Bits(), steps);
    if (found.step < 0) continue;
    if (static_cast<size_t>(found.step) + 1 != steps) {
      absl::StrAppend(&found.where, "; from ", StepText(graph_, steps - 1, nullptr), " on");
    }
    return found;
  }
  return absl::NotFoundError("no part of the plan goes wrong");
}

bool GraphCaseRun::Blame(uint32_t workers, GraphMemory* memory, const OneByOne& alone,
                         const std::string& what, const GraphMemory::Difference& seen) {
  const absl::StatusOr<GraphMemory::Difference> first = FindFirst(workers, memory, alone);
  const GraphMemory::Difference& difference = first.ok() ? *first : seen;
  const auto step = static_cast<size_t>(difference.step);
  const registry::Kernel& kernel = *kernels_[step].kernel;
  const Judgement judgement = alone.JudgeAgain(*memory, step);
  const std::string who = StepText(graph_, step, &kernel);
  if (judgement.holds()) {
    return Fail(Verdict::kNondeterministic,
                absl::StrCat(who, ": other bits ", what, " than one by one: ", difference.where));
  }
  Fail(Verdict::kFail,
       absl::StrCat(who, ": ", judgement.Reason(kernel.op().desc()), " (", what, ", ",
                    difference.where, "; one by one the same kernels are right)"));
  if (!closely_) return false;
  const std::vector<uint64_t> args = memory->ArgsFor(step, kernel.desc().layout);
  Sight sight;
  sight.op = &kernel.op().desc();
  sight.kernel = &kernel.desc();
  sight.args = args.data();
  sight.workers = workers;
  TellBadElements(sight, judgement, alone.record(step).expected, out_);
  return false;
}

}  // namespace halyard::conformance
