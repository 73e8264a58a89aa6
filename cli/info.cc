// SPDX-License-Identifier: Apache-2.0
//
// `halyard info`: what is here.
#include <cstdio>
#include <fstream>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/cpu_features.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/explain_report.h"
#include "hal/host_services.h"
#include "hal/topology.h"
#include "nlohmann/json.hpp"
#include "ops/builtin.h"
#include "registry/plugin.h"

namespace halyard::cli {
namespace {

using nlohmann::json;

struct InfoArgs {
  PortArgs port;
  bool all = false;
  bool ports_only = false;
  std::string capture;
};

struct PortRow {
  hal::PortListing listing;
  std::vector<hy_device_info> devices;
};

/// Every port that can be named, with its devices. A port that does not load is a row with why.
std::vector<PortRow> CollectPorts() {
  std::vector<PortRow> rows;
  const hal::LoadOptions options = DefaultLoadOptions();
  for (hal::PortListing& listing : hal::ListPorts(options)) {
    PortRow row{std::move(listing), {}};
    if (row.listing.problem.empty()) {
      absl::StatusOr<std::shared_ptr<hal::Port>> port = hal::LoadPort(row.listing.name, options);
      if (!port.ok()) {
        row.listing.problem = std::string(port.status().message());
      } else {
        absl::StatusOr<std::vector<hy_device_info>> devices = hal::ListDevices(**port);
        if (devices.ok()) {
          row.devices = *std::move(devices);
        } else {
          row.listing.problem = std::string(devices.status().message());
        }
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

json PortsJson(const std::vector<PortRow>& rows) {
  json ports = json::array();
  for (const PortRow& row : rows) {
    json devices = json::array();
    for (const hy_device_info& device : row.devices) {
      devices.push_back({{"id", device.id}, {"name", device.name}, {"locator", device.locator}});
    }
    json port = {{"name", row.listing.name}, {"origin", row.listing.origin}, {"devices", devices}};
    if (!row.listing.problem.empty()) port["problem"] = row.listing.problem;
    ports.push_back(std::move(port));
  }
  return ports;
}

std::string DevicesText(const std::vector<hy_device_info>& devices) {
  if (devices.empty()) return "no device here";
  if (devices.size() == 1) return devices.front().id;
  return absl::StrCat(devices.size(), " devices: ", devices.front().id, ", ", devices[1].id,
                      devices.size() > 2 ? ", ..." : "");
}

/// What can be used first, then what cannot, with its path and why on lines of their own. Plugins
/// that have the name of a port before them are many in a build tree, and get one line.
std::string PortsText(const std::vector<PortRow>& rows) {
  std::string usable = "Ports\n";
  std::string others;
  std::vector<std::string> hidden;
  for (const PortRow& row : rows) {
    const std::string& origin = row.listing.origin;
    if (absl::StartsWith(row.listing.problem, "hidden: ")) {
      hidden.push_back(row.listing.name);
    } else if (!row.listing.problem.empty()) {
      absl::StrAppendFormat(&others, "  %-16s %s\n  %-16s %s\n", row.listing.name, origin, "",
                            row.listing.problem);
    } else {
      absl::StrAppendFormat(&usable, "  %-16s %-10s %s\n", row.listing.name,
                            origin == "built in" ? origin : "plugin", DevicesText(row.devices));
    }
  }
  if (!hidden.empty()) {
    absl::StrAppend(&usable, "  also as plugins, to be named by their paths (--json has them): ",
                    absl::StrJoin(hidden, " "), "\n");
  }
  if (others.empty()) return usable;
  return absl::StrCat(usable, "Ports that cannot be used\n", others);
}

absl::Status Capture(const std::string& path) {
  std::ofstream file(path);
  if (file) file << hal::CaptureSystemImage(*hal::HostSystem(), "captured by halyard info");
  file.close();
  if (!file) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot write ", path, ": choose a folder that you may write to"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunInfo(const InfoArgs& args, const Output& output) {
  json document = {{"version", HALYARD_VERSION},
                   {"arch", BuildArch()},
                   {"build_isa", IsaNames(BuildIsa())},
                   {"live_isa", IsaNames(LiveIsa())},
                   {"vector_bytes", LiveVectorBytes()}};
  const std::vector<PortRow> ports = CollectPorts();
  document["ports"] = PortsJson(ports);
  output.Text(absl::StrFormat(
      "Halyard %s for %s\n  built for    %s\n  runs on      %s\n", HALYARD_VERSION, BuildArch(),
      absl::StrJoin(IsaNames(BuildIsa()), " "), absl::StrJoin(IsaNames(LiveIsa()), " ")));
  output.Text(PortsText(ports));
  registry::PluginOptions plugins;
  plugins.folders = registry::DefaultKernelFolders();
  HY_ASSIGN_OR_RETURN(const std::unique_ptr<registry::Registry> registry,
                      registry::MakeRegistry(BuiltinKernelTable(), plugins));
  document["kernels"] = ProvidersJson(*registry);
  output.Text(ProvidersText(*registry));
  if (!args.ports_only) {
    HY_ASSIGN_OR_RETURN(const hal::Device device, OpenDevice(args.port));
    HY_ASSIGN_OR_RETURN(const hal::Topology topology, device.ReadTopology(args.all));
    document["port"] = device.port().name();
    document["device"] = DeviceJson(device);
    document["topology"] = TopologyJson(topology);
    output.Text(DeviceText(device));
    output.Text(absl::StrCat("Topology\n", hal::DrawTopology(topology)));
  }
  if (!args.capture.empty()) {
    HY_RETURN_IF_ERROR(Capture(args.capture));
    output.Text(absl::StrCat("Captured this machine into ", args.capture, "\n"));
  }
  output.Document(document);
  return kHolds;
}

}  // namespace

void AddInfo(const Program& program) {
  auto args = std::make_shared<InfoArgs>();
  CLI::App* const command =
      program.app->add_subcommand("info", "What is here: ports, devices, topology, memory, limits");
  args->port.AddTo(*command);
  command->add_flag("--all", args->all, "Also the units that this process may not use");
  command->add_flag("--ports", args->ports_only, "Only the list of ports");
  command->add_option("--capture", args->capture,
                      "Write this machine's description to a file, for --system and bug reports");
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] {
    const absl::StatusOr<int> code = RunInfo(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
