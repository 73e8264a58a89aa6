// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/op_case_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "conformance/crumbs.h"
#include "conformance/golden/expectation.h"
#include "conformance/ops/abi_call.h"
#include "conformance/ops/edges.h"
#include "conformance/ops/op_facts.h"
#include "conformance/ops/shape_builder.h"
#include "conformance/shard.h"
#include "registry/fit.h"
#include "registry/select.h"

namespace halyard::conformance {
namespace {

constexpr char kRandomBits[] = "random-bits";

std::string OfWorkers(uint32_t workers) {
  return absl::StrCat("with ", workers, workers == 1 ? " worker" : " workers");
}

}  // namespace

OpCaseRun::OpCaseRun(const UnderTest& under_test, const OpCaseId& id, const OpRunOptions& options,
                     FixtureCache* cache, CaseResult* out)
    : under_test_(under_test), id_(id), options_(options), cache_(cache), out_(out) {}

void OpCaseRun::Run() {
  ReportGuardHits();
  const bool judged = Prepare() && Primary();
  const bool done = judged && (!options_.all_edges || (Elsewhere() && OtherCounts() && Threads() &&
                                                       Overlap() && RowsAlone()));
  if (done) Pass();
  AddFacts();
  NoteStep("");
}

bool OpCaseRun::Fail(Verdict verdict, const std::string& reason) {
  out_->verdict = verdict;
  out_->reason = reason;
  if (CountsAsFailed(verdict)) out_->findings.push_back({reason, "", 0});
  return false;
}

bool OpCaseRun::FindKernel() {
  op_ = under_test_.Find(id_.c.op);
  if (op_ == nullptr)
    return Fail(Verdict::kFail, absl::StrCat(kNoCase, "there is no op ", id_.c.op));
  kernel_ = under_test_.registry().FindKernel(id_.kernel);
  if (kernel_ == nullptr || kernel_->op().name() != id_.c.op) {
    return Fail(Verdict::kFail,
                absl::StrCat(kNoCase, "there is no kernel ", id_.kernel, " of ", id_.c.op,
                             "; if it is in a library, name that with --kernels"));
  }
  if (kernel_->desc().layout != HY_LAYOUT_CANONICAL) {
    const registry::Layout* const layout =
        under_test_.registry().FindLayout(kernel_->desc().layout);
    if (layout == nullptr) {
      return Fail(Verdict::kFail,
                  absl::StrCat("the kernel's layout ", kernel_->desc().layout, " is not there"));
    }
    layout_ = &layout->desc;
  }
  return FindParams();
}

bool OpCaseRun::FindParams() {
  const hy_kernel_desc& desc = kernel_->desc();
  params_ = DefaultParams(desc);
  for (const auto& [name, value] : id_.params) {
    uint32_t i = 0;
    while (i < desc.param_count && name != desc.params[i].name) ++i;
    const int64_t* const end =
        i == desc.param_count ? nullptr : desc.params[i].values + desc.params[i].value_count;
    if (end == nullptr || std::find(desc.params[i].values, end, value) == end) {
      return Fail(Verdict::kFail,
                  absl::StrCat(kNoCase, "the kernel has no parameter ", name, "=", value));
    }
    params_[i] = value;
  }
  return true;
}

bool OpCaseRun::Prepare() {
  if (!FindKernel()) return false;
  NoteStep("building the case");
  const absl::StatusOr<Fixture*> fixture = cache_->Get(*op_, id_.c, layout_, GuardSide::kAfter);
  if (absl::IsUnimplemented(fixture.status())) {
    return Fail(Verdict::kNotSupported, std::string(fixture.status().message()));
  }
  if (absl::IsResourceExhausted(fixture.status())) {
    return Fail(Verdict::kSkip, std::string(fixture.status().message()));
  }
  if (!fixture.ok()) {
    return Fail(Verdict::kFail, absl::StrCat(kNoCase, fixture.status().message()));
  }
  after_ = *fixture;
  work_ = op_->op->desc().flops == nullptr ? 0 : op_->op->desc().flops(after_->args());
  if (!CheckPredicate()) return false;
  if (id_.c.dist == kRandomBits) return true;
  NoteStep("computing what must come out");
  after_->memory().Reset(kPoisonNan);
  const absl::StatusOr<const reference::Expected*> expected =
      cache_->Expect(*after_, NumericsOf(kernel_->desc()));
  if (!expected.ok()) {
    return Fail(Verdict::kFail,
                absl::StrCat("the reference cannot judge: ", expected.status().ToString()));
  }
  expected_ = *expected;
  golden_ = cache_->IsGolden(expected_);
  return true;
}

// OP-RUN-09: pure, with a reason, and the same before there is memory.
bool OpCaseRun::CheckPredicate() {
  NoteStep("asking whether the kernel supports it");
  const auto fit = [&](const void* args) {
    registry::Request request{op_->op, args, TargetHere(id_.workers)};
    request.only = kernel_;
    return registry::FitKernel(under_test_.registry(), request, *kernel_, false);
  };
  const registry::Fit with_data = fit(after_->args());
  std::vector<uint64_t> planned(after_->CanonicalArgs().size(), 0);
  ShapeBuilder shapes(&id_.c, layout_);
  const absl::Status built = op_->cases->build(id_.c, shapes, planned.data());
  const registry::Fit without = built.ok() ? fit(planned.data()) : with_data;
  if (with_data.verdict != without.verdict) {
    return Fail(Verdict::kFail,
                absl::StrCat("supports says one thing of a plan and another of a call: '",
                             without.reason, "' and '", with_data.reason, "'"));
  }
  if (with_data.verdict == registry::Verdict::kPassedOver) return true;
  if (with_data.reason.empty()) {
    return Fail(Verdict::kFail, "supports refuses without a reason");
  }
  return Fail(Verdict::kNotSupported, with_data.reason);
}

RunMode OpCaseRun::Mode() const {
  RunMode mode;
  mode.workers = id_.workers;
  mode.jitter_seed = Digest(out_->id) | 1;
  return mode;
}

bool OpCaseRun::CheckOutcome(const Fixture& fixture, const RunOutcome& outcome,
                             const std::string& step) {
  const auto during = [&](absl::string_view what) { return absl::StrCat(what, " (", step, ")"); };
  if (!outcome.scratch_fault.empty()) {
    return Fail(Verdict::kMemoryViolation, during(outcome.scratch_fault));
  }
  const std::vector<std::string> damage = fixture.memory().Damage();
  if (!damage.empty()) {
    Fail(Verdict::kMemoryViolation, during(damage.front()));
    for (size_t i = 1; i < damage.size(); ++i) out_->findings.push_back({damage[i], "", 0});
    return false;
  }
  if (outcome.abi_faults != 0) {
    return Fail(Verdict::kAbiViolation, during(DescribeAbiFaults(outcome.abi_faults)));
  }
  const hy_status want = expected_ == nullptr ? outcome.status : expected_->status;
  if (outcome.status == want) return true;
  if (outcome.status == HY_UNIMPLEMENTED) {
    return Fail(Verdict::kNotSupported, during("it declines when it is run"));
  }
  return Fail(Verdict::kFail, during(absl::StrCat("it returns ", hy_status_name(outcome.status),
                                                  ", not ", hy_status_name(want))));
}

bool OpCaseRun::Execute(Fixture& fixture, const RunMode& mode, uint8_t poison, bool threads,
                        const std::string& step) {
  NoteStep(step);
  fixture.memory().Reset(poison);
  const KernelCall call = Call(fixture);
  const RunOutcome outcome = threads ? RunOnThreads(call, mode) : RunSequentially(call, mode);
  return CheckOutcome(fixture, outcome, step);
}

bool OpCaseRun::Primary() {
  const std::string step =
      absl::StrCat("running ", OfWorkers(id_.workers), ", guards after each buffer");
  if (!Execute(*after_, Mode(), kPoisonNan, false, step)) return false;
  bits_ = after_->Snapshot();
  if (expected_ == nullptr) return true;
  judgement_ = JudgeOutputs(op_->op->desc(), after_->args(), *expected_,
                            [&](const hy_tensor& tensor, int64_t row) {
                              return after_->memory().RowBefore(tensor, row);
                            });
  if (judgement_.holds()) return true;
  return Fail(Verdict::kFail, judgement_.Reason(op_->op->desc()));
}

bool OpCaseRun::SameBits(const Fixture& fixture, const std::string& step,
                         absl::string_view promise) {
  const std::vector<uint8_t> bits = fixture.Snapshot();
  if (bits == bits_) return true;
  const std::string where = fixture.Difference(bits_, bits);
  if (expected_ != nullptr) {
    const Judgement other = JudgeOutputs(op_->op->desc(), fixture.args(), *expected_,
                                         [&](const hy_tensor& tensor, int64_t row) {
                                           return fixture.memory().RowBefore(tensor, row);
                                         });
    if (!other.holds()) {
      return Fail(Verdict::kFail,
                  absl::StrCat(other.Reason(op_->op->desc()), " (", step, "; ", promise, ")"));
    }
    if (promise.empty()) return true;
  } else if (promise.empty()) {
    return true;
  }
  return Fail(Verdict::kNondeterministic,
              absl::StrCat("other bits ", step, ": ", where, "; ", promise));
}

// Other addresses, guards on the other side, other contents of outputs and scratch, another order of
// workers: all that a kernel must not depend on, at once.
bool OpCaseRun::Elsewhere() {
  NoteStep("building the case again");
  const absl::StatusOr<Fixture*> before = cache_->Get(*op_, id_.c, layout_, GuardSide::kBefore);
  if (!before.ok()) return Fail(Verdict::kSkip, std::string(before.status().message()));
  RunMode mode = Mode();
  mode.scratch_side = GuardSide::kBefore;
  mode.scratch_dirt = 0x3b;
  const std::string step = absl::StrCat(OfWorkers(id_.workers), ", guards before each buffer");
  for (uint32_t i = 0; i < (work_ > kHeavyWork ? 1 : std::max(1u, options_.repeats)); ++i) {
    mode.jitter_seed = Digest(absl::StrCat(out_->id, "again", i)) | 1;
    if (!Execute(**before, mode, i % 2 == 0 ? kPoisonNumber : kPoisonNan, false, step)) {
      return false;
    }
    if (!SameBits(**before, step,
                  "the result must not depend on what outputs and scratch held, on where memory "
                  "lies, or on the order of workers")) {
      return false;
    }
  }
  return true;
}

bool OpCaseRun::OtherCounts() {
  if (work_ > kHeavyWork) return true;
  const auto rows = static_cast<uint32_t>(
      std::min<int64_t>(200, hy_tensor_rows(&op_->op->tensor(0, after_->args())) + 1));
  const bool invariant = (kernel_->desc().flags & HY_KERNEL_COUNT_INVARIANT) != 0;
  for (const uint32_t workers : {1u, 2u, 3u, 7u, rows, 64u}) {
    if (workers == id_.workers) continue;
    if (work_ > kHeavyWork / 8 && workers > 3) continue;
    RunMode mode = Mode();
    mode.workers = workers;
    const std::string step = OfWorkers(workers);
    if (!Execute(*after_, mode, kPoisonNumber, false, step)) return false;
    const char* const promise =
        invariant ? "the kernel declares that they do not depend on the count" : "";
    if (!SameBits(*after_, step, promise)) return false;
  }
  return true;
}

// Real threads for some: where phases or scratch can go wrong, and one case in four of the others.
bool OpCaseRun::Threads() {
  const hy_kernel_desc& desc = kernel_->desc();
  const bool shares = desc.phases > 1 || desc.scratch_bytes != nullptr;
  if (work_ > kHeavyWork || (!shares && Digest(out_->id) % 4 != 0)) return true;
  RunMode mode = Mode();
  mode.workers = id_.workers > 4 ? 3 : std::max(2u, id_.workers);
  if (mode.workers != id_.workers) {
    if (!Execute(*after_, mode, kPoisonNan, false, OfWorkers(mode.workers))) return false;
    bits_ = after_->Snapshot();
  }
  for (int i = 0; i < 2; ++i) {
    mode.jitter_seed = Digest(absl::StrCat(out_->id, "threads", i)) | 1;
    const std::string step = absl::StrCat("on a real team of ", mode.workers);
    if (!Execute(*after_, mode, kPoisonNumber, true, step)) return false;
    if (!SameBits(*after_, step, "a team must give what one thread gives")) return false;
  }
  return true;
}

// OP-RUN-04, with other data in the other run.
bool OpCaseRun::Overlap() {
  if (work_ > kHeavyWork / 4 || Digest(out_->id) % 3 != 0) return true;
  ops::Case other = id_.c;
  ++other.seed;
  const absl::StatusOr<std::unique_ptr<Fixture>> second =
      Fixture::Make(*op_, other, layout_, GuardSide::kBefore);
  if (!second.ok()) return true;  // values of its own that do not take another seed
  const std::string step = "overlapping with another run of the kernel";
  NoteStep(step);
  RunMode mode = Mode();
  if (!Execute(*after_, mode, kPoisonNan, false, step)) return false;
  bits_ = after_->Snapshot();
  after_->memory().Reset(kPoisonNumber);
  (*second)->memory().Reset(kPoisonNan);
  const RunOutcome outcome = RunOverlapped(Call(*after_), Call(**second), mode);
  return CheckOutcome(*after_, outcome, step) &&
         SameBits(*after_, step, "runs of one kernel may overlap in time");
}

// Values that say little are held against those of other data, which tells an edge from a poor case.
ValueStrength OpCaseRun::Strength() {
  const hy_op_desc& op = op_->op->desc();
  ValueStrength strength = StrengthOf(op, *expected_, nullptr);
  // Data of an edge is the same for any seed.
  if (strength.speaks() || !IsPlainDistribution(id_.c.dist)) return strength;
  NoteStep("computing what other data must give");
  ops::Case other = id_.c;
  ++other.seed;
  const absl::StatusOr<std::unique_ptr<Fixture>> fixture =
      Fixture::Make(*op_, other, layout_, GuardSide::kAfter);
  if (!fixture.ok()) return strength;
  (*fixture)->memory().Reset(kPoisonNan);
  FixtureCache others(cache_->golden());
  const absl::StatusOr<const reference::Expected*> expected =
      others.Expect(**fixture, NumericsOf(kernel_->desc()));
  if (!expected.ok()) return strength;
  golden_ = golden_ && others.IsGolden(*expected);
  return StrengthOf(op, *expected_, *expected);
}

void OpCaseRun::Pass() {
  out_->verdict = Verdict::kPass;
  out_->reason.clear();
  if (expected_ == nullptr) return;
  const ValueStrength strength = Strength();
  const std::string weak = judgement_.weak.empty() ? strength.weak : judgement_.weak;
  if (IsPlainDistribution(id_.c.dist) && !weak.empty()) {
    out_->verdict = Verdict::kWeak;
    out_->reason = weak;
    return;
  }
  // Data of an edge may well be zero for the most part, but must be able to show a fault.
  std::string edge = judgement_.weak.empty() ? strength.edge : judgement_.weak;
  if (edge.empty() && strength.all_same) edge = strength.weak;
  if (!edge.empty()) out_->facts.emplace_back(kEdgeOnlyFact, edge);
}

void OpCaseRun::AddFacts() {
  if (after_ != nullptr && out_->Fact("edges") == nullptr) {
    out_->facts.emplace_back("edges", absl::StrJoin(EdgesOf(id_, *op_->op, after_->args()), " "));
  }
  if (bits_.empty() && judgement_.outputs.empty()) return;
  if (kernel_ != nullptr) out_->facts.emplace_back("ran", std::string(kernel_->id()));
  if (expected_ == nullptr) {
    out_->facts.emplace_back(kModeFact, "S");
  } else {
    AddValueFacts(judgement_, out_);
    if (cache_->golden() != nullptr) AddExpectedBy(golden_, out_);
  }
}

}  // namespace halyard::conformance
