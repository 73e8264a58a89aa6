// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/graph_case_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/c_status.h"
#include "base/status_macros.h"
#include "conformance/crumbs.h"
#include "conformance/graph/graph_cases.h"
#include "conformance/ops/op_case_run.h"
#include "conformance/ops/team_here.h"
#include "conformance/shard.h"

namespace halyard::conformance {
namespace {

std::string OfWorkers(uint32_t workers) {
  return absl::StrCat("with ", workers, workers == 1 ? " worker" : " workers");
}

}  // namespace

GraphCaseRun::GraphCaseRun(const UnderTest& under_test, const RunRequest& request,
                           const GraphCaseId& id, bool closely, CaseResult* out)
    : under_test_(under_test), request_(request), id_(id), closely_(closely), out_(out) {}

void GraphCaseRun::Run() {
  ReportGuardHits();
  if (Prepare() && FirstRun() && NewInputs() && OtherMemory() && OtherCounts() && References()) {
    Pass();
  }
  AddFacts();
  NoteStep("");
}

bool GraphCaseRun::Fail(Verdict verdict, const std::string& reason) {
  out_->verdict = verdict;
  out_->reason = reason;
  if (CountsAsFailed(verdict)) out_->findings.push_back({reason, "", 0});
  return false;
}

absl::Status GraphCaseRun::MakeMemory(const hy_kernel_target& target) {
  ops::Case other = id_.c;
  other.seed += kGraphOtherSeed;
  HY_ASSIGN_OR_RETURN(memory_,
                      GraphMemory::Make(under_test_, graph_, id_.c, GuardSide::kAfter, target));
  HY_ASSIGN_OR_RETURN(other_, GraphMemory::Make(under_test_, graph_, other, GuardSide::kBefore,
                                                target, memory_.get()));
  return absl::OkStatus();
}

bool GraphCaseRun::Prepare() {
  NoteStep("making the graph");
  absl::StatusOr<Graph> graph = MakeGraph(id_, *request_.ops.builtin);
  if (!graph.ok()) {
    return Fail(Verdict::kFail, absl::StrCat(kNoCase, graph.status().message()));
  }
  graph_ = *std::move(graph);
  const absl::StatusOr<const hal::Team*> team = TeamHere(request_, id_.workers);
  if (!team.ok()) return Fail(Verdict::kSkip, team.status().ToString());
  const hy_kernel_target target = registry::TargetOf(**team);
  const absl::Status status = MakeMemory(target);
  if (absl::IsResourceExhausted(status)) {
    return Fail(Verdict::kSkip, std::string(status.message()));
  }
  if (!status.ok()) return Fail(Verdict::kFail, absl::StrCat(kNoCase, status.message()));
  NoteStep("making the plan");
  absl::StatusOr<std::unique_ptr<registry::Plan>> plan =
      MakePlan(*team, *memory_, graph_.steps.size());
  if (!plan.ok()) {
    return Fail(Verdict::kFail, absl::StrCat("no plan: ", plan.status().ToString()));
  }
  plan_ = *std::move(plan);
  return true;
}

absl::StatusOr<std::unique_ptr<registry::Plan>> GraphCaseRun::MakePlan(const hal::Team* team,
                                                                       const GraphMemory& memory,
                                                                       size_t steps) {
  registry::RunOptions options;
  options.canonical = &memory.canonical();
  auto plan = std::make_unique<registry::Plan>(&under_test_.registry(), team, options);
  for (size_t step = 0; step < steps; ++step) {
    HY_RETURN_IF_ERROR(plan->Add(*memory.op(step).op, memory.args(step)).status());
  }
  HY_RETURN_IF_ERROR(plan->Commit());
  return plan;
}

std::vector<StepKernel> GraphCaseRun::KernelsOf(const registry::Plan& plan) {
  std::vector<StepKernel> kernels;
  for (uint32_t step = 0; step < plan.size(); ++step) {
    const registry::Selection& selection = plan.selection(step);
    const registry::Kernel* const ran = plan.ran(step);
    StepKernel one{ran == nullptr ? selection.kernel : ran, {}};
    if (one.kernel == selection.kernel) {
      one.params.assign(selection.params.begin(),
                        selection.params.begin() + selection.kernel->desc().param_count);
    } else {
      one.params = DefaultParams(one.kernel->desc());
    }
    kernels.push_back(std::move(one));
  }
  return kernels;
}

std::vector<StepKernel> GraphCaseRun::ReferencesOf(uint32_t workers) const {
  std::vector<StepKernel> kernels;
  for (size_t step = 0; step < graph_.steps.size(); ++step) {
    const registry::Selection selection =
        registry::SelectReference(*memory_->op(step).op, memory_->args(step), workers);
    kernels.push_back({selection.kernel, DefaultParams(selection.kernel->desc())});
  }
  return kernels;
}

RunMode GraphCaseRun::Mode(uint32_t workers, uint64_t salt) const {
  RunMode mode;
  mode.workers = workers;
  mode.jitter_seed = Digest(absl::StrCat(out_->id, salt)) | 1;
  return mode;
}

// One run of the plan shows what really runs: a kernel that declines makes room for another.
bool GraphCaseRun::FirstRun() {
  memory_->Reset(kPoisonNan);
  NoteStep(absl::StrCat("running the plan ", OfWorkers(id_.workers)));
  plan_->Run().IgnoreError();  // judged when it runs again below
  kernels_ = KernelsOf(*plan_);
  for (uint32_t step = 0; step < plan_->size(); ++step) {
    const registry::Kernel* const chosen = plan_->selection(step).kernel;
    if (kernels_[step].kernel == chosen) continue;
    if (chosen->failures() != 0) {
      return Fail(Verdict::kFail, absl::StrCat(StepText(graph_, step, chosen), " fails, and ",
                                               kernels_[step].kernel->id(), " ran in its place"));
    }
    fallback_ = absl::StrCat(StepText(graph_, step, chosen), " declined, ",
                             kernels_[step].kernel->id(), " ran");
  }
  const std::string what = absl::StrCat("one by one, ", OfWorkers(id_.workers));
  alone_.emplace(memory_.get(), &kernels_, Mode(id_.workers, 1), what);
  if (!alone_->Run(kPoisonNan, closely_, out_)) return false;
  memory_->Reset(kPoisonNumber);
  return RunPlan(plan_.get(), id_.workers, memory_.get(), *alone_, "in one region");
}

// The plan as it stands, on the same memory with other numbers in it.
bool GraphCaseRun::NewInputs() {
  RunMode mode = Mode(id_.workers, 2);
  mode.scratch_side = GuardSide::kBefore;
  mode.scratch_dirt = 0x3b;
  other_alone_.emplace(other_.get(), &kernels_, mode, "one by one, other inputs");
  if (!other_alone_->Run(kPoisonNumber, closely_, out_)) return false;
  memory_->TakeInputs(*other_);
  memory_->Reset(kPoisonNan);
  return RunPlan(plan_.get(), id_.workers, memory_.get(), *other_alone_,
                 "in one region again, other inputs");
}

// The same plan told of other memory.
bool GraphCaseRun::OtherMemory() {
  for (uint32_t step = 0; step < plan_->size(); ++step) {
    std::memcpy(plan_->args(step), other_->args(step), other_->op(step).op->desc().args_bytes);
  }
  NoteStep("committing the plan for other memory");
  const absl::Status status = plan_->Commit();
  if (!status.ok()) {
    return Fail(Verdict::kFail,
                absl::StrCat("the plan takes no other memory: ", status.ToString()));
  }
  other_->Reset(kPoisonNumber);
  return RunPlan(plan_.get(), id_.workers, other_.get(), *other_alone_,
                 "in one region in other memory");
}

bool GraphCaseRun::AllInvariant(const std::vector<StepKernel>& kernels) const {
  for (size_t step = 0; step < kernels.size(); ++step) {
    if (kernels[step].kernel != kernels_[step].kernel) return false;
    if (kernels[step].params != kernels_[step].params) return false;
    if ((kernels[step].kernel->desc().flags & HY_KERNEL_COUNT_INVARIANT) == 0) return false;
  }
  return true;
}

bool GraphCaseRun::OtherCounts() {
  for (const uint32_t workers : {1u, 2u, 3u}) {
    if (workers != id_.workers && !OtherCount(workers)) return false;
  }
  return true;
}

bool GraphCaseRun::OtherCount(uint32_t workers) {
  const absl::StatusOr<const hal::Team*> team = TeamHere(request_, workers);
  if (!team.ok()) return true;  // the device has no such team
  absl::StatusOr<std::unique_ptr<registry::Plan>> plan =
      MakePlan(*team, *other_, graph_.steps.size());
  if (!plan.ok()) {
    return Fail(Verdict::kFail,
                absl::StrCat("no plan ", OfWorkers(workers), ": ", plan.status().ToString()));
  }
  const std::string what = absl::StrCat("in one region ", OfWorkers(workers));
  other_->Reset(kPoisonNan);
  const std::vector<StepKernel> kernels = KernelsOf(**plan);
  if (AllInvariant(kernels))
    return RunPlan(plan->get(), workers, other_.get(), *other_alone_, what);
  OneByOne alone(other_.get(), &kernels, Mode(workers, 3),
                 absl::StrCat("one by one ", OfWorkers(workers)));
  if (!alone.Run(kPoisonNan, closely_, out_)) return false;
  other_->Reset(kPoisonNan);
  return RunPlan(plan->get(), workers, other_.get(), alone, what);
}

// The references in place of the kernels: each judged in its turn, and where the contract leaves only
// one answer, the same bits.
bool GraphCaseRun::References() {
  const std::vector<StepKernel> references = ReferencesOf(id_.workers);
  OneByOne alone(other_.get(), &references, Mode(id_.workers, 4), "one by one, the references");
  if (!alone.Run(kPoisonNan, closely_, out_)) return false;
  GraphBits want = alone.bits();
  for (size_t i = 0; i < want.size(); ++i) {
    if (!alone.determined()[i] || !other_alone_->determined()[i]) want[i] = other_alone_->bits()[i];
  }
  const GraphMemory::Difference found = other_->FirstDifference(want, other_alone_->bits());
  if (found.step < 0) return true;
  return Fail(Verdict::kFail,
              absl::StrCat(StepText(graph_, static_cast<size_t>(found.step),
                                    kernels_[static_cast<size_t>(found.step)].kernel),
                           ": other bits than with the references, though all that leads to it is "
                           "exact: ",
                           found.where));
}

bool GraphCaseRun::SameKernels(const registry::Plan& plan, const OneByOne& alone,
                               const std::string& what) {
  for (uint32_t step = 0; step < plan.size(); ++step) {
    const registry::Kernel* const ran = plan.ran(step);
    const registry::Kernel* const wanted = alone.kernel(step);
    if (ran == nullptr || ran == wanted) continue;
    return Fail(Verdict::kFail,
                absl::StrCat(StepText(graph_, step, wanted),
                             wanted->failures() != 0 ? " fails, and " : " declines once, and ",
                             ran->id(), " ran in its place (", what, ")"));
  }
  return true;
}

bool GraphCaseRun::RunPlan(registry::Plan* plan, uint32_t workers, GraphMemory* memory,
                           const OneByOne& alone, const std::string& what) {
  NoteStep(absl::StrCat("running the plan ", what));
  const absl::Status status = plan->Run();
  const std::vector<std::string> damage = memory->Damage();
  if (!damage.empty()) {
    return Fail(Verdict::kMemoryViolation, absl::StrCat(damage.front(), " (", what, ")"));
  }
  if (static_cast<int>(status.code()) != alone.status()) {
    return Fail(Verdict::kFail, absl::StrCat("the plan gives ", status.ToString(), ", not ",
                                             hy_status_name(alone.status()), " (", what, ")"));
  }
  if (!SameKernels(*plan, alone, what)) return false;
  const GraphMemory::Difference seen = memory->FirstDifference(alone.bits(), memory->Bits());
  return seen.step < 0 || Blame(workers, memory, alone, what, seen);
}

std::array<uint64_t, 2> GraphCaseRun::isa() const {
  std::array<uint64_t, 2> all = {};
  for (const StepKernel& one : kernels_) {
    for (size_t i = 0; i < all.size(); ++i) all[i] |= one.kernel->desc().isa[i];
  }
  return all;
}

void GraphCaseRun::Pass() {
  // The work of a plugin that is under test is a pass; what others did in its place, a fallback.
  const bool by_plugin = !request_.ops.plugins.empty();
  const bool wanted = std::any_of(kernels_.begin(), kernels_.end(), [&](const StepKernel& one) {
    return by_plugin ? !one.kernel->source().built_in : !one.kernel->is_reference();
  });
  out_->reason.clear();
  out_->verdict = Verdict::kPass;
  if (!fallback_.empty() || !wanted) {
    out_->verdict = Verdict::kPassFallback;
    out_->reason = !fallback_.empty() ? fallback_ : "only kernels that were to be replaced ran";
    return;
  }
  bool tells = false;
  for (size_t step = 0; step < graph_.steps.size(); ++step) {
    tells = tells || alone_->record(step).judgement.weak.empty();
  }
  if (tells) return;
  out_->verdict = Verdict::kWeak;
  out_->reason = "no step of it could see a dropped term";
}

void GraphCaseRun::AddFacts() {
  const auto add = [&](const char* name, std::string value) {
    out_->facts.emplace_back(name, std::move(value));
  };
  add("ops", OpsOf(graph_));
  if (memory_ != nullptr && closely_) add("inputs", absl::StrJoin(memory_->InputDigests(), " "));
  if (kernels_.empty()) return;
  std::vector<std::string> ran;
  for (size_t step = 0; step < kernels_.size(); ++step) {
    ran.push_back(absl::StrCat(graph_.steps[step].label, "=", kernels_[step].kernel->id()));
  }
  add("ran", absl::StrJoin(ran, " "));
  if (plan_ != nullptr) add("barriers", absl::StrCat(plan_->barriers()));
  double worst = 0;
  bool exact = true;
  for (size_t step = 0; alone_.has_value() && step < kernels_.size(); ++step) {
    for (const OutputVerdict& one : alone_->record(step).judgement.outputs) {
      worst = std::max(worst, one.worst_error);
      exact = exact && one.exact;
    }
  }
  add("mode", exact ? "E" : "B");
  add("err_T", absl::StrFormat("%.3g", worst));
}

}  // namespace halyard::conformance
