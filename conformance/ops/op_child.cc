// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/op_child.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/machine.h"
#include "conformance/ops/abi_call.h"
#include "conformance/ops/auto_run.h"
#include "conformance/ops/close_look.h"
#include "conformance/ops/op_case_run.h"
#include "conformance/ops/op_check.h"
#include "conformance/ops/op_plan.h"
#include "conformance/ops/toolchain.h"

namespace halyard::conformance {
namespace {

constexpr uint32_t kQuickRepeats = 2;
constexpr uint32_t kRepeats = 20;

/// What a process loads once.
struct Loaded {
  absl::StatusOr<std::unique_ptr<UnderTest>> under_test;
  std::string toolchain_fault;  ///< a plugin changed the floating-point unit by being loaded
  std::vector<ProbedLevel> levels;
};

Loaded& OfThisProcess(const RunRequest& request) {
  static auto* const loaded = [&] {
    const uint64_t before = FpControl();
    auto* const made =
        new Loaded{UnderTest::Make(*request.ops.builtin, *request.ops.builtin_kernels,
                                   request.ops.plugins, request.ops.extra),
                   "",
                   {}};
    if (FpControl() != before) {
      made->toolchain_fault =
          "loading the plugins changes floating-point control: one is linked with -ffast-math";
    }
    if (IsEmulated()) made->levels = ProbeToolchain();
    return made;
  }();
  return *loaded;
}

void FailWith(const std::string& reason, CaseResult* out, Verdict verdict = Verdict::kFail) {
  out->verdict = verdict;
  out->reason = reason;
  out->findings.push_back({reason, "", 0});
}

}  // namespace

absl::StatusOr<std::string> ListInChild(const RunRequest& request) {
  const absl::StatusOr<std::unique_ptr<UnderTest>>& under_test = OfThisProcess(request).under_test;
  HY_RETURN_IF_ERROR(under_test.status());
  const OpsRequest& ops = request.ops;
  std::vector<ListedCase> list = ListOpChecks(**under_test);
  const std::vector<ListedCase> cases = ListOpCases(**under_test, {ops.tier, ops.op, ops.kernel});
  list.insert(list.end(), cases.begin(), cases.end());
  return ListedCasesToText(list);
}

const UnderTest* LoadedHere(const RunRequest& request, CaseResult* inout_result) {
  const Loaded& loaded = OfThisProcess(request);
  if (!loaded.under_test.ok()) {
    FailWith(loaded.under_test.status().ToString(), inout_result);
    return nullptr;
  }
  if (!loaded.toolchain_fault.empty()) {
    FailWith(loaded.toolchain_fault, inout_result, Verdict::kToolchainFault);
    return nullptr;
  }
  return loaded.under_test->get();
}

void SuspectEmulator(const RunRequest& request, const uint64_t isa[2], CaseResult* inout_result) {
  if (!CountsAsFailed(inout_result->verdict)) return;
  const std::string suspicion = EmulatorSuspicion(OfThisProcess(request).levels, isa);
  if (suspicion.empty()) return;
  inout_result->verdict = Verdict::kEmulatorSuspect;
  inout_result->reason = absl::StrCat(suspicion, "; ", inout_result->reason);
}

void RunOpCaseInChild(const RunRequest& request, bool closely, CaseResult* inout_result) {
  static auto* const cache = new FixtureCache(request.ops.golden.get());
  const UnderTest* const loaded = LoadedHere(request, inout_result);
  if (loaded == nullptr) return;
  const UnderTest& under_test = *loaded;
  if (IsOpCheckId(inout_result->id)) return RunOpCheck(under_test, inout_result);
  const absl::StatusOr<OpCaseId> id = ParseOpCaseId(inout_result->id);
  if (!id.ok()) return FailWith(std::string(id.status().message()), inout_result);
  if (IsRegistryRun(id->kernel)) return RunAuto(under_test, request, *id, cache, inout_result);
  OpRunOptions options;
  options.repeats = request.ops.tier == ops::Tier::kQuick ? kQuickRepeats : kRepeats;
  OpCaseRun run(under_test, *id, options, cache, inout_result);
  run.Run();
  if (closely) LookClosely(run, inout_result);
  if (run.kernel() == nullptr) return;
  SuspectEmulator(request, run.kernel()->desc().isa, inout_result);
}

}  // namespace halyard::conformance
