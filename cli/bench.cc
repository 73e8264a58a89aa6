// SPDX-License-Identifier: Apache-2.0
//
// `halyard bench ops`: how fast each kernel is, beside the roofs of the machine.
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "bench/ops/bench_ops.h"
#include "cli/command.h"
#include "cli/kernels.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

using bench::BenchReport;
using bench::BenchRow;

/// More than this, and shares of the roofs are not to be trusted.
constexpr double kTrustedDrift = 0.10;

struct BenchArgs {
  PortArgs port;
  KernelArgs kernels;
  std::vector<std::string> cases;
  bool hot = false;
  bench::BenchRequest request;
};

std::string Percent(double share) { return absl::StrFormat("%3.0f %%", 100 * share); }

std::string RowText(const BenchRow& row) {
  const std::string name = absl::StrCat("  ", row.selected ? "* " : "  ", row.kernel);
  if (!row.right) return absl::StrFormat("%-58s no figure: %s\n", name, row.fault);
  return absl::StrFormat("%-58s %10.1f us %7.2f GB/s %s %8.1f GOP/s %s  (%s, +-%.0f %%)\n", name,
                         row.median_ns / 1e3, row.gb_per_s, Percent(row.share_of_read),
                         row.gop_per_s, Percent(row.share_of_compute), row.roof,
                         50 * (row.max_ns - row.min_ns) / row.median_ns);
}

nlohmann::json RoofsJson(const bench::Roofs& roofs) {
  return {{"read_gb_per_s", roofs.read_gb_per_s},
          {"int8_gop_per_s", roofs.int8_gop_per_s},
          {"f32_gop_per_s", roofs.f32_gop_per_s},
          {"read_kernel", roofs.read_kernel},
          {"compute_kernel", roofs.compute_kernel}};
}

nlohmann::json RowJson(const BenchRow& row) {
  nlohmann::json json = {{"case", row.case_text},    {"kernel", row.kernel},
                         {"selected", row.selected}, {"right", row.right},
                         {"threads", row.threads},   {"copies", row.copies},
                         {"bytes", row.bytes},       {"flops", row.flops}};
  if (!row.right) {
    json["fault"] = row.fault;
    return json;
  }
  json["median_ns"] = row.median_ns;
  json["min_ns"] = row.min_ns;
  json["max_ns"] = row.max_ns;
  json["gb_per_s"] = row.gb_per_s;
  json["gop_per_s"] = row.gop_per_s;
  json["share_of_read"] = row.share_of_read;
  json["share_of_compute"] = row.share_of_compute;
  json["share_of_roof"] = row.share_of_roof;
  json["roof"] = row.roof;
  return json;
}

nlohmann::json ReportJson(const BenchReport& report) {
  nlohmann::json rows = nlohmann::json::array();
  for (const BenchRow& row : report.rows) rows.push_back(RowJson(row));
  return {{"schema", "halyard-bench-ops/1"},
          {"roofs_before", RoofsJson(report.before)},
          {"roofs_after", RoofsJson(report.after)},
          {"drift", report.drift},
          {"rows", std::move(rows)}};
}

absl::StatusOr<BenchReport> Measure(const BenchArgs& args, const Output& output) {
  bench::BenchRequest request = args.request;
  if (args.hot) request.cold_bytes = 0;
  for (const std::string& text : args.cases) {
    HY_ASSIGN_OR_RETURN(ops::Case parsed, ops::ParseCase(text));
    request.cases.push_back(std::move(parsed));
  }
  HY_ASSIGN_OR_RETURN(const auto tested, args.kernels.Load());
  HY_ASSIGN_OR_RETURN(const hal::Device device, OpenDevice(args.port));
  std::string shown;
  return bench::BenchOps(
      device, *tested, request,
      [&](const BenchRow& row) {
        output.EndProgress();
        if (shown != row.case_text) output.Text(row.case_text + "\n");
        shown = row.case_text;
        output.Text(RowText(row));
      },
      [&](const std::string& step) { output.Progress(absl::StrCat("measuring ", step)); });
}

int Run(const BenchArgs& args, const Output& output) {
  const absl::StatusOr<BenchReport> report = Measure(args, output);
  output.EndProgress();
  if (!report.ok()) return output.Fail(report.status());
  output.Text(absl::StrFormat(
      "Roofs with %u threads: read %.1f GB/s (%s), int8 %.0f GOP/s, f32 %.0f GOP/s (%s); they "
      "changed by %.0f %% meanwhile.\n* is what runs when nobody chooses.\n",
      report->rows.front().threads, report->before.read_gb_per_s, report->before.read_kernel,
      report->before.int8_gop_per_s, report->before.f32_gop_per_s, report->before.compute_kernel,
      100 * report->drift));
  if (report->drift > kTrustedDrift) {
    output.Text(
        "The machine was busy with something else: these figures say little. Run it again.\n");
  }
  output.Document(ReportJson(*report));
  for (const BenchRow& row : report->rows) {
    if (!row.right) return kDoesNotHold;
  }
  return kHolds;
}

}  // namespace

void AddBench(const Program& program) {
  CLI::App* const bench =
      program.app->add_subcommand("bench", "Measure, beside the machine's roofs");
  bench->require_subcommand(1);
  CLI::App* const command =
      bench->add_subcommand("ops", "Every kernel of every op, or those named");
  const auto args = std::make_shared<BenchArgs>();
  args->port.AddTo(*command);
  args->kernels.AddTo(*command);
  bench::BenchRequest& request = args->request;
  command->add_option("--op", request.ops, "Only this op; can be given again")
      ->allow_extra_args(false);
  command->add_option("--types", request.types, "Only cases with this type among theirs: q8_0");
  command
      ->add_option("--case", args->cases,
                   "This case instead of the usual shapes; can be given again, such as "
                   "matmul/f32.q8_0.f32/M=1,N=576,K=1536/dist=normal/lay=dense/seed=1")
      ->allow_extra_args(false);
  command->add_option("--kernel", request.kernel_glob, "Only kernels whose id matches: '*avx2*'");
  command->add_flag("--selected", request.only_selected, "Only what runs when nobody chooses");
  command->add_flag("--reference", request.reference, "The references, too");
  command->add_option("--threads", request.threads, "Workers; default the budget of the device");
  command->add_option("--seconds", request.seconds, "For each repetition of a row; 0.0001 to 60")
      ->check(Within(1e-4, 60))
      ->capture_default_str();
  command->add_option("--repetitions", request.repetitions, "Of each row")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--hot", args->hot, "Leave operands in the caches; default: cold");
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] { *program.exit_code = Run(*args, *program.output); });
}

}  // namespace halyard::cli
