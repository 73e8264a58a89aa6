// SPDX-License-Identifier: Apache-2.0
//
// `halyard new-port`: a building port of a new chip, by copying the example and renaming it.
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "cli/files.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;

struct NewPortArgs {
  std::string name;
  std::string out;
};

absl::Status CheckName(const std::string& name) {
  const bool shape = !name.empty() && name.size() <= 48 &&
                     absl::ascii_islower(static_cast<unsigned char>(name[0]));
  for (const char letter : name) {
    const auto c = static_cast<unsigned char>(letter);
    if (!shape || !(absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_')) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", name,
                       "\" cannot name a port: use 1 to 48 lower-case letters, digits and "
                       "underscores, a letter first, such as acme_x1"));
    }
  }
  for (const hal::BuiltinPort& port : hal::BuiltinPorts()) {
    if (name == port.name) {
      return absl::InvalidArgumentError(
          absl::StrCat("a port named ", name, " is built in: choose another name"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTarget(const fs::path& out) {
  std::error_code error;
  if (fs::exists(out, error) && !(fs::is_directory(out, error) && fs::is_empty(out, error))) {
    return absl::InvalidArgumentError(absl::StrCat(
        out.string(),
        " exists and is not an empty folder; nothing was written. Name another with --out"));
  }
  return absl::OkStatus();
}

/// Files of the template, relative to it.
absl::StatusOr<std::vector<fs::path>> TemplateFiles(const fs::path& dir) {
  std::error_code error;
  std::vector<fs::path> files;
  for (auto it = fs::recursive_directory_iterator(dir, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->is_regular_file()) files.push_back(fs::relative(it->path(), dir));
  }
  if (error || files.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no port template in ", dir.string(), ": the installation is not complete"));
  }
  return files;
}

absl::StatusOr<int> RunNewPort(const NewPortArgs& args, const Output& output) {
  HY_RETURN_IF_ERROR(CheckName(args.name));
  const fs::path out = args.out.empty() ? fs::path(args.name) : fs::path(args.out);
  HY_RETURN_IF_ERROR(CheckTarget(out));
  HY_ASSIGN_OR_RETURN(const std::string data, DataDir());
  const fs::path source = fs::path(data) / "port_template";
  HY_ASSIGN_OR_RETURN(const std::vector<fs::path> files, TemplateFiles(source));
  HY_RETURN_IF_ERROR(MakeWritableDir(out.string()));
  const std::string upper = absl::AsciiStrToUpper(args.name);
  nlohmann::json written = nlohmann::json::array();
  for (const fs::path& file : files) {
    HY_ASSIGN_OR_RETURN(std::string text, ReadFile((source / file).string()));
    absl::StrReplaceAll({{"example", args.name}, {"EXAMPLE", upper}}, &text);
    const fs::path target = out / absl::StrReplaceAll(file.string(), {{"example", args.name}});
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    HY_RETURN_IF_ERROR(WriteFile(target.string(), text));
    written.push_back(target.string());
  }
  output.Text(absl::StrCat("Made the port ", args.name, " in ", out.string(), ". Next:\n",
                           "  cmake -S ", out.string(), " -B ", (out / "build").string(),
                           " && cmake --build ", (out / "build").string(), "\n",
                           "  halyard conform --level hal --port ",
                           (out / "build" / ("lib" + args.name + ".so")).string(), "\n",
                           "Then fill in the verbs; docs/port_guide.md leads through it.\n"));
  output.Document({{"name", args.name}, {"folder", out.string()}, {"files", written}});
  return kHolds;
}

}  // namespace

void AddNewPort(const Program& program) {
  auto args = std::make_shared<NewPortArgs>();
  CLI::App* const command =
      program.app->add_subcommand("new-port", "Start the port of a chip: a folder that builds");
  command->add_option("name", args->name, "Name of the port, such as acme_x1")->required();
  command->add_option("--out", args->out, "Folder to make; default the name");
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] {
    const absl::StatusOr<int> code = RunNewPort(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
