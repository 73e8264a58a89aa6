// SPDX-License-Identifier: Apache-2.0
//
// What `doctor` finds, for the command itself and for `certify`.
#ifndef HALYARD_CLI_DOCTOR_H_
#define HALYARD_CLI_DOCTOR_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cli/command.h"
#include "facts/bandwidth.h"
#include "facts/findings.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {

struct DoctorReport {
  std::string port;
  std::string device;
  std::string machine;     ///< one line for people
  hal::Topology topology;  ///< the CPUs that this process may use
  std::optional<facts::ChipSheet> sheet;
  bool sheet_named = false;  ///< by the user, not found by what the machine shows
  std::vector<facts::BandwidthRow> bandwidth;
  std::vector<facts::Finding> findings;

  uint32_t Count(facts::Severity severity) const;
};

struct DoctorRequest {
  bool measure = true;  ///< bandwidth too
  facts::BandwidthRequest bandwidth;
  bool after_own_work = false;  ///< the load of the last minute was this program's own
  std::string chips_dir;        ///< empty: that of DataDir
  std::string chip;             ///< id of the sheet to compare with; empty: the one that fits

  void AddTo(CLI::App& app);
};

/// Whether the request's sheets read and hold its chip: before minutes of work, not after.
/// Errors   as Diagnose.
absl::Status CheckSheets(const DoctorRequest& request);

/// Looks at the machine around a device. Measures memory for a few seconds if asked to; that this
/// fails is a finding.
/// Errors   NOT_FOUND: no such chip sheet, with those that there are; a sheet that does not read.
absl::StatusOr<DoctorReport> Diagnose(const hal::Device& device, const DoctorRequest& request,
                                      const std::function<void(absl::string_view)>& on_progress);

nlohmann::json DoctorJson(const DoctorReport& report);
std::string DoctorText(const DoctorReport& report);
std::string DoctorHtml(const DoctorReport& report);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_DOCTOR_H_
