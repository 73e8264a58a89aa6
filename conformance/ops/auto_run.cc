// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/auto_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "conformance/crumbs.h"
#include "conformance/golden/expectation.h"
#include "conformance/ops/device_operands.h"
#include "conformance/ops/edges.h"
#include "conformance/ops/judge.h"
#include "conformance/ops/op_facts.h"
#include "conformance/ops/team_here.h"
#include "hal/device.h"
#include "registry/device_run.h"
#include "registry/run.h"

namespace halyard::conformance {
namespace {

constexpr uint32_t kMostWorkers = 3;

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

/// How a case is run: by a runner on host memory, or on buffers of the device.
class AutoRun {
 public:
  AutoRun(const TestedOp& op, const OpCaseId& id, const OpsRequest& ops, Fixture* fixture,
          FixtureCache* cache, CaseResult* out)
      : op_(op), id_(id), ops_(ops), fixture_(*fixture), cache_(cache), out_(out) {}

  void Run(const registry::Registry& registry, const hal::Device& device, const hal::Team* team) {
    fixture_.memory().Reset(kPoisonNan);
    NoteStep("selecting");
    const hy_kernel_target target = registry::Runner(&registry, team).target();
    const absl::StatusOr<registry::Selection> selection =
        registry::Select(registry, {op_.op, fixture_.args(), target, nullptr});
    if (!selection.ok()) return Set(Verdict::kFail, selection.status().ToString(), out_);
    chosen_ = selection->kernel;
    // In place the inputs are gone afterwards.
    if (Expected() == nullptr) return;
    const uint64_t runs_before = chosen_->runs();
    NoteStep(absl::StrCat("running ", chosen_->id(), " by the registry"));
    const bool done =
        id_.kernel == kKernelDevice ? OnDevice(registry, device, team) : OnHost(registry, team);
    if (!done) return;
    if (out_->Fact("edges") == nullptr) {
      out_->facts.emplace_back("edges", absl::StrJoin(EdgesOf(id_, *op_.op, fixture_.args()), " "));
    }
    JudgeRan(runs_before);
    NoteStep("");
  }

 private:
  const reference::Expected* Expected() {
    const hy_kernel_desc& desc = (ran_ == nullptr ? chosen_ : ran_)->desc();
    const absl::StatusOr<const reference::Expected*> expected =
        cache_->Expect(fixture_, NumericsOf(desc));
    if (expected.ok()) return *expected;
    Set(Verdict::kFail, expected.status().ToString(), out_);
    return nullptr;
  }

  bool OnHost(const registry::Registry& registry, const hal::Team* team) {
    registry::Runner runner(&registry, team);
    status_ = runner.Run(*op_.op, fixture_.args());
    ran_ = runner.ran();
    return true;
  }

  bool OnDevice(const registry::Registry& registry, const hal::Device& device,
                const hal::Team* team) {
    absl::StatusOr<DeviceOperands> operands =
        DeviceOperands::Make(device, *op_.op, fixture_.args());
    if (!operands.ok()) return Fail(operands.status().ToString());
    registry::DeviceRunner runner(&registry, &device, team, {SmallStaging(), {}});
    status_ = runner.Run(*op_.op, fixture_.args(), operands->places());
    ran_ = runner.runner().ran();
    const absl::StatusOr<std::string> damage = operands->Damage();
    if (!damage.ok()) return Fail(damage.status().ToString());
    if (!damage->empty()) {
      Set(Verdict::kMemoryViolation, *damage, out_);
      return false;
    }
    const absl::Status read = operands->Download();
    if (!read.ok()) return Fail(read.ToString());
    const registry::StagingCounts& counts = runner.counts();
    cut_ = counts.cut_calls != 0;
    out_->facts.emplace_back("moved",
                             absl::StrCat(counts.bytes_in + counts.shadow_bytes, " bytes in, ",
                                          counts.bytes_out, " out", cut_ ? ", in pieces" : ""));
    return true;
  }

  // So little that larger cases are run in pieces, as larger models are.
  static registry::StagingLimits SmallStaging() {
    registry::StagingLimits limits;
    limits.staging_bytes = 16384;
    return limits;
  }

  void JudgeRan(uint64_t runs_before) {
    if (ran_ == nullptr) {
      Fail(absl::StrCat("no kernel brought it to an end: ", status_.ToString()));
      return;
    }
    out_->facts.emplace_back("ran", std::string(ran_->id()));
    const uint64_t runs = chosen_->runs() - runs_before;
    if (ran_ == chosen_ && (cut_ ? runs == 0 : runs != 1)) {
      Fail("the registry does not count the run where it took place");
      return;
    }
    const std::vector<std::string> damage = fixture_.memory().Damage();
    if (!damage.empty()) return Set(Verdict::kMemoryViolation, damage.front(), out_);
    JudgeOutcome();
  }

  void JudgeOutcome() {
    const reference::Expected* const expected = Expected();
    if (expected == nullptr) return;
    if (static_cast<int>(status_.code()) != expected->status) {
      Fail(absl::StrCat("it returns ", status_.ToString(), ", not ",
                        hy_status_name(expected->status)));
      return;
    }
    const hy_op_desc& op = op_.op->desc();
    const Judgement judgement =
        JudgeOutputs(op, fixture_.args(), *expected, [this](const hy_tensor& tensor, int64_t row) {
          return fixture_.memory().RowBefore(tensor, row);
        });
    AddValueFacts(judgement, out_);
    if (cache_->golden() != nullptr) AddExpectedBy(cache_->IsGolden(expected), out_);
    if (!judgement.holds()) return Set(Verdict::kFail, judgement.Reason(op), out_);
    if (ran_ != chosen_) {
      return Set(Verdict::kPassFallback,
                 absl::StrCat(chosen_->id(), " was chosen, ", ran_->id(), " ran"), out_);
    }
    if (IsFallback(*ran_, ops_)) {
      return Set(Verdict::kPassFallback, absl::StrCat(ran_->id(), " ran"), out_);
    }
    Set(Verdict::kPass, "", out_);
  }

  bool Fail(const std::string& reason) {
    Set(Verdict::kFail, reason, out_);
    return false;
  }

  const TestedOp& op_;
  const OpCaseId& id_;
  const OpsRequest& ops_;
  Fixture& fixture_;
  FixtureCache* const cache_;
  CaseResult* const out_;
  const registry::Kernel* chosen_ = nullptr;
  const registry::Kernel* ran_ = nullptr;
  bool cut_ = false;  // into pieces, each of which is a run
  absl::Status status_;
};

}  // namespace

bool IsRegistryRun(absl::string_view kernel) {
  return kernel == kKernelAuto || kernel == kKernelDevice;
}

void RunAuto(const UnderTest& under_test, const RunRequest& request, const OpCaseId& id,
             FixtureCache* cache, CaseResult* out) {
  ReportGuardHits();
  const TestedOp* const op = under_test.Find(id.c.op);
  if (op == nullptr) return Set(Verdict::kFail, absl::StrCat("there is no op ", id.c.op), out);
  NoteStep("building the case");
  const absl::StatusOr<Fixture*> fixture = cache->Get(*op, id.c, nullptr, GuardSide::kAfter);
  if (!fixture.ok()) return Set(Verdict::kFail, std::string(fixture.status().message()), out);
  NoteStep("opening the device");
  const absl::StatusOr<const hal::Device*> device = DeviceHere(request);
  if (!device.ok()) return Set(Verdict::kSkip, device.status().ToString(), out);
  const absl::StatusOr<const hal::Team*> team =
      TeamHere(request, std::min(id.workers, kMostWorkers));
  if (!team.ok()) return Set(Verdict::kSkip, team.status().ToString(), out);
  AutoRun(*op, id, request.ops, *fixture, cache, out).Run(under_test.registry(), **device, *team);
}

}  // namespace halyard::conformance
