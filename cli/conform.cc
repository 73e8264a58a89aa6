// SPDX-License-Identifier: Apache-2.0
//
// `halyard conform`: does a port keep the contract?
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/html_page.h"
#include "conformance/report/report.h"
#include "conformance/runner.h"
#include "ops/builtin.h"

namespace halyard::cli {
namespace {

using conformance::CaseResult;
using conformance::RunRequest;
using conformance::RunResult;

struct ConformArgs {
  PortArgs port;
  std::string level = "hal";
  std::string filter;
  std::string modes = "bare,validate,fault";
  std::string shard;
  std::string expectations;
  std::string junit;
  std::string html;
  std::string json_file;
  std::string replay_id;
  std::vector<std::string> merge_files;
  conformance::OpsRequest ops;
  bool quick = false;  // what is done anyway
  bool standard = false;
  bool full = false;
  double deadline_scale = 1;
  bool list = false;
  bool verbose = false;
};

absl::Status ParseShard(const std::string& text, RunRequest* request) {
  if (text.empty()) return absl::OkStatus();
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('/', 1));
  if (!absl::SimpleAtoi(parts.first, &request->shard) ||
      !absl::SimpleAtoi(parts.second, &request->shards) || request->shard < 1 ||
      request->shard > request->shards) {
    return absl::InvalidArgumentError(
        absl::StrCat("--shard ", text, ": write it as i/n with 1 <= i <= n, such as 2/4"));
  }
  return absl::OkStatus();
}

absl::StatusOr<RunRequest> MakeRequest(const ConformArgs& args) {
  RunRequest request;
  if (args.level != "hal" && args.level != "ops") {
    return absl::InvalidArgumentError(
        absl::StrCat("--level ", args.level, ": this build has the levels hal and ops"));
  }
  request.level = args.level;
  request.port = args.port.port;
  request.device = args.port.device;
  HY_ASSIGN_OR_RETURN(request.options, args.port.ParsedOptions());
  request.filter = args.filter;
  request.modes = absl::StrSplit(args.modes, ',', absl::SkipEmpty());
  request.expectations = args.expectations;
  request.deadline_scale = args.deadline_scale;
  request.load = DefaultLoadOptions();
  request.ops = args.ops;
  request.ops.builtin = &TheBuiltinOps();
  request.ops.tier = args.full       ? ops::Tier::kFull
                     : args.standard ? ops::Tier::kStandard
                                     : ops::Tier::kQuick;
  HY_RETURN_IF_ERROR(ParseShard(args.shard, &request));
  return request;
}

/// Shows how far a run is, at most twice a second.
class ProgressLine {
 public:
  explicit ProgressLine(const Output& output) : output_(output) {}
  void operator()(const conformance::Progress& progress) {
    if (progress.seconds < next_seconds_ && progress.done != progress.total) return;
    next_seconds_ = progress.seconds + (isatty(2) != 0 ? 0.2 : 10.0);
    if (progress.done == progress.total) {
      output_.EndProgress();
      return;
    }
    output_.Progress(absl::StrFormat("%u of %u, %.0f s left: %s", progress.done, progress.total,
                                     progress.seconds_left, progress.current));
  }

 private:
  const Output& output_;
  double next_seconds_ = 2;  // nothing for a run that is over at once
};

absl::Status WriteReports(const ConformArgs& args, const RunResult& result) {
  if (!args.junit.empty()) {
    HY_RETURN_IF_ERROR(WriteFile(args.junit, conformance::ToJUnit(result)));
  }
  if (!args.json_file.empty()) {
    HY_RETURN_IF_ERROR(WriteFile(args.json_file, conformance::ToJson(result).dump(2) + "\n"));
  }
  if (!args.html.empty()) {
    HY_RETURN_IF_ERROR(
        WriteFile(args.html, HtmlPage(absl::StrCat("Halyard conformance: ", result.port),
                                      conformance::ToHtmlSection(result))));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Finish(const ConformArgs& args, const Output& output, const RunResult& result) {
  output.Text(conformance::ToText(result, args.verbose));
  output.Document(conformance::ToJson(result));
  HY_RETURN_IF_ERROR(WriteReports(args, result));
  const conformance::Summary summary = result.Summarise();
  if (summary.passed + summary.failed + summary.weak + summary.waived == 0) {
    output.Text("No case could be run here, so nothing is shown.\n");
    return kCannotRun;
  }
  return summary.failed + summary.weak == 0 ? kHolds : kDoesNotHold;
}

absl::StatusOr<int> RunConform(const ConformArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const RunRequest request, MakeRequest(args));
  if (args.list) {
    HY_ASSIGN_OR_RETURN(const std::vector<CaseResult> cases, conformance::ListCases(request));
    RunResult listing;
    listing.level = args.level;
    listing.port = args.port.port;
    listing.cases = cases;
    for (const CaseResult& one : cases) output.Text(absl::StrCat(one.id, "  ", one.title, "\n"));
    output.Document(conformance::ToJson(listing));
    return kHolds;
  }
  ProgressLine progress(output);
  HY_ASSIGN_OR_RETURN(const RunResult result, conformance::Run(request, std::ref(progress)));
  return Finish(args, output, result);
}

absl::StatusOr<int> RunReplay(const ConformArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const RunRequest request, MakeRequest(args));
  HY_ASSIGN_OR_RETURN(const RunResult result, conformance::Replay(args.replay_id, request));
  ConformArgs verbose = args;
  verbose.verbose = true;
  return Finish(verbose, output, result);
}

absl::StatusOr<int> RunSelfTest(const ConformArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const RunRequest request, MakeRequest(args));
  ProgressLine progress(output);
  HY_ASSIGN_OR_RETURN(const RunResult result, conformance::SelfTest(request, std::ref(progress)));
  ConformArgs verbose = args;
  verbose.verbose = true;
  return Finish(verbose, output, result);
}

absl::StatusOr<int> RunMerge(const ConformArgs& args, const Output& output) {
  std::vector<RunResult> shards;
  for (const std::string& path : args.merge_files) {
    HY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    absl::StatusOr<RunResult> shard = conformance::FromJson(text);
    if (!shard.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": ", shard.status().message()));
    }
    shards.push_back(*std::move(shard));
  }
  HY_ASSIGN_OR_RETURN(const RunResult result, conformance::MergeShards(shards));
  return Finish(args, output, result);
}

void AddReports(CLI::App& command, ConformArgs& args, const Program& program) {
  command.add_option("--junit", args.junit, "Write JUnit XML to this file");
  command.add_option("--html", args.html, "Write a page to this file");
  command.add_option("--json-file", args.json_file, "Write the JSON document to this file");
  command.add_flag("--json", program.output->json, "One JSON document on standard output");
}

/// Options of what to run; `replay` and `selftest` share them with `conform` itself.
void AddRunOptions(CLI::App& command, ConformArgs& args) {
  args.port.AddTo(command);
  command.add_option("--level", args.level, "Level: hal or ops")->capture_default_str();
  command.add_option("--kernels", args.ops.plugins, "Libraries with kernels, for level ops");
  command.add_option("--deadline-scale", args.deadline_scale, "Multiply every deadline")
      ->check(CLI::PositiveNumber);
  command.add_option("--expectations", args.expectations,
                     "The port's expectations.yaml: what it cannot do, and what fails for now");
}

using Action = absl::StatusOr<int> (*)(const ConformArgs&, const Output&);

void SetAction(CLI::App& command, std::shared_ptr<ConformArgs> args, const Program& program,
               Action action) {
  command.callback([args, program, action] {
    const absl::StatusOr<int> code = action(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace

void AddConform(const Program& program) {
  auto args = std::make_shared<ConformArgs>();
  CLI::App* const command =
      program.app->add_subcommand("conform", "Prove that a port keeps the contract, duty by duty");
  command->require_subcommand(0, 1);
  AddRunOptions(*command, *args);
  AddReports(*command, *args, program);
  command->add_option("--filter", args->filter,
                      "Duties to run: globs with ':' between, after '-' those left out");
  command->add_option("--modes", args->modes, "Of bare, validate, fault")->capture_default_str();
  command->add_option("--shard", args->shard, "Run part i of n, as i/n");
  command->add_flag("--quick", args->quick, "The cases of every push (default)");
  command->add_flag("--standard", args->standard, "Quick and more, within ten minutes");
  command->add_flag("--full", args->full, "All cases");
  command->add_option("--op", args->ops.op, "Level ops: ops to test, a glob");
  command->add_option("--format", args->ops.format, "Level ops: a type that cases have, a glob");
  command->add_option("--kernel", args->ops.kernel, "Level ops: kernel ids, a glob");
  command->add_option("--edge", args->ops.edge, "Level ops: an edge that cases cover, such as X11");
  command->add_flag("--list", args->list, "List the cases, run nothing");
  command->add_flag("--all-cases", args->verbose, "Print each case, not only what needs a look");

  auto replay_args = std::make_shared<ConformArgs>();
  CLI::App* const replay = command->add_subcommand("replay", "Run one case again by its id");
  replay->add_option("id", replay_args->replay_id, "Id, as a report prints it")->required();
  AddRunOptions(*replay, *replay_args);
  AddReports(*replay, *replay_args, program);
  SetAction(*replay, replay_args, program, &RunReplay);

  auto self_args = std::make_shared<ConformArgs>();
  CLI::App* const selftest =
      command->add_subcommand("selftest", "Prove the suite: every broken HAL must be found");
  AddRunOptions(*selftest, *self_args);
  AddReports(*selftest, *self_args, program);
  SetAction(*selftest, self_args, program, &RunSelfTest);

  auto merge_args = std::make_shared<ConformArgs>();
  CLI::App* const merge = command->add_subcommand("merge", "Join the JSON documents of all shards");
  merge->add_option("files", merge_args->merge_files, "JSON documents")->required();
  AddReports(*merge, *merge_args, program);
  SetAction(*merge, merge_args, program, &RunMerge);

  command->callback([args, program, command] {
    if (!command->get_subcommands().empty()) return;  // the subcommand's own callback runs
    const absl::StatusOr<int> code = RunConform(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
