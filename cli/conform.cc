// SPDX-License-Identifier: Apache-2.0
//
// `halyard conform`: does a port keep the contract, do kernels give what they must?
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "cli/conform_bundle.h"
#include "cli/conform_golden.h"
#include "cli/conform_request.h"
#include "conformance/ops/op_case_id.h"
#include "conformance/ops/shrink.h"
#include "conformance/report/report.h"
#include "conformance/runner.h"

namespace halyard::cli {
namespace {

using conformance::CaseResult;
using conformance::RunRequest;
using conformance::RunResult;

absl::StatusOr<int> RunConform(const ConformArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const RunRequest request, MakeRequest(args));
  if (args.level == "hal" && !args.ops.plugins.empty()) {
    return absl::InvalidArgumentError("--kernels: of levels ops and graph; add --level ops");
  }
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

absl::StatusOr<int> FinishOne(const ConformArgs& args, const Output& output,
                              const RunResult& result) {
  ConformArgs verbose = args;
  verbose.verbose = true;
  return Finish(verbose, output, result);
}

// The id says the level, so that --level need not.
absl::StatusOr<RunRequest> RequestFor(const ConformArgs& args, const std::string& id) {
  ConformArgs of_id = args;
  if (conformance::IsOpCaseId(id)) of_id.level = "ops";
  return MakeRequest(of_id);
}

absl::StatusOr<int> RunReplay(const ConformArgs& args, const std::string& id,
                              const Output& output) {
  HY_ASSIGN_OR_RETURN(const RunRequest request, RequestFor(args, id));
  HY_ASSIGN_OR_RETURN(const RunResult result, conformance::Replay(id, request));
  return FinishOne(args, output, result);
}

absl::StatusOr<int> RunShrink(const ConformArgs& args, const std::string& id,
                              const Output& output) {
  HY_ASSIGN_OR_RETURN(const RunRequest request, RequestFor(args, id));
  ProgressLine progress(output);
  HY_ASSIGN_OR_RETURN(const RunResult result,
                      conformance::ShrinkOp(id, request, std::ref(progress)));
  return FinishOne(args, output, result);
}

absl::StatusOr<int> RunSelfTest(const ConformArgs& args, const Output& output) {
  const bool whole = args.level == "all";
  ConformArgs one_level = args;
  if (whole) one_level.level = "hal";
  HY_ASSIGN_OR_RETURN(const RunRequest request, MakeRequest(one_level));
  ProgressLine progress(output);
  const auto test = whole                 ? &conformance::WholeSelfTest
                    : args.level == "hal" ? &conformance::SelfTest
                                          : &conformance::OpSelfTest;
  HY_ASSIGN_OR_RETURN(const RunResult result, test(request, std::ref(progress)));
  return FinishOne(args, output, result);
}

absl::StatusOr<int> RunMerge(const ConformArgs& args, const std::vector<std::string>& files,
                             const Output& output) {
  std::vector<RunResult> shards;
  for (const std::string& path : files) {
    HY_ASSIGN_OR_RETURN(RunResult shard, ReadResult(path));
    shards.push_back(std::move(shard));
  }
  HY_ASSIGN_OR_RETURN(const RunResult result, conformance::MergeShards(shards));
  return Finish(args, output, result);
}

void SetAction(CLI::App& command, const Program& program,
               std::function<absl::StatusOr<int>()> action) {
  command.callback([program, action = std::move(action)] {
    const absl::StatusOr<int> code = action();
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

/// A subcommand's options, kept as long as the parser.
template <typename Extra>
struct Bound {
  ConformArgs args;
  Extra extra{};
};

void AddReplay(CLI::App& conform, const Program& program) {
  auto bound = std::make_shared<Bound<std::string>>();
  CLI::App* const command = conform.add_subcommand(
      "replay", "Run one case again by its id; tell a failure element by element");
  command->add_option("id", bound->extra, "Id, as a report prints it")->required();
  AddRunOptions(*command, bound->args);
  AddReports(*command, bound->args, program);
  SetAction(*command, program,
            [bound, program] { return RunReplay(bound->args, bound->extra, *program.output); });
}

void AddShrink(CLI::App& conform, const Program& program) {
  auto bound = std::make_shared<Bound<std::string>>();
  CLI::App* const command = conform.add_subcommand(
      "shrink", "Find the smallest case that fails as a case of level ops or graph does");
  command->add_option("id", bound->extra, "Id of a failing case")->required();
  AddRunOptions(*command, bound->args);
  AddReports(*command, bound->args, program);
  SetAction(*command, program,
            [bound, program] { return RunShrink(bound->args, bound->extra, *program.output); });
}

void AddSelfTest(CLI::App& conform, const Program& program) {
  auto bound = std::make_shared<Bound<bool>>();
  CLI::App* const command = conform.add_subcommand(
      "selftest", "Prove the suite: every broken HAL and kernel must be found");
  bound->args.level = "all";
  AddRunOptions(*command, bound->args);
  command->get_option("--level")->description("Level: hal, ops, graph or all");
  command->add_option("--filter", bound->args.filter, "Which: HM01, K07, G01, ...; globs");
  AddReports(*command, bound->args, program);
  SetAction(*command, program,
            [bound, program] { return RunSelfTest(bound->args, *program.output); });
}

void AddMerge(CLI::App& conform, const Program& program) {
  auto bound = std::make_shared<Bound<std::vector<std::string>>>();
  CLI::App* const command =
      conform.add_subcommand("merge", "Join the JSON documents of all shards");
  command->add_option("files", bound->extra, "JSON documents")->required();
  AddReports(*command, bound->args, program);
  SetAction(*command, program,
            [bound, program] { return RunMerge(bound->args, bound->extra, *program.output); });
}

}  // namespace

void AddConform(const Program& program) {
  auto args = std::make_shared<ConformArgs>();
  CLI::App* const command = program.app->add_subcommand(
      "conform", "Prove that a port keeps the contract, and kernels their ops', case by case");
  command->require_subcommand(0, 1);
  AddRunOptions(*command, *args);
  AddReports(*command, *args, program);
  AddCaseOptions(*command, *args);
  command->add_flag("--list", args->list, "List the cases, run nothing");
  command->add_flag("--all-cases", args->verbose, "Print each case, not only what needs a look");
  AddReplay(*command, program);
  AddShrink(*command, program);
  AddSelfTest(*command, program);
  AddMerge(*command, program);
  AddBundleCommands(*command, program);
  AddGoldenCommand(*command, program);
  command->callback([args, program, command] {
    if (!command->get_subcommands().empty()) return;  // the subcommand's own callback runs
    const absl::StatusOr<int> code = RunConform(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
