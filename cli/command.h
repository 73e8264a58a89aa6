// SPDX-License-Identifier: Apache-2.0
//
// What the commands of `halyard` share: exit codes, output streams, how a port is named and opened.
#ifndef HALYARD_CLI_COMMAND_H_
#define HALYARD_CLI_COMMAND_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hal/device.h"
#include "hal/loader.h"
#include "nlohmann/json_fwd.hpp"

// CLI/CLI.hpp takes seconds to compile, in each source that has it.
namespace CLI {
class App;
}

namespace halyard::cli {

/// Exit codes of every command.
enum ExitCode : int {
  kHolds = 0,          ///< done, and what was asked holds
  kDoesNotHold = 1,    ///< done, and it does not: a duty failed, a finding is an error
  kWrongInput = 2,     ///< wrong usage or input
  kCannotRun = 3,      ///< not here: no device, no permission
  kWaiverTrouble = 4,  ///< conform alone: all that is wrong is a waiver, over or not needed
};

/// Output of one command: people's text, or one JSON document.
class Output {
 public:
  bool json = false;

  /// Text for people: standard output, or standard error when a JSON document was asked for.
  void Text(absl::string_view text) const;
  /// A passing line such as progress: always standard error, overwritten on a terminal.
  void Progress(absl::string_view line) const;
  /// Ends a progress line.
  void EndProgress() const;
  /// The document; nothing unless `json`. Text in it need not be UTF-8: see DocumentText.
  void Document(const nlohmann::json& document) const;
  /// An error: one line on standard error; with `json` also {"error": {...}} as the document.
  /// Returns the exit code of the status: see CodeOf.
  int Fail(const absl::Status& status) const;
  int Fail(const absl::Status& status, ExitCode code) const;
};

/// Exit code of a status of loading, opening and running.
ExitCode CodeOf(const absl::Status& status);

/// Options that name a port and a device, common to most commands.
struct PortArgs {
  std::string port = "linux";
  std::string device;
  std::vector<std::string> options;  ///< key=value
  std::string system;                ///< another root or image for the topology reader

  void AddTo(CLI::App& app);
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParsedOptions() const;
};

/// Builtins and the usual search path.
hal::LoadOptions DefaultLoadOptions();

/// Loads the port and opens the device that `args` names.
absl::StatusOr<hal::Device> OpenDevice(const PortArgs& args);

/// A command adds itself to the program; its callback sets *exit_code.
struct Program {
  CLI::App* app;
  Output* output;
  int* exit_code;
};
void AddInfo(const Program& program);
void AddDoctor(const Program& program);
void AddConform(const Program& program);
void AddBench(const Program& program);
void AddCertify(const Program& program);
void AddExplain(const Program& program);
void AddNewPort(const Program& program);
void AddInspect(const Program& program);
void AddTokenize(const Program& program);
void AddRun(const Program& program);
void AddSynth(const Program& program);
void AddChat(const Program& program);

/// Folder of installed data (chip sheets, the port template), found beside the running program or
/// in the source tree it was built from; HALYARD_DATA_DIR overrides it.
absl::StatusOr<std::string> DataDir();

/// A document as text. What ports and kernels wrote stands in it, cut anywhere and in any encoding:
/// what is no UTF-8 is replaced.
std::string DocumentText(const nlohmann::json& document);

/// A check of an option: a number from `least` to `most`. CLI::Range and the like let "nan" pass.
std::function<std::string(const std::string&)> Within(double least, double most);

/// Bytes with a binary unit, such as "1.5 GiB".
std::string HumanBytes(uint64_t bytes);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_COMMAND_H_
