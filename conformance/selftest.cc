// SPDX-License-Identifier: Apache-2.0
//
// Runs the suite against HALs that are broken on purpose.
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "conformance/filter.h"
#include "conformance/machine.h"
#include "conformance/mutants/mutants.h"
#include "conformance/run_until.h"
#include "conformance/runner.h"
#include "conformance/shard.h"

namespace halyard::conformance {
namespace {

constexpr char kCpuPort[] = "linux";
// Much of what is broken shows as a wait that never ends: the deadlines of the suite, which leave
// room for slow good ports, are cut for the broken ones.
constexpr double kPatience = 0.3;

std::optional<hy_hal_get_fn> FindBuiltin(const RunRequest& request, absl::string_view word) {
  for (const hal::BuiltinPort& builtin : request.load.builtins) {
    if (word == builtin.name) return builtin.get;
  }
  return std::nullopt;
}

// A run of one broken HAL: bare, where most of it shows; faults where memory is what fails.
RunRequest RequestFor(const RunRequest& base, const hal::BuiltinPort& builtin,
                      const std::string& filter, double patience) {
  RunRequest request;
  request.port = builtin.name;
  request.filter = filter;
  request.modes = {"bare"};
  request.deadline_scale = base.deadline_scale * patience;
  request.load.builtins = absl::MakeConstSpan(&builtin, 1);
  return request;
}

CaseResult ShellFor(const std::string& name, const std::string& base, const std::string& title) {
  CaseResult shell;
  shell.id = absl::StrCat("L0/selftest/", name, "/mode=bare/port=", base);
  shell.level = "L0";
  shell.duty = "selftest";
  shell.mode = "bare";
  shell.title = title;
  return shell;
}

const CaseResult* FirstFailure(const RunResult& run) {
  for (const CaseResult& one : run.cases) {
    if (CountsAsFailed(one.verdict)) return &one;
  }
  return nullptr;
}

/// Runs a mutant, or a good port wrapped like one (spoil NULL), and judges.
class Judge {
 public:
  explicit Judge(const RunRequest& base) : base_(base) {}

  /// The port that a mutant is made of: "linux" stands for the CPU port of the request.
  std::string PortOf(const Mutant& mutant) const {
    return mutant.base == std::string(kCpuPort) ? base_.port : mutant.base;
  }

  CaseResult Mutate(const Mutant& mutant) const {
    const std::string port = PortOf(mutant);
    CaseResult result =
        ShellFor(mutant.id, port, absl::StrCat("Trap ", mutant.trap, ": ", mutant.description));
    const absl::StatusOr<RunResult> run = RunOn(port, mutant.spoil, mutant.filter, true);
    if (!run.ok()) return Broken(run.status(), &result);
    const CaseResult* const killer = FirstFailure(*run);
    if (killer == nullptr) {
      result.verdict = Verdict::kFail;
      result.reason = absl::StrCat("survived: ", run->Summarise().passed, " cases of ",
                                   mutant.filter, " pass on it");
      result.findings.push_back({result.reason, "", 0});
      return result;
    }
    result.verdict = Verdict::kPass;
    result.reason = absl::StrCat("killed by ", killer->duty);
    result.facts = {{"killed_by", killer->duty},
                    {"case", killer->id},
                    {"verdict", std::string(VerdictName(killer->verdict))},
                    {"seen", killer->reason}};
    return result;
  }

  CaseResult Control(const std::string& port) const {
    CaseResult result = ShellFor("unmutated", port, "The good port, wrapped the same way, passes.");
    const absl::StatusOr<RunResult> run = RunOn(port, nullptr, "", false);
    if (!run.ok()) return Broken(run.status(), &result);
    const CaseResult* const failure = FirstFailure(*run);
    if (failure != nullptr) {
      result.verdict = Verdict::kFail;
      result.reason = absl::StrCat(failure->id, ": ", failure->reason);
      for (const CaseResult& one : run->cases) {
        if (CountsAsFailed(one.verdict)) {
          result.findings.push_back({absl::StrCat(one.id, ": ", one.reason), "", 0});
        }
      }
      return result;
    }
    result.verdict = Verdict::kPass;
    result.facts = {{"passed", absl::StrCat(run->Summarise().passed)}};
    return result;
  }

 private:
  absl::StatusOr<RunResult> RunOn(const std::string& base, void (*spoil)(hy_hal_api*),
                                  const std::string& filter, bool until_failure) const {
    const std::optional<hy_hal_get_fn> entry = FindBuiltin(base_, base);
    if (!entry.has_value()) {
      return absl::NotFoundError(absl::StrCat("port ", base, " is not built into this program"));
    }
    ChooseMutant(*entry, spoil);
    // A mutant keeps the name in its table, which the loader compares with the one it is listed by.
    const hal::BuiltinPort builtin = {base.c_str(), &MutantEntry};
    return RunUntil(RequestFor(base_, builtin, filter, until_failure ? kPatience : 1),
                    until_failure);
  }

  static CaseResult Broken(const absl::Status& status, CaseResult* result) {
    result->verdict = Verdict::kFail;
    result->reason = absl::StrCat("could not be run: ", status.ToString());
    result->findings.push_back({result->reason, "", 0});
    return *result;
  }

  const RunRequest& base_;
};

}  // namespace

absl::StatusOr<RunResult> SelfTest(const RunRequest& base,
                                   const std::function<void(const Progress&)>& on_progress) {
  const Judge judge(base);
  const Filter filter(base.filter);
  std::vector<Mutant> mutants;
  std::set<std::string> ports;
  for (const Mutant& mutant : AllMutants()) {
    if (filter.Chooses("selftest", "unmutated", "")) ports.insert(judge.PortOf(mutant));
    if (filter.Chooses("selftest", mutant.id, mutant.description)) mutants.push_back(mutant);
  }
  if (mutants.empty() && ports.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("no broken HAL fits the filter '", base.filter,
                                                   "'; they are HM01, HM02, ..."));
  }
  const uint64_t start_ns = MonotonicNs();
  Progress progress;
  progress.total = static_cast<uint32_t>(mutants.size() + ports.size());
  RunResult run;
  run.level = "L0";
  run.port = "selftest";
  run.port_origin = "built in";
  run.started_utc = UtcNow();
  run.facts = MachineFacts();
  const auto add = [&](const std::string& name, const std::function<CaseResult()>& make) {
    progress.current = name;
    if (on_progress) on_progress(progress);
    const uint64_t case_start_ns = MonotonicNs();
    run.cases.push_back(make());
    run.cases.back().seconds = static_cast<double>(MonotonicNs() - case_start_ns) * 1e-9;
    ++progress.done;
    progress.seconds = static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
    progress.seconds_left = progress.seconds / progress.done * (progress.total - progress.done);
  };
  for (const std::string& port : ports) add(port, [&] { return judge.Control(port); });
  for (const Mutant& mutant : mutants) add(mutant.id, [&] { return judge.Mutate(mutant); });
  progress.current.clear();
  if (on_progress) on_progress(progress);
  run.seconds = progress.seconds;
  return run;
}

}  // namespace halyard::conformance
