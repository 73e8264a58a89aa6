// SPDX-License-Identifier: Apache-2.0
//
// `halyard doctor`: is this machine fit to run on?
#include "cli/doctor.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "facts/activity.h"
#include "facts/memory_limits.h"
#include "facts/shape.h"
#include "hal/host_services.h"
#include "hal/topology_draw.h"

namespace halyard::cli {
namespace {

using facts::Finding;
using facts::Severity;
using OnProgress = std::function<void(absl::string_view)>;

struct DoctorArgs {
  PortArgs port;
  DoctorRequest request;
  uint32_t mib_per_thread = 0;
  bool quick = false;
};

void Append(std::vector<Finding> found, DoctorReport* report) {
  report->findings.insert(report->findings.end(), std::make_move_iterator(found.begin()),
                          std::make_move_iterator(found.end()));
}

/// Sheets are a comparison, not a need: without an installation the findings say that none fits.
absl::StatusOr<std::vector<facts::ChipSheet>> LoadSheets(const DoctorRequest& request) {
  if (!request.chips_dir.empty()) return facts::ReadChipSheets(request.chips_dir);
  const absl::StatusOr<std::string> data = DataDir();
  if (!data.ok() && request.chip.empty()) return std::vector<facts::ChipSheet>();
  if (!data.ok()) return data.status();
  return facts::ReadChipSheets(absl::StrCat(*data, "/chips"));
}

absl::Status ChooseSheet(const DoctorRequest& request, const facts::ChipMarks& marks,
                         DoctorReport* report) {
  HY_ASSIGN_OR_RETURN(const std::vector<facts::ChipSheet> sheets, LoadSheets(request));
  if (!request.chip.empty()) {
    HY_ASSIGN_OR_RETURN(report->sheet, facts::FindChipSheet(sheets, request.chip));
    report->sheet_named = true;
  } else if (const facts::ChipSheet* fitting = facts::MatchChipSheet(sheets, marks)) {
    report->sheet = *fitting;
  }
  return absl::OkStatus();
}

/// True if the files of the view are about the machine that the device shows: a device may simulate
/// another one, and the files of this one tell nothing about that.
bool Describes(const hal::SystemView& view, const hal::Topology& of_device) {
  if (view.is_live() && of_device.source == HY_SOURCE_FIXTURE) return false;
  const hal::Topology read = hal::ReadTopology(view, false);
  const auto same_units = [](const hy_pu& a, const hy_pu& b) { return a.os_id == b.os_id; };
  const auto same_nodes = [](const hy_node& a, const hy_node& b) { return a.os_id == b.os_id; };
  return std::equal(read.pus.begin(), read.pus.end(), of_device.pus.begin(), of_device.pus.end(),
                    same_units) &&
         std::equal(read.nodes.begin(), read.nodes.end(), of_device.nodes.begin(),
                    of_device.nodes.end(), same_nodes);
}

/// "AMD EPYC: 2 cores, 2 CPUs, 23.4 GiB, virtual".
std::string DescribeMachine(const facts::Machine& machine) {
  std::string name = machine.marks.name.empty() ? machine.device->info().name : machine.marks.name;
  const hal::Topology& whole = *machine.whole;
  uint64_t bytes = 0;
  for (const hy_node& node : whole.nodes) bytes += node.bytes_total;
  // Nodes do not count what a hypervisor added later.
  if (machine.view != nullptr) {
    bytes = facts::ReadMemoryLimits(*machine.view).total.value_or(bytes);
  }
  absl::StrAppend(&name, ": ", hal::FormatCount(facts::CountShape(whole).cores, "core"), ", ",
                  hal::FormatCount(whole.pus.size(), "CPU"));
  if (bytes != 0) absl::StrAppend(&name, ", ", hal::FormatBytes(bytes));
  return machine.marks.is_virtual ? name + ", virtual" : name;
}

/// Measures, with what went on meanwhile. A failure is a finding: the rest of the report stands.
void Measure(const facts::Machine& machine, facts::BandwidthRequest request,
             const OnProgress& on_progress, DoctorReport* report) {
  const facts::MemoryLimits limits = facts::ReadMemoryLimits(*machine.view);
  request.headroom_bytes = limits.fillable.value_or(0);
  const facts::Activity before = facts::ReadActivity(*machine.view);
  on_progress("measuring memory bandwidth");
  const absl::Status status =
      facts::MeasureBandwidth(*machine.device, request, [&](const facts::BandwidthRow& row) {
        on_progress(absl::StrFormat("measured %s with %s: %.1f GB/s", row.work,
                                    hal::FormatCount(row.threads, "thread"), row.median_gb_per_s));
        report->bandwidth.push_back(row);
      }).status();
  if (!status.ok()) {
    report->findings.push_back({"bandwidth.failed", Severity::kError,
                                absl::StrCat("memory could not be measured: ", status.message()),
                                "Free memory, or ask for less with --mib-per-thread"});
  }
  Append(facts::LookAtBandwidth(machine, report->bandwidth), report);
  Append(facts::LookAtActivity(before, facts::ReadActivity(*machine.view),
                               static_cast<uint32_t>(machine.whole->pus.size())),
         report);
}

bool IsHostVisible(const hal::Device& device) {
  return !device.memory_classes().empty() &&
         (device.memory_classes().front().flags & HY_MEMORY_HOST_VISIBLE) != 0;
}

absl::StatusOr<int> RunDoctor(const DoctorArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const hal::Device device, OpenDevice(args.port));
  DoctorRequest request = args.request;
  request.measure = !args.quick;
  request.bandwidth.bytes_per_thread = uint64_t{args.mib_per_thread} << 20;
  HY_ASSIGN_OR_RETURN(
      const DoctorReport report,
      Diagnose(device, request, [&output](absl::string_view line) { output.Progress(line); }));
  output.EndProgress();
  output.Text(DoctorText(report));
  output.Document(DoctorJson(report));
  return report.Count(Severity::kError) == 0 ? kHolds : kDoesNotHold;
}

}  // namespace

void DoctorRequest::AddTo(CLI::App& app) {
  app.add_option("--chip", chip, "Compare with this chip sheet, whatever the machine shows");
  app.add_option("--chips", chips_dir, "Folder of chip sheets; default the installed ones");
}

absl::Status CheckSheets(const DoctorRequest& request) {
  DoctorReport unused;
  return ChooseSheet(request, facts::ChipMarks(), &unused);
}

absl::StatusOr<DoctorReport> Diagnose(const hal::Device& device, const DoctorRequest& request,
                                      const OnProgress& on_progress) {
  DoctorReport report;
  report.port = device.port().name();
  report.device = device.info().id;
  HY_ASSIGN_OR_RETURN(report.topology, device.ReadTopology());
  HY_ASSIGN_OR_RETURN(const hal::Topology whole, device.ReadTopology(true));
  const std::shared_ptr<const hal::SystemView> view = hal::HostSystem();
  facts::Machine machine;
  machine.device = &device;
  machine.topology = &report.topology;
  machine.whole = &whole;
  if (Describes(*view, report.topology)) machine.view = view.get();
  if (machine.view != nullptr) machine.marks = facts::ReadChipMarks(*view, report.topology);
  HY_RETURN_IF_ERROR(ChooseSheet(request, machine.marks, &report));
  if (report.sheet) machine.sheet = &*report.sheet;
  report.machine = DescribeMachine(machine);
  if (machine.runs_here() && !request.after_own_work)
    Append(facts::LookAtLoad(*view, whole), &report);
  Append(facts::LookAtAll(machine), &report);
  if (!machine.runs_here()) {
    report.findings.push_back({"machine.not_this", Severity::kInfo,
                               "another machine than this one is described: nothing was tried out "
                               "or measured",
                               ""});
  } else if (request.measure && IsHostVisible(device)) {
    Measure(machine, request.bandwidth, on_progress, &report);
  } else if (request.measure) {
    report.findings.push_back({"bandwidth.none", Severity::kInfo,
                               "memory was not measured: workers cannot reach that of this device",
                               ""});
  }
  return report;
}

void AddDoctor(const Program& program) {
  auto args = std::make_shared<DoctorArgs>();
  CLI::App* const command = program.app->add_subcommand(
      "doctor", "Is this machine fit? Bandwidth, binding, pages, clock, limits, and what to do");
  args->port.AddTo(*command);
  command->add_flag("--quick", args->quick, "Do not measure the bandwidth");
  command
      ->add_option("--mib-per-thread", args->mib_per_thread,
                   "Memory to measure with, for each worker; default by the caches")
      ->check(CLI::Range(1, 65536));
  command->add_option("--runs", args->request.bandwidth.runs, "Runs for each figure")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--threads", args->request.bandwidth.max_threads, "At most so many workers");
  args->request.AddTo(*command);
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] {
    const absl::StatusOr<int> code = RunDoctor(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
