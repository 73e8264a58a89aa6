// SPDX-License-Identifier: Apache-2.0
#include "cli/conform_request.h"

#include <unistd.h>

#include <optional>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "cli/files.h"
#include "cli/html_page.h"
#include "conformance/golden/golden_pack.h"
#include "conformance/machine.h"
#include "conformance/ops/coverage.h"
#include "conformance/ops/run_parts.h"
#include "conformance/report/diff.h"
#include "conformance/report/report.h"
#include "conformance/waivers.h"
#include "nlohmann/json.hpp"
#include "ops/builtin.h"

namespace halyard::cli {
namespace {

using conformance::OpsRequest;
using conformance::RunDiff;
using conformance::RunRequest;
using conformance::RunResult;

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

absl::StatusOr<std::optional<RunDiff>> DiffOf(const ConformArgs& args, const RunResult& result) {
  if (args.diff.empty()) return std::nullopt;
  HY_ASSIGN_OR_RETURN(const RunResult before, ReadResult(args.diff));
  HY_ASSIGN_OR_RETURN(RunDiff diff, conformance::DiffRuns(before, result));
  return diff;
}

absl::Status WriteReports(const ConformArgs& args, const RunResult& result,
                          const nlohmann::json& document, const std::optional<RunDiff>& diff) {
  if (!args.junit.empty()) {
    HY_RETURN_IF_ERROR(WriteFile(args.junit, conformance::ToJUnit(result)));
  }
  if (!args.json_file.empty()) {
    HY_RETURN_IF_ERROR(WriteFile(args.json_file, DocumentText(document)));
  }
  if (!args.html.empty()) {
    const std::string body = (diff.has_value() ? conformance::DiffToHtml(*diff) : "") +
                             conformance::ToHtmlSection(result);
    HY_RETURN_IF_ERROR(
        WriteFile(args.html, HtmlPage(absl::StrCat("Halyard conformance: ", result.port), body)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<conformance::Waiver>> WaiversOf(const ConformArgs& args) {
  if (args.waivers.empty()) return std::vector<conformance::Waiver>();
  if (args.level == "ops") return conformance::ReadWaivers(args.waivers, conformance::UtcNow());
  return absl::InvalidArgumentError(
      "--waivers are of level ops; what fails at level hal stands in --expectations");
}

absl::StatusOr<std::shared_ptr<const conformance::GoldenPack>> GoldenOf(const ConformArgs& args) {
  if (args.golden.empty()) return nullptr;
  HY_ASSIGN_OR_RETURN(std::shared_ptr<const conformance::GoldenPack> pack,
                      conformance::GoldenPack::Open(args.golden));
  return pack;
}

// An option of another level would be ignored, and the run show something else than was asked for.
absl::Status CheckOptionsOfLevel(const ConformArgs& args) {
  const OpsRequest& ops = args.ops;
  const bool hal = args.level == "hal";
  const bool only_ops = args.level == "ops";
  const bool tier = args.quick || args.standard || args.full;
  const struct {
    bool given;
    bool fits;
    const char* option;
    const char* levels;
  } rows[] = {{!ops.op.empty(), !hal, "--op", "levels ops and graph"},
              {!ops.format.empty(), !hal, "--format", "levels ops and graph"},
              {!ops.kernel.empty(), only_ops, "--kernel", "level ops"},
              {!ops.edge.empty(), only_ops, "--edge", "level ops"},
              {tier, !hal, "--quick, --standard and --full", "levels ops and graph"},
              {!args.golden.empty(), only_ops, "--golden", "level ops"},
              {args.modes != ConformArgs().modes, hal, "--modes", "level hal"},
              {!args.expectations.empty(), hal, "--expectations", "level hal"}};
  for (const auto& row : rows) {
    if (!row.given || row.fits) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        row.option, ": of ", row.levels, "; this run is of level ", args.level, " (--level)"));
  }
  if (args.quick + args.standard + args.full > 1) {
    return absl::InvalidArgumentError("--quick, --standard, --full: give one of them");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RunResult> ReadResult(const std::string& path) {
  HY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<RunResult> result = conformance::FromJson(text);
  if (result.ok()) return result;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", result.status().message()));
}

void AddRunOptions(CLI::App& command, ConformArgs& args) {
  args.port.AddTo(command);
  command.add_option("--level", args.level, "Level: hal, ops or graph")->capture_default_str();
  command.add_option("--kernels", args.ops.plugins,
                     "Libraries with kernels, for levels ops and graph");
  command
      .add_option("--deadline-scale", args.deadline_scale,
                  "Multiply every deadline; 0.001 to 10000")
      ->check(Within(1e-3, 1e4));
  command.add_option("--expectations", args.expectations,
                     "The port's expectations.yaml: what it cannot do, and what fails for now");
  command.add_option("--golden", args.golden,
                     "Level ops: take expected results from this pack where it has them");
  command.add_option("--waivers", args.waivers,
                     "Level ops: failures of kernels that are known, with the day they end");
}

void AddCaseOptions(CLI::App& command, ConformArgs& args) {
  command.add_option("--filter", args.filter,
                     "Cases to run: globs with ':' between, after '-' those left out");
  command.add_option("--modes", args.modes, "Level hal: of bare, validate, fault")
      ->capture_default_str();
  command.add_flag("--quick", args.quick, "Levels ops, graph: the cases of every push (default)");
  command.add_flag("--standard", args.standard, "Levels ops, graph: more, within ten minutes");
  command.add_flag("--full", args.full, "Levels ops, graph: all cases");
  command.add_option("--op", args.ops.op, "Levels ops, graph: ops to test, a glob");
  command.add_option("--format", args.ops.format,
                     "Levels ops, graph: a type that cases have, a glob");
  command.add_option("--kernel", args.ops.kernel, "Level ops: kernel ids, a glob");
  command.add_option("--edge", args.ops.edge, "Level ops: an edge that cases cover, such as X11");
  command.add_option("--jobs", args.ops.jobs, "Level ops: processes at once")
      ->check(CLI::Range(1, 64))
      ->default_val(conformance::DefaultJobs());
  command.add_option("--shard", args.shard, "Run part i of n, as i/n");
}

void AddReports(CLI::App& command, ConformArgs& args, const Program& program) {
  command.add_option("--junit", args.junit, "Write JUnit XML to this file");
  command.add_option("--html", args.html, "Write a page to this file");
  command.add_option("--json-file", args.json_file, "Write the JSON document to this file");
  command.add_option("--diff", args.diff, "JSON document of a former run: say what changed");
  command.add_flag("--json", program.output->json, "One JSON document on standard output");
}

absl::StatusOr<RunRequest> MakeRequest(const ConformArgs& args) {
  RunRequest request;
  if (args.level != "hal" && args.level != "ops" && args.level != "graph") {
    return absl::InvalidArgumentError(
        absl::StrCat("--level ", args.level, ": there are the levels hal, ops and graph"));
  }
  HY_RETURN_IF_ERROR(CheckOptionsOfLevel(args));
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
  request.ops.builtin_kernels = &BuiltinKernelTable();
  request.ops.tier = args.full       ? ops::Tier::kFull
                     : args.standard ? ops::Tier::kStandard
                                     : ops::Tier::kQuick;
  HY_ASSIGN_OR_RETURN(request.waivers, WaiversOf(args));
  HY_ASSIGN_OR_RETURN(request.ops.golden, GoldenOf(args));
  request.ops.mutation_score = conformance::ScopeOf(request) == conformance::kWholeList;
  HY_RETURN_IF_ERROR(ParseShard(args.shard, &request));
  return request;
}

absl::StatusOr<int> Finish(const ConformArgs& args, const Output& output, const RunResult& result) {
  HY_ASSIGN_OR_RETURN(const std::optional<RunDiff> diff, DiffOf(args, result));
  nlohmann::json document = conformance::ToJson(result);
  if (diff.has_value()) {
    output.Text(conformance::DiffToText(*diff));
    document["diff"] = conformance::DiffToJson(*diff);
  }
  output.Text(conformance::ToText(result, args.verbose));
  output.Document(document);
  HY_RETURN_IF_ERROR(WriteReports(args, result, document, diff));
  const conformance::Summary summary = result.Summarise();
  if (summary.passed + summary.failed + summary.weak + summary.waived == 0) {
    output.Text("No case could be run here, so nothing is shown.\n");
    return kCannotRun;
  }
  if (conformance::FailsByWaiversAlone(result)) return kWaiverTrouble;
  return conformance::Holds(result) ? kHolds : kDoesNotHold;
}

std::string HowFar(const conformance::Progress& progress) {
  const std::string done = absl::StrFormat("%u of %u", progress.done, progress.total);
  if (progress.done == 0) return done;  // nothing yet to tell the rest by
  return absl::StrFormat("%s, %.0f s left", done, progress.seconds_left);
}

void ProgressLine::operator()(const conformance::Progress& progress) {
  if (progress.seconds < next_seconds_ && progress.done != progress.total) return;
  next_seconds_ = progress.seconds + (isatty(2) != 0 ? 0.2 : 10.0);
  if (progress.done == progress.total) {
    output_.EndProgress();
    return;
  }
  output_.Progress(absl::StrCat(HowFar(progress), ": ", progress.current));
}

}  // namespace halyard::cli
