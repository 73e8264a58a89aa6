// SPDX-License-Identifier: Apache-2.0
//
// `halyard doctor`: is this machine fit to run on?
#include "cli/doctor.h"

#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "hal/host_services.h"

namespace halyard::cli {
namespace {

struct DoctorArgs {
  PortArgs port;
  DoctorRequest request;
  uint32_t mib_per_thread = 0;
  bool quick = false;
};

/// Sheets are a comparison, not a need: without them the findings say that none fits.
absl::StatusOr<std::vector<facts::ChipSheet>> LoadSheets(const std::string& chips_dir) {
  if (!chips_dir.empty()) return facts::ReadChipSheets(chips_dir);
  const absl::StatusOr<std::string> data = DataDir();
  if (!data.ok()) return std::vector<facts::ChipSheet>();
  return facts::ReadChipSheets(absl::StrCat(*data, "/chips"));
}

absl::StatusOr<int> RunDoctor(const DoctorArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const hal::Device device, OpenDevice(args.port));
  DoctorRequest request = args.request;
  request.measure = !args.quick;
  request.bandwidth.bytes_per_thread = uint64_t{args.mib_per_thread} << 20;
  HY_ASSIGN_OR_RETURN(const DoctorReport report,
                      Diagnose(device, request, [&output](absl::string_view line) {
                        output.Progress(line);
                      }));
  output.EndProgress();
  output.Text(DoctorText(report));
  output.Document(DoctorJson(report));
  return report.Count(facts::Severity::kError) == 0 ? kHolds : kDoesNotHold;
}

}  // namespace

absl::StatusOr<DoctorReport> Diagnose(const hal::Device& device, const DoctorRequest& request,
                                      const std::function<void(absl::string_view)>& on_progress) {
  DoctorReport report;
  report.port = device.port().name();
  report.device = device.info().id;
  HY_ASSIGN_OR_RETURN(report.topology, device.ReadTopology());
  HY_ASSIGN_OR_RETURN(const std::vector<facts::ChipSheet> sheets, LoadSheets(request.chips_dir));
  const std::shared_ptr<const hal::SystemView> view = hal::HostSystem();
  // Sheets and files of this machine tell nothing about a machine that the device only simulates.
  const bool simulated = report.topology.source == HY_SOURCE_FIXTURE && view->is_live();
  facts::ChipMarks marks;
  if (!simulated) {
    marks = facts::ReadChipMarks(*view, report.topology);
    if (const facts::ChipSheet* sheet = facts::MatchChipSheet(sheets, marks)) {
      report.sheet = *sheet;
    }
  }
  const facts::Machine machine{&device, view.get(), &report.topology,
                               report.sheet ? &*report.sheet : nullptr, marks};
  report.findings = facts::LookAtAll(machine);
  if (!request.measure || simulated) return report;
  const bool host_visible =
      !device.memory_classes().empty() &&
      (device.memory_classes().front().flags & HY_MEMORY_HOST_VISIBLE) != 0;
  if (!host_visible || !view->is_live()) {
    report.findings.push_back({"bandwidth.none", facts::Severity::kInfo,
                               "bandwidth is not measured: workers cannot reach this memory", ""});
    return report;
  }
  HY_ASSIGN_OR_RETURN(
      report.bandwidth,
      facts::MeasureBandwidth(device, request.bandwidth, [&](const facts::BandwidthRow& row) {
        on_progress(absl::StrFormat("measured %s with %u threads: %.1f GB/s", row.work, row.threads,
                                    row.median_gb_per_s));
      }));
  std::vector<facts::Finding> found = facts::LookAtBandwidth(machine, report.bandwidth);
  report.findings.insert(report.findings.end(), std::make_move_iterator(found.begin()),
                         std::make_move_iterator(found.end()));
  return report;
}

void AddDoctor(const Program& program) {
  auto args = std::make_shared<DoctorArgs>();
  CLI::App* const command = program.app->add_subcommand(
      "doctor", "Is this machine fit? Bandwidth, binding, pages, clock, limits, and what to do");
  args->port.AddTo(*command);
  command->add_flag("--quick", args->quick, "Do not measure the bandwidth");
  command->add_option("--mib-per-thread", args->mib_per_thread,
                      "Memory to measure with, for each worker; default by the caches")
      ->check(CLI::Range(1, 65536));
  command->add_option("--runs", args->request.bandwidth.runs, "Runs for each figure")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--threads", args->request.bandwidth.max_threads, "At most so many workers");
  command->add_option("--chips", args->request.chips_dir, "Folder of chip sheets");
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] {
    const absl::StatusOr<int> code = RunDoctor(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
