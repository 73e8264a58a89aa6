// SPDX-License-Identifier: Apache-2.0
//
// Where `halyard explain` lets a call run: a team of a port, or one that the user describes.
#ifndef HALYARD_CLI_EXPLAIN_TARGET_H_
#define HALYARD_CLI_EXPLAIN_TARGET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/command.h"
#include "hal/device.h"
#include "registry/device_plan.h"
#include "registry/registry.h"

namespace halyard::cli {

struct TargetArgs {
  PortArgs port;
  std::vector<std::string> isa;
  uint32_t workers = 0;

  void AddTo(CLI::App& app);
};

struct ExplainTarget {
  hy_kernel_target target{};
  std::string where;                  ///< the port, or "a team"
  std::optional<hal::Device> device;  ///< none with --isa
};

/// Opens the port and a team of it, or takes --isa as it is.
absl::StatusOr<ExplainTarget> OpenTarget(const TargetArgs& args);

/// What a run moves when every operand is in a buffer of the device.
absl::StatusOr<registry::CallPlan> PlaceCall(const registry::Registry& registry,
                                             const ExplainTarget& target, const registry::Op& op,
                                             const void* args);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_EXPLAIN_TARGET_H_
