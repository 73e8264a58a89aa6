// SPDX-License-Identifier: Apache-2.0
#include "conformance/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "conformance/child_process.h"
#include "conformance/crumbs.h"
#include "conformance/report/report.h"

namespace halyard::conformance {
namespace {

/// Nothing that is tested may print, in any case: HAL-ERR-05 of ports, OP-RUN-10 of kernels.
void CheckNothingWritten(int output_fd, off_t before, CaseResult* inout_result) {
  std::fflush(stdout);
  std::fflush(stderr);
  const std::string text = ReadOutput(output_fd, before);
  if (text.empty()) return;
  Finding finding;
  finding.message =
      absl::StrCat(inout_result->level == "L0" ? "HAL-ERR-05" : "OP-RUN-10",
                   ": written to standard output or error during this case: \"", text, "\"");
  inout_result->findings.push_back(finding);
  if (CountsAsFailed(inout_result->verdict)) return;
  inout_result->verdict = Verdict::kFail;
  inout_result->reason = finding.message;
}

using Body = std::function<void(size_t, CaseResult*)>;

[[noreturn]] void RunInThisChild(const std::vector<ChildCase>& cases, const Body& body,
                                 const std::vector<size_t>& batch,
                                 const std::vector<CaseResult>& shells, int pipe_fd,
                                 int output_fd) {
  for (const size_t index : batch) {
    WriteLine(pipe_fd, absl::StrCat("start ", index));
    CaseResult result = shells[index];
    const off_t before = OutputSize(output_fd);
    const uint64_t start_ns = MonotonicNs();
    body(index, &result);
    result.seconds = static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
    CheckNothingWritten(output_fd, before, &result);
    WriteLine(pipe_fd, CaseToJsonLine(result));
    if (cases[index].exits) std::exit(0);
    if (CountsAsFailed(result.verdict)) break;
  }
  _exit(0);
}

void AddCircumstances(const Child& child, CaseResult* inout_result) {
  const std::string calls = CallsInFlight();
  if (!calls.empty()) absl::StrAppend(&inout_result->reason, "; in ", calls);
  const std::string step = StepInFlight();
  if (!step.empty()) absl::StrAppend(&inout_result->reason, "; while ", step);
  const std::string output = child.OutputTail();
  if (!output.empty()) absl::StrAppend(&inout_result->reason, "; it wrote: \"", output, "\"");
}

/// Drives the children of a run.
class Driver {
 public:
  Driver(const std::vector<ChildCase>& cases, const Body& body, const ChildHooks& hooks,
         std::vector<CaseResult>* inout_results)
      : cases_(cases),
        body_(body),
        hooks_(hooks),
        results_(*inout_results),
        shells_(*inout_results) {}

  absl::Status RunAll() {
    std::vector<size_t> batch;
    for (size_t index = 0; index < cases_.size() && !stopped_;) {
      const bool alone = cases_[index].alone || cases_[index].exits;
      batch.clear();
      do {
        batch.push_back(index++);
      } while (!alone && index < cases_.size() && batch.size() < hooks_.most_in_one_child &&
               !cases_[index].alone && !cases_[index].exits);
      HY_RETURN_IF_ERROR(RunBatch(batch));
    }
    return absl::OkStatus();
  }

 private:
  /// Cases of one child that have results, and whether the last of them failed.
  struct Progress {
    size_t done = 0;
    bool failed = false;
  };

  absl::Status RunBatch(std::vector<size_t> batch) {
    while (!batch.empty() && !stopped_) {
      Progress progress;
      HY_RETURN_IF_ERROR(RunChild(batch, /*quiet=*/false, &progress));
      if (progress.failed) {
        const size_t last = batch[progress.done - 1];
        if (progress.done > 1) HY_RETURN_IF_ERROR(RunAgain(last));
        Announce(last);
      }
      batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(progress.done));
    }
    return absl::OkStatus();
  }

  void Announce(size_t index) {
    if (hooks_.on_result) hooks_.on_result(index, results_[index]);
    if (hooks_.stop_after) stopped_ = hooks_.stop_after(index);
  }

  /// A failure in company could be a neighbour's doing: the case alone tells.
  absl::Status RunAgain(size_t index) {
    const CaseResult in_company = results_[index];
    Progress progress;
    results_[index] = shells_[index];
    HY_RETURN_IF_ERROR(RunChild({index}, /*quiet=*/true, &progress));
    if (progress.failed) return absl::OkStatus();
    results_[index] = in_company;
    absl::StrAppend(&results_[index].reason,
                    "; it passes in a process of its own: state is left behind by an earlier case");
    return absl::OkStatus();
  }

  /// Runs one child up to its first failure; at least one case has a result then. What does not
  /// fail is announced at once unless `quiet`.
  absl::Status RunChild(const std::vector<size_t>& batch, bool quiet, Progress* out_progress) {
    PrepareCrumbs();
    Child child;
    HY_RETURN_IF_ERROR(child.Start([&](int pipe_fd, int output_fd) {
      RunInThisChild(cases_, body_, batch, shells_, pipe_fd, output_fd);
    }));
    for (const size_t index : batch) {
      if (!quiet && hooks_.on_start) hooks_.on_start(index);
      const uint64_t start_ns = MonotonicNs();
      Collect(child, index);
      CaseResult& result = results_[index];
      if (result.seconds == 0) {
        result.seconds = static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
      }
      ++out_progress->done;
      out_progress->failed = CountsAsFailed(result.verdict);
      if (out_progress->failed) break;
      if (!quiet) Announce(index);
      if (stopped_) break;
    }
    return absl::OkStatus();
  }

  /// Fills the result of the case that the child is at.
  void Collect(Child& child, size_t index) {
    CaseResult& result = results_[index];
    const uint64_t deadline_ns = DeadlineIn(cases_[index].deadline_s);
    bool timed_out = false;
    std::optional<std::string> line = child.ReadLine(deadline_ns, &timed_out);
    if (line.has_value()) line = child.ReadLine(deadline_ns, &timed_out);
    absl::StatusOr<CaseResult> received = absl::InternalError("no result");
    if (line.has_value()) received = CaseFromJsonLine(*line);
    if (received.ok()) {
      result = *received;
      if (cases_[index].exits) CheckExit(child, cases_[index].deadline_s, &result);
      return;
    }
    if (timed_out) {
      result.verdict = Verdict::kTimeout;
      result.reason = absl::StrFormat("not done after %.1f s", cases_[index].deadline_s);
      AddCircumstances(child, &result);
      child.Kill();
      return;
    }
    result.verdict = Verdict::kCrash;
    result.reason = DescribeEnd(child.Wait(DeadlineIn(cases_[index].deadline_s), &timed_out));
    const std::string missed = MemoryFault();
    if (!missed.empty()) {
      result.verdict = Verdict::kMemoryViolation;
      result.reason = absl::StrCat(missed, "; ", result.reason);
    }
    AddCircumstances(child, &result);
  }

  void CheckExit(Child& child, double deadline_s, CaseResult* inout_result) {
    bool timed_out = false;
    const int status = child.Wait(DeadlineIn(deadline_s), &timed_out);
    if (CountsAsFailed(inout_result->verdict) || inout_result->verdict == Verdict::kSkip) return;
    if (timed_out) {
      inout_result->verdict = Verdict::kTimeout;
      inout_result->reason = "the process does not end: exit() hangs";
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      inout_result->verdict = Verdict::kCrash;
      inout_result->reason = absl::StrCat("during exit(), ", DescribeEnd(status));
    } else {
      return;
    }
    AddCircumstances(child, inout_result);
  }

  static uint64_t DeadlineIn(double seconds) {
    return MonotonicNs() + static_cast<uint64_t>(seconds * 1e9);
  }

  const std::vector<ChildCase>& cases_;
  const Body& body_;
  const ChildHooks& hooks_;
  std::vector<CaseResult>& results_;
  const std::vector<CaseResult> shells_;  // as they were given: a child starts from these
  bool stopped_ = false;
};

}  // namespace

absl::Status RunInChildren(const std::vector<ChildCase>& cases, const Body& body,
                           const ChildHooks& hooks, std::vector<CaseResult>* inout_results) {
  return Driver(cases, body, hooks, inout_results).RunAll();
}

absl::StatusOr<std::string> AskInChild(const std::function<absl::StatusOr<std::string>()>& answer,
                                       double deadline_s) {
  PrepareCrumbs();
  Child child;
  HY_RETURN_IF_ERROR(child.Start([&](int pipe_fd, int) {
    const absl::StatusOr<std::string> text = answer();
    nlohmann::json line = {{"code", static_cast<int>(text.status().code())},
                           {"message", std::string(text.status().message())},
                           {"text", text.ok() ? *text : ""}};
    WriteLine(pipe_fd, line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  }));
  bool timed_out = false;
  const uint64_t deadline_ns = MonotonicNs() + static_cast<uint64_t>(deadline_s * 1e9);
  const std::optional<std::string> line = child.ReadLine(deadline_ns, &timed_out);
  if (!line.has_value()) {
    CaseResult circumstances;
    circumstances.reason = timed_out ? absl::StrFormat("no answer after %.1f s", deadline_s)
                                     : DescribeEnd(child.Wait(deadline_ns, &timed_out));
    AddCircumstances(child, &circumstances);
    return absl::InternalError(circumstances.reason);
  }
  const nlohmann::json parsed = nlohmann::json::parse(*line, nullptr, false);
  if (parsed.is_discarded()) return absl::InternalError("the child's answer is cut");
  const auto code = static_cast<absl::StatusCode>(parsed.value("code", 0));
  if (code != absl::StatusCode::kOk) return absl::Status(code, parsed.value("message", ""));
  return parsed.value("text", "");
}

}  // namespace halyard::conformance
