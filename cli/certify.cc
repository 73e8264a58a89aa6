// SPDX-License-Identifier: Apache-2.0
//
// `halyard certify`: everything that can be proven about this chip, in one folder.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "cli/conform_request.h"
#include "cli/describe.h"
#include "cli/doctor.h"
#include "cli/files.h"
#include "cli/html_page.h"
#include "conformance/ops/coverage.h"
#include "conformance/ops/run_parts.h"
#include "conformance/report/report.h"
#include "conformance/runner.h"
#include "nlohmann/json.hpp"
#include "ops/builtin.h"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;
using conformance::RunResult;
using conformance::Summary;

struct CertifyArgs {
  PortArgs port;
  DoctorRequest doctor;
  std::string out = "halyard-report";
  std::string levels = "hal,ops";
  std::vector<std::string> plugins;  // with kernels
  bool quick = false;
};

struct Certificate {
  nlohmann::json device;
  DoctorReport doctor;
  std::vector<RunResult> runs;  // L0, and L1 if it was asked for
  bool holds = false;

  const RunResult& hal() const { return runs.front(); }
  std::string claim() const { return runs.size() > 1 ? "Halyard Ops" : "Halyard HAL"; }
};

absl::StatusOr<bool> WantsOps(const std::string& levels) {
  if (levels == "hal") return false;
  if (levels == "hal,ops") return true;
  return absl::InvalidArgumentError(
      absl::StrCat("--levels ", levels, ": there are 'hal' and 'hal,ops'"));
}

/// Progress that names the step, at most once a second.
std::function<void(const conformance::Progress&)> StepProgress(const Output& output) {
  return [&output, next = 0.0](const conformance::Progress& progress) mutable {
    if (progress.seconds < next && progress.done != progress.total) return;
    next = progress.seconds + (isatty(2) != 0 ? 0.2 : 5.0);
    output.Progress(absl::StrCat("conformance: ", HowFar(progress)));
  };
}

conformance::RunRequest OpsRequestOf(const CertifyArgs& args) {
  conformance::RunRequest request;
  request.level = "ops";
  request.port = args.port.port;
  request.load = DefaultLoadOptions();
  request.ops.builtin = &TheBuiltinOps();
  request.ops.builtin_kernels = &BuiltinKernelTable();
  request.ops.plugins = args.plugins;
  request.ops.jobs = conformance::DefaultJobs();
  return request;
}

/// Both levels; the score of broken kernels is of the suite, not of this chip, and left to `conform`.
absl::StatusOr<std::vector<RunResult>> RunLevels(const CertifyArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const bool ops, WantsOps(args.levels));
  conformance::RunRequest request;
  request.port = args.port.port;
  request.device = args.port.device;
  HY_ASSIGN_OR_RETURN(request.options, args.port.ParsedOptions());
  request.load = DefaultLoadOptions();
  if (args.quick) request.modes = {"bare"};
  output.Progress("conformance: does the port keep the contract?");
  std::vector<RunResult> runs(ops ? 2 : 1);
  HY_ASSIGN_OR_RETURN(runs[0], conformance::Run(request, StepProgress(output)));
  output.EndProgress();
  if (!ops) return runs;
  request = OpsRequestOf(args);
  request.device = args.port.device;
  HY_ASSIGN_OR_RETURN(request.options, args.port.ParsedOptions());
  output.Progress("conformance: do operators and kernels give what they must?");
  HY_ASSIGN_OR_RETURN(runs[1], conformance::Run(request, StepProgress(output)));
  output.EndProgress();
  return runs;
}

/// Libraries with kernels are there and can be loaded, as a child finds that lists their cases.
absl::Status CheckKernels(const CertifyArgs& args) {
  HY_ASSIGN_OR_RETURN(const bool ops, WantsOps(args.levels));
  if (args.plugins.empty()) return absl::OkStatus();
  if (!ops) {
    return absl::InvalidArgumentError("--kernels: of level ops, which --levels hal leaves out");
  }
  return conformance::ListCases(OpsRequestOf(args)).status();
}

/// The conformance runs come first: they fork, and this process must have no thread until then.
absl::StatusOr<Certificate> Gather(const CertifyArgs& args, const Output& output) {
  Certificate certificate;
  HY_ASSIGN_OR_RETURN(certificate.runs, RunLevels(args, output));
  HY_ASSIGN_OR_RETURN(const hal::Device device, OpenDevice(args.port));
  certificate.device = DeviceJson(device);
  DoctorRequest doctor = args.doctor;
  doctor.after_own_work = true;
  if (args.quick) doctor.bandwidth.runs = 3;
  HY_ASSIGN_OR_RETURN(
      certificate.doctor,
      Diagnose(device, doctor, [&output](absl::string_view line) { output.Progress(line); }));
  output.EndProgress();
  certificate.holds = certificate.doctor.Count(facts::Severity::kError) == 0;
  for (const RunResult& run : certificate.runs) {
    certificate.holds = certificate.holds && conformance::Holds(run) && run.Summarise().passed > 0;
  }
  return certificate;
}

std::string Card(absl::string_view value, absl::string_view label) {
  return absl::StrCat("<li><b>", HtmlEscape(value), "</b><span>", HtmlEscape(label),
                      "</span></li>\n");
}

std::string Page(const Certificate& certificate) {
  const RunResult& hal = certificate.hal();
  Summary summary;
  for (const RunResult& run : certificate.runs) {
    const Summary one = run.Summarise();
    summary.passed += one.passed;
    summary.failed += one.failed;
    summary.skipped += one.skipped;
  }
  std::string body = absl::StrCat(
      "<h1>", HtmlEscape(certificate.device["name"].get<std::string>()), " <span class=\"badge ",
      certificate.holds ? "pass\">" : "fail\">", certificate.claim(),
      certificate.holds ? ": holds" : ": does not hold", "</span></h1>\n<p class=\"lead\">Port ",
      HtmlEscape(hal.port), " ", HtmlEscape(hal.port_version), ", device ", HtmlEscape(hal.device),
      ", ", HtmlEscape(hal.started_utc), ", Halyard ", HALYARD_VERSION,
      ".</p>\n<ul class=\"cards\">\n");
  absl::StrAppend(&body, Card(absl::StrCat(summary.passed), "cases passed"),
                  Card(absl::StrCat(summary.failed), "failed"),
                  Card(absl::StrCat(summary.skipped), "skipped, each with a reason"));
  double best = 0;
  for (const facts::BandwidthRow& row : certificate.doctor.bandwidth) {
    if (row.work == "read") best = std::max(best, row.median_gb_per_s);
  }
  if (best > 0) absl::StrAppend(&body, Card(absl::StrFormat("%.1f GB/s", best), "memory read"));
  absl::StrAppend(
      &body,
      Card(absl::StrCat(certificate.doctor.Count(facts::Severity::kWarning)), "doctor's warnings"),
      "</ul>\n");
  for (const RunResult& run : certificate.runs) body += conformance::ToHtmlSection(run);
  body += DoctorHtml(certificate.doctor);
  return HtmlPage(absl::StrCat("Halyard certificate: ", hal.port), body);
}

nlohmann::json Document(const Certificate& certificate, const std::string& folder) {
  nlohmann::json document = {{"schema", "halyard-certificate/1"},
                             {"version", HALYARD_VERSION},
                             {"claim", certificate.claim()},
                             {"holds", certificate.holds},
                             {"folder", folder},
                             {"device", certificate.device},
                             {"conformance", conformance::ToJson(certificate.hal())},
                             {"doctor", DoctorJson(certificate.doctor)}};
  if (certificate.runs.size() > 1) document["ops"] = conformance::ToJson(certificate.runs[1]);
  return document;
}

/// JUnit for CI, and the documents that `conform pack` takes.
absl::Status WriteRuns(const std::vector<RunResult>& runs, const fs::path& out) {
  for (const RunResult& run : runs) {
    const bool ops = run.level == "L1";
    HY_RETURN_IF_ERROR(WriteFile((out / (ops ? "ops.xml" : "conformance.xml")).string(),
                                 conformance::ToJUnit(run)));
    HY_RETURN_IF_ERROR(WriteFile((out / (ops ? "ops.json" : "hal.json")).string(),
                                 DocumentText(conformance::ToJson(run))));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunCertify(const CertifyArgs& args, const Output& output) {
  // Before the minutes of work, not after.
  HY_RETURN_IF_ERROR(CheckKernels(args));
  HY_RETURN_IF_ERROR(MakeWritableDir(args.out));
  HY_RETURN_IF_ERROR(CheckSheets(args.doctor));
  HY_ASSIGN_OR_RETURN(const Certificate certificate, Gather(args, output));
  const fs::path out(args.out);
  const nlohmann::json document = Document(certificate, args.out);
  HY_RETURN_IF_ERROR(WriteFile((out / "report.html").string(), Page(certificate)));
  HY_RETURN_IF_ERROR(WriteFile((out / "report.json").string(), DocumentText(document)));
  HY_RETURN_IF_ERROR(WriteRuns(certificate.runs, out));
  HY_RETURN_IF_ERROR(WriteFile((out / "doctor.txt").string(), DoctorText(certificate.doctor)));
  for (const RunResult& run : certificate.runs) output.Text(conformance::ToText(run, false));
  output.Text(DoctorText(certificate.doctor));
  std::error_code error;
  const fs::path page = fs::absolute(out / "report.html", error);
  output.Text(absl::StrCat(
      certificate.holds ? "The certificate holds: " : "It does not hold: ", certificate.claim(),
      " for ", certificate.hal().port, "\nReport: ", page.string(), "\n"));
  output.Document(document);
  return certificate.holds ? kHolds : kDoesNotHold;
}

}  // namespace

void AddCertify(const Program& program) {
  auto args = std::make_shared<CertifyArgs>();
  CLI::App* const command = program.app->add_subcommand(
      "certify", "Prove what can be proven of this chip; write one report folder");
  args->port.AddTo(*command);
  args->doctor.AddTo(*command);
  command->add_option("--out", args->out, "Folder of the report")->capture_default_str();
  command->add_option("--levels", args->levels, "Levels: hal, or hal,ops")->capture_default_str();
  command->add_option("--kernels", args->plugins, "Libraries with kernels, for level ops");
  command->add_flag("--quick", args->quick, "Only the bare mode, and few runs of each figure");
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] {
    const absl::StatusOr<int> code = RunCertify(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
