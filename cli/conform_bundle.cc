// SPDX-License-Identifier: Apache-2.0
//
// `halyard conform pack` and `verify`: results that others can check.
#include "cli/conform_bundle.h"

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/conform_request.h"
#include "cli/files.h"
#include "conformance/bundle/bundle.h"
#include "conformance/bundle/spot_check.h"
#include "conformance/machine.h"
#include "conformance/report/report.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;
using conformance::BundleFile;
using conformance::BundleReport;
using conformance::RunResult;
using conformance::Statement;

struct PackArgs {
  std::vector<std::string> results;
  std::string out;
  Statement statement;
};

struct VerifyArgs {
  ConformArgs run;
  std::string bundle;
  std::string date;
  bool spot_check = false;
  uint64_t seed = 0;
};

absl::StatusOr<int> RunPack(const PackArgs& args, const Output& output) {
  std::error_code error;
  if (fs::exists(args.out, error) && !fs::is_empty(args.out, error)) {
    return absl::AlreadyExistsError(absl::StrCat(args.out, " is not an empty folder"));
  }
  std::vector<std::string> documents(args.results.size());
  for (size_t i = 0; i < documents.size(); ++i) {
    HY_RETURN_IF_ERROR(ReadResult(args.results[i]).status());  // its errors name the file
    HY_ASSIGN_OR_RETURN(documents[i], ReadFile(args.results[i]));
  }
  Statement statement = args.statement;
  HY_ASSIGN_OR_RETURN(const std::vector<BundleFile> files,
                      conformance::MakeBundle(documents, &statement));
  for (const BundleFile& file : files) {
    const fs::path path = fs::path(args.out) / file.path;
    HY_RETURN_IF_ERROR(MakeWritableDir(path.parent_path().string()));
    HY_RETURN_IF_ERROR(WriteFile(path.string(), file.contents));
  }
  output.Text(absl::StrCat(conformance::StatementText(statement), "\nBundle: ", args.out, ", ",
                           files.size(), " files. Check it with `halyard conform verify`.\n"));
  // What others will find is better found by who packs.
  HY_ASSIGN_OR_RETURN(const BundleReport report,
                      conformance::VerifyBundle(files, conformance::UtcNow()));
  for (const std::string& line : report.faults) output.Text(absl::StrCat("fault  ", line, "\n"));
  output.Document({{"bundle", args.out}, {"level", statement.level}, {"faults", report.faults}});
  const bool holds = report.faults.empty() && statement.level != conformance::kNoLevel;
  return holds ? kHolds : kDoesNotHold;
}

absl::StatusOr<std::vector<BundleFile>> ReadBundle(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat(folder, " is no folder, so no bundle"));
  }
  if (!fs::exists(fs::path(folder) / conformance::kManifestName, error)) {
    return absl::NotFoundError(
        absl::StrCat(folder, " is no bundle: there is no ", conformance::kManifestName, " in it"));
  }
  std::vector<BundleFile> files;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_directory(error)) continue;
    HY_ASSIGN_OR_RETURN(std::string contents, ReadFile(entry->path().string()));
    files.push_back(
        {fs::relative(entry->path(), folder, error).generic_string(), std::move(contents)});
  }
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  return files;
}

absl::StatusOr<RunResult> RunSpotCheck(const VerifyArgs& args, const BundleReport& report,
                                       const Output& output) {
  for (const RunResult& run : report.runs) {
    if (run.level != "L1") continue;
    ConformArgs ops = args.run;
    ops.level = "ops";
    HY_ASSIGN_OR_RETURN(const conformance::RunRequest request, MakeRequest(ops));
    const uint64_t seed = args.seed != 0 ? args.seed : std::random_device()() | 1u;
    ProgressLine progress(output);
    return conformance::SpotCheck(run, seed, request, std::ref(progress));
  }
  return absl::FailedPreconditionError("a spot check is of level ops, which the bundle lacks");
}

void Print(const BundleReport& report, const Output& output) {
  output.Text(absl::StrCat(conformance::StatementText(report.statement), "\n"));
  for (const std::string& line : report.notes) output.Text(absl::StrCat("note  ", line, "\n"));
  for (const std::string& line : report.waivers) output.Text(line + "\n");
  for (const std::string& line : report.faults) output.Text(absl::StrCat("fault  ", line, "\n"));
}

nlohmann::json ReportJson(const BundleReport& report, int code) {
  return {{"level", report.level},
          {"faults", report.faults},
          {"waivers", report.waivers},
          {"notes", report.notes},
          {"product", report.statement.product},
          {"part", report.statement.part},
          {"exit_code", code}};
}

absl::StatusOr<int> RunVerify(const VerifyArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const std::vector<BundleFile> files, ReadBundle(args.bundle));
  const std::string date = args.date.empty() ? conformance::UtcNow() : args.date;
  HY_ASSIGN_OR_RETURN(BundleReport report, conformance::VerifyBundle(files, date));
  if (args.spot_check) {
    HY_ASSIGN_OR_RETURN(const RunResult spot, RunSpotCheck(args, report, output));
    output.Text(absl::StrCat("Spot check of ", spot.cases.size(), " exact cases, seed ",
                             spot.Fact("spot_check_seed"), ":\n",
                             conformance::ToText(spot, false)));
    const conformance::Summary summary = spot.Summarise();
    if (summary.passed + summary.failed == 0) {
      return absl::UnavailableError("no case of the spot check could be run here");
    }
    if (summary.failed != 0) report.faults.push_back("the spot check fails");
  }
  Print(report, output);
  const bool nothing = report.level == conformance::kNoLevel;
  const int code = !report.faults.empty()    ? kDoesNotHold
                   : !report.waivers.empty() ? kWaiverTrouble
                   : nothing                 ? kDoesNotHold
                                             : kHolds;
  output.Text(absl::StrCat(
      code == kHolds ? "The bundle holds: "
                     : "The bundle does not hold, for what stands above; its results amount to: ",
      report.level, "\n"));
  output.Document(ReportJson(report, code));
  return code;
}

template <typename Args>
void SetAction(CLI::App& command, const Program& program, const std::shared_ptr<Args>& args,
               absl::StatusOr<int> (*action)(const Args&, const Output&)) {
  command.callback([program, args, action] {
    const absl::StatusOr<int> code = action(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

void AddPack(CLI::App& conform, const Program& program) {
  auto args = std::make_shared<PackArgs>();
  CLI::App* const command = conform.add_subcommand(
      "pack", "Make a bundle of results, with a statement, that others can verify");
  command->add_option("results", args->results, "JSON documents of --json-file: levels, all shards")
      ->required();
  command->add_option("--out", args->out, "Folder of the bundle, new or empty")->required();
  Statement& statement = args->statement;
  command->add_option("--product", statement.product, "By whose name it is sold")->required();
  command->add_option("--contact", statement.contact, "Who answers for it")->required();
  command->add_option("--part", statement.part, "The chip; default: as the results name it");
  command->add_option("--memory", statement.memory, "Default: what this machine has");
  command->add_option("--os", statement.os, "Default: the system of this machine");
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  SetAction(*command, program, args, &RunPack);
}

void AddVerify(CLI::App& conform, const Program& program) {
  auto args = std::make_shared<VerifyArgs>();
  CLI::App* const command = conform.add_subcommand(
      "verify", "Check a bundle offline: files, cases, waivers, and what it amounts to");
  command->add_option("bundle", args->bundle, "Folder that pack made")->required();
  command->add_option("--date", args->date, "Day on which waivers must be valid; default: today");
  command->add_flag("--spot-check", args->spot_check,
                    "Run 1 % of the exact cases again, with fresh data, on --port and --kernels");
  command->add_option("--seed", args->seed, "Of the spot check; default: drawn and printed");
  AddRunOptions(*command, args->run);
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  SetAction(*command, program, args, &RunVerify);
}

}  // namespace

void AddBundleCommands(CLI::App& conform, const Program& program) {
  AddPack(conform, program);
  AddVerify(conform, program);
}

}  // namespace halyard::cli
