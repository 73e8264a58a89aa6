// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/run_parts.h"

#include <sched.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "conformance/child_process.h"
#include "conformance/crumbs.h"
#include "conformance/golden/golden_facts.h"
#include "conformance/machine.h"
#include "conformance/ops/run_ops.h"
#include "conformance/report/report.h"
#include "conformance/waivers.h"

namespace halyard::conformance {
namespace {

using nlohmann::json;

constexpr uint32_t kMostJobs = 16;
constexpr uint64_t kLookNs = 50'000'000;
// What a line of a part is: how far it is, a case, the run without its cases, or why there is none.
constexpr char kProgressLine = 'P';
constexpr char kCaseLine = 'C';
constexpr char kRunLine = 'R';
constexpr char kErrorLine = 'E';

// Shard i of n is dealt into shards i, i + n, i + 2 n ... of n * jobs.
RunRequest PartOf(const RunRequest& request, uint32_t part) {
  RunRequest own = request;
  own.shard = request.shard + request.shards * part;
  own.shards = request.shards * request.ops.jobs;
  own.ops.jobs = 1;
  own.ops.mutation_score = request.ops.mutation_score && part == 0;
  own.waivers.clear();  // applied to the whole
  return own;
}

// In the child.
void RunPart(const RunRequest& request, int pipe_fd) {
  SeparateCrumbs();
  const auto on_progress = [&](const Progress& at) {
    WriteLine(pipe_fd,
              absl::StrCat(std::string(1, kProgressLine), at.done, " ", at.total, " ", at.current));
  };
  absl::StatusOr<RunResult> run = RunOps(request, false, on_progress, {});
  if (!run.ok()) {
    const json error = {{"code", static_cast<int>(run.status().code())},
                        {"message", std::string(run.status().message())}};
    return WriteLine(pipe_fd, std::string(1, kErrorLine) +
                                  error.dump(-1, ' ', true, json::error_handler_t::replace));
  }
  for (const CaseResult& one : run->cases) {
    WriteLine(pipe_fd, std::string(1, kCaseLine) + CaseToJsonLine(one));
  }
  run->cases.clear();
  WriteLine(pipe_fd, std::string(1, kRunLine) +
                         ToJson(*run).dump(-1, ' ', true, json::error_handler_t::replace));
}

/// One process, from the parent's side.
struct Part {
  Child child;
  Progress progress;
  std::vector<CaseResult> cases;
  RunResult run;
  bool done = false;

  absl::Status Take(const std::string& line) {
    const std::string text = line.substr(1);
    if (line[0] == kProgressLine) {
      const std::vector<std::string> words = absl::StrSplit(text, absl::MaxSplits(' ', 2));
      if (words.size() != 3 || !absl::SimpleAtoi(words[0], &progress.done) ||
          !absl::SimpleAtoi(words[1], &progress.total)) {
        return absl::InternalError("a part of the run reports nonsense");
      }
      progress.current = words[2];
    } else if (line[0] == kCaseLine) {
      HY_ASSIGN_OR_RETURN(CaseResult one, CaseFromJsonLine(text));
      cases.push_back(std::move(one));
    } else if (line[0] == kRunLine) {
      HY_ASSIGN_OR_RETURN(run, FromJson(text));
      done = true;
    } else {
      const json error = json::parse(text, nullptr, false);
      return absl::Status(static_cast<absl::StatusCode>(error.value("code", 13)),
                          error.value("message", "a part of the run failed"));
    }
    return absl::OkStatus();
  }

  // What there is to read by now.
  absl::Status Read() {
    bool timed_out = false;
    const uint64_t deadline_ns = MonotonicNs() + kLookNs;
    while (!done) {
      const std::optional<std::string> line = child.ReadLine(deadline_ns, &timed_out);
      if (timed_out) return absl::OkStatus();
      if (!line.has_value()) {
        const std::string end = DescribeEnd(child.Wait(MonotonicNs() + kLookNs, &timed_out));
        return absl::InternalError(absl::StrCat("a part of the run is cut: ", end));
      }
      HY_RETURN_IF_ERROR(Take(*line));
    }
    return absl::OkStatus();
  }
};

using Parts = std::vector<std::unique_ptr<Part>>;

void Tell(const Parts& parts, uint64_t start_ns,
          const std::function<void(const Progress&)>& on_progress) {
  if (!on_progress) return;
  Progress all;
  for (const std::unique_ptr<Part>& part : parts) {
    all.done += part->progress.done;
    all.total += part->progress.total;
    if (!part->done && part->progress.done < part->progress.total) {
      all.current = part->progress.current;
    }
  }
  if (all.total == 0) return;  // still planning
  all.seconds = static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
  if (all.done != 0) all.seconds_left = all.seconds / all.done * (all.total - all.done);
  on_progress(all);
}

RunResult Join(const RunRequest& request, Parts* parts) {
  RunResult run = std::move(parts->front()->run);
  run.shard = request.shard;
  run.shards = request.shards;
  run.waivers = request.waivers;
  for (const std::unique_ptr<Part>& part : *parts) {
    std::move(part->cases.begin(), part->cases.end(), std::back_inserter(run.cases));
  }
  std::stable_sort(run.cases.begin(), run.cases.end(),
                   [](const CaseResult& a, const CaseResult& b) { return a.id < b.id; });
  // Each part checks the toolchain, and says so if it is at fault.
  const auto last =
      std::unique(run.cases.begin(), run.cases.end(),
                  [](const CaseResult& a, const CaseResult& b) { return a.id == b.id; });
  run.cases.erase(last, run.cases.end());
  CountGoldenCases(&run);
  ApplyWaivers(&run);
  return run;
}

}  // namespace

absl::StatusOr<RunResult> RunOpsInParts(const RunRequest& request,
                                        const std::function<void(const Progress&)>& on_progress) {
  const uint64_t start_ns = MonotonicNs();
  Parts parts;
  for (uint32_t i = 0; i < request.ops.jobs; ++i) {
    parts.push_back(std::make_unique<Part>());
    const RunRequest own = PartOf(request, i);
    HY_RETURN_IF_ERROR(parts.back()->child.Start([&](int fd, int) { RunPart(own, fd); }));
  }
  const auto all_done = [&] {
    return std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part->done; });
  };
  while (!all_done()) {
    for (const std::unique_ptr<Part>& part : parts) HY_RETURN_IF_ERROR(part->Read());
    Tell(parts, start_ns, on_progress);
  }
  RunResult run = Join(request, &parts);
  run.seconds = static_cast<double>(MonotonicNs() - start_ns) * 1e-9;
  return run;
}

uint32_t DefaultJobs() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (IsEmulated() || sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return std::min(kMostJobs, static_cast<uint32_t>(std::max(1, CPU_COUNT(&mask))));
}

}  // namespace halyard::conformance
