// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/auto_run.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "conformance/crumbs.h"
#include "conformance/ops/edges.h"
#include "conformance/ops/judge.h"
#include "hal/device.h"
#include "registry/run.h"

namespace halyard::conformance {
namespace {

constexpr uint32_t kMostWorkers = 3;

/// Device and teams of this process, one team for each count.
class Teams {
 public:
  absl::StatusOr<const hal::Team*> Get(const RunRequest& request, uint32_t workers) {
    if (!device_.has_value()) HY_RETURN_IF_ERROR(Open(request));
    std::unique_ptr<hal::Team>& team = teams_[workers - 1];
    if (team == nullptr) {
      hal::TeamRequest wanted;
      wanted.count = workers;
      wanted.allow_oversubscription = true;
      wanted.name = "conform";
      HY_ASSIGN_OR_RETURN(hal::Team made, device_->CreateTeam(wanted));
      team = std::make_unique<hal::Team>(std::move(made));
    }
    return team.get();
  }

 private:
  absl::Status Open(const RunRequest& request) {
    HY_ASSIGN_OR_RETURN(std::shared_ptr<hal::Port> port, hal::LoadPort(request.port, request.load));
    HY_ASSIGN_OR_RETURN(hal::Device device,
                        hal::Device::Open(port, request.device, request.options));
    device_.emplace(std::move(device));
    return absl::OkStatus();
  }

  std::optional<hal::Device> device_;
  std::unique_ptr<hal::Team> teams_[kMostWorkers];
};

void Set(Verdict verdict, const std::string& reason, CaseResult* out) {
  out->verdict = verdict;
  out->reason = reason;
  if (CountsAsFailed(verdict)) out->findings.push_back({reason, "", 0});
}

// The work of a plugin that is under test is a pass; what others did in its place, a fallback.
bool IsFallback(const registry::Kernel& ran, const OpsRequest& ops) {
  if (ops.plugins.empty()) return ran.is_reference();
  return ran.source().built_in;
}

void JudgeRun(const registry::Kernel& ran, const registry::Kernel& chosen, const OpsRequest& ops,
              const Fixture& fixture, const absl::Status& status, FixtureCache* cache,
              CaseResult* out) {
  const hy_kernel_desc& desc = ran.desc();
  const absl::StatusOr<const reference::Expected*> expected =
      cache->Expect(fixture, {desc.activation, desc.accumulator, desc.flags});
  if (!expected.ok()) return Set(Verdict::kFail, expected.status().ToString(), out);
  if (static_cast<int>(status.code()) != (*expected)->status) {
    return Set(Verdict::kFail,
               absl::StrCat("it returns ", status.ToString(), ", not ",
                            hy_status_name((*expected)->status)),
               out);
  }
  const Judgement judgement = JudgeOutputs(fixture.op().op->desc(), fixture.args(), **expected,
                                           [&](const hy_tensor& tensor, int64_t row) {
                                             return fixture.memory().RowBefore(tensor, row);
                                           });
  out->facts.emplace_back("mode", judgement.exact() ? "E" : "B");
  if (!judgement.holds()) {
    return Set(Verdict::kFail, judgement.Reason(fixture.op().op->desc()), out);
  }
  if (&ran != &chosen) {
    return Set(Verdict::kPassFallback, absl::StrCat(chosen.id(), " was chosen, ", ran.id(), " ran"),
               out);
  }
  if (IsFallback(ran, ops)) {
    return Set(Verdict::kPassFallback, absl::StrCat(ran.id(), " ran"), out);
  }
  Set(Verdict::kPass, "", out);
}

}  // namespace

void RunAuto(const UnderTest& under_test, const RunRequest& request, const OpCaseId& id,
             FixtureCache* cache, CaseResult* out) {
  ReportGuardHits();
  static auto* const teams = new Teams;
  const TestedOp* const op = under_test.Find(id.c.op);
  if (op == nullptr) return Set(Verdict::kFail, absl::StrCat("there is no op ", id.c.op), out);
  NoteStep("building the case");
  const absl::StatusOr<Fixture*> fixture = cache->Get(*op, id.c, nullptr, GuardSide::kAfter);
  if (!fixture.ok()) return Set(Verdict::kFail, std::string(fixture.status().message()), out);
  (*fixture)->memory().Reset(kPoisonNan);
  NoteStep("opening the device");
  const absl::StatusOr<const hal::Team*> team =
      teams->Get(request, std::min(id.workers, kMostWorkers));
  if (!team.ok()) return Set(Verdict::kSkip, team.status().ToString(), out);
  registry::Runner runner(&under_test.registry(), *team);
  NoteStep("selecting");
  const absl::StatusOr<registry::Selection> selection = registry::Select(
      under_test.registry(), {op->op, (*fixture)->args(), runner.target(), nullptr});
  if (!selection.ok()) return Set(Verdict::kFail, selection.status().ToString(), out);
  // In place the inputs are gone afterwards.
  const hy_kernel_desc& desc = selection->kernel->desc();
  const absl::StatusOr<const reference::Expected*> early =
      cache->Expect(**fixture, {desc.activation, desc.accumulator, desc.flags});
  if (!early.ok()) return Set(Verdict::kFail, early.status().ToString(), out);
  const uint64_t runs_before = selection->kernel->runs();
  NoteStep(absl::StrCat("running ", selection->kernel->id(), " by the registry"));
  const absl::Status status = runner.Run(*op->op, (*fixture)->args());
  out->facts.emplace_back("edges", absl::StrJoin(EdgesOf(id, *op->op, (*fixture)->args()), " "));
  if (runner.ran() == nullptr) {
    return Set(Verdict::kFail, absl::StrCat("no kernel brought it to an end: ", status.ToString()),
               out);
  }
  out->facts.emplace_back("ran", std::string(runner.ran()->id()));
  if (runner.ran() == selection->kernel && selection->kernel->runs() != runs_before + 1) {
    return Set(Verdict::kFail, "the registry does not count the run where it took place", out);
  }
  const std::vector<std::string> damage = (*fixture)->memory().Damage();
  if (!damage.empty()) return Set(Verdict::kMemoryViolation, damage.front(), out);
  JudgeRun(*runner.ran(), *selection->kernel, request.ops, **fixture, status, cache, out);
  NoteStep("");
}

}  // namespace halyard::conformance
