// SPDX-License-Identifier: Apache-2.0
//
// What the subcommands of `halyard conform` share: options, the request that they make, reports.
#ifndef HALYARD_CLI_CONFORM_REQUEST_H_
#define HALYARD_CLI_CONFORM_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/command.h"
#include "conformance/runner.h"

namespace halyard::cli {

struct ConformArgs {
  PortArgs port;
  std::string level = "hal";
  std::string filter;
  std::string modes = "bare,validate,fault";
  std::string shard;
  std::string expectations;
  std::string waivers;
  std::string golden;
  std::string junit;
  std::string html;
  std::string json_file;
  std::string diff;
  conformance::OpsRequest ops;
  bool quick = false;  // what is done anyway
  bool standard = false;
  bool full = false;
  double deadline_scale = 1;
  bool list = false;
  bool verbose = false;
};

/// Options of what to run on what; every subcommand that runs has them.
void AddRunOptions(CLI::App& command, ConformArgs& args);
/// Options that choose cases.
void AddCaseOptions(CLI::App& command, ConformArgs& args);
/// --junit, --html, --json-file, --json.
void AddReports(CLI::App& command, ConformArgs& args, const Program& program);

/// Errors   INVALID_ARGUMENT: what is wrong with the options.
absl::StatusOr<conformance::RunRequest> MakeRequest(const ConformArgs& args);

/// A result that --json-file wrote.
/// Errors   NOT_FOUND; INVALID_ARGUMENT: with the path and what is wrong.
absl::StatusOr<conformance::RunResult> ReadResult(const std::string& path);

/// Prints the result, writes the reports that were asked for, and gives the exit code.
absl::StatusOr<int> Finish(const ConformArgs& args, const Output& output,
                           const conformance::RunResult& result);

/// "3 of 8, 5 s left"; the time only once there is something to tell it by.
std::string HowFar(const conformance::Progress& progress);

/// Shows how far a run is, at most a few times a second.
class ProgressLine {
 public:
  explicit ProgressLine(const Output& output) : output_(output) {}
  void operator()(const conformance::Progress& progress);

 private:
  const Output& output_;
  double next_seconds_ = 2;  // nothing for a run that is over at once
};

}  // namespace halyard::cli

#endif  // HALYARD_CLI_CONFORM_REQUEST_H_
