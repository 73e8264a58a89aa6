// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/c_status.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "hal/host_services.h"
#include "hal/system_view.h"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;

fs::path ProgramDir() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path();
}

}  // namespace

void PortArgs::AddTo(CLI::App& app) {
  app.add_option("--port", port, "Port: a word (linux) or a path (./libacme_x1.so)")
      ->capture_default_str();
  app.add_option("--device", device, "Device id, as `halyard info` lists them; default the first");
  app.add_option("--option", options, "key=value for the port's open; can be given again")
      ->allow_extra_args(false);
  app.add_option(
      "--system", system,
      "Read the machine's description from this folder or image, not from /sys and /proc");
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> PortArgs::ParsedOptions() const {
  std::vector<std::pair<std::string, std::string>> parsed;
  for (const std::string& option : options) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    if (pair.first.empty() || !absl::StrContains(option, '=')) {
      return absl::InvalidArgumentError(
          absl::StrCat("--option ", option, ": write it as key=value"));
    }
    parsed.push_back(pair);
  }
  return parsed;
}

hal::LoadOptions DefaultLoadOptions() {
  hal::LoadOptions options;
  options.builtins = hal::BuiltinPorts();
  const fs::path dir = ProgramDir();
  if (!dir.empty()) {
    options.search_path.push_back((dir.parent_path() / HALYARD_PORTS_DIR).string());
    options.search_path.push_back((dir.parent_path() / "lib/halyard/ports").string());
  }
  return options;
}

absl::StatusOr<hal::Device> OpenDevice(const PortArgs& args) {
  HY_ASSIGN_OR_RETURN(const auto options, args.ParsedOptions());
  if (!args.system.empty()) {
    HY_ASSIGN_OR_RETURN(auto view, hal::OpenSystemView(args.system));
    hal::SetHostSystem(std::move(view));
  }
  HY_ASSIGN_OR_RETURN(std::shared_ptr<hal::Port> port,
                      hal::LoadPort(args.port, DefaultLoadOptions()));
  return hal::Device::Open(std::move(port), args.device, options);
}

absl::StatusOr<std::string> DataDir() {
  std::vector<fs::path> tried;
  if (const char* override_dir = std::getenv("HALYARD_DATA_DIR")) tried.emplace_back(override_dir);
  const fs::path dir = ProgramDir();
  if (!dir.empty()) {
    tried.push_back(dir.parent_path() / "share/halyard");
  }
  for (const fs::path& path : tried) {
    std::error_code error;
    if (fs::is_directory(path / "chips", error)) return path.string();
  }
  std::string list;
  for (const fs::path& path : tried) absl::StrAppend(&list, " ", path.string());
  return absl::NotFoundError(
      absl::StrCat("the data folder of Halyard (chips, port_template) is not at any of:", list,
                   ". Install with `cmake --install`, or set HALYARD_DATA_DIR"));
}

}  // namespace halyard::cli
