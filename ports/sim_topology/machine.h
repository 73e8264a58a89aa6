// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_PORTS_SIM_TOPOLOGY_MACHINE_H_
#define HALYARD_PORTS_SIM_TOPOLOGY_MACHINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hal/system_view.h"
#include "hal/topology.h"

namespace halyard::sim_topology {

/// A machine other than this one, as the core's reader sees it. Threads: any.
class Machine {
 public:
  /// Errors   INVALID_ARGUMENT: no image of a machine.
  static absl::StatusOr<std::unique_ptr<Machine>> FromImage(absl::string_view text);
  /// An image or a root folder. Errors: NOT_FOUND, INVALID_ARGUMENT.
  static absl::StatusOr<std::unique_ptr<Machine>> FromPath(absl::string_view path);

  const hal::Topology& topology(bool all) const { return all ? all_ : allowed_; }

  /// Base page first, then those that the machine can reserve.
  const std::vector<uint64_t>& page_sizes_bytes() const { return page_sizes_bytes_; }

 private:
  explicit Machine(const hal::SystemView& view);

  hal::Topology all_;
  hal::Topology allowed_;
  std::vector<uint64_t> page_sizes_bytes_;
};

}  // namespace halyard::sim_topology

#endif  // HALYARD_PORTS_SIM_TOPOLOGY_MACHINE_H_
