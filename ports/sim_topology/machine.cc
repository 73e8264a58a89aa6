// SPDX-License-Identifier: Apache-2.0
#include "ports/sim_topology/machine.h"

#include <utility>

#include "base/status_macros.h"

namespace halyard::sim_topology {
namespace {

hal::Topology Read(const hal::SystemView& view, bool all) {
  hal::Topology topology = hal::ReadTopology(view, all);
  // Whatever the machine's own source was: none of this is said about the machine it runs on.
  topology.source = HY_SOURCE_FIXTURE;
  return topology;
}

}  // namespace

Machine::Machine(const hal::SystemView& view)
    : all_(Read(view, true)), allowed_(Read(view, false)), page_sizes_bytes_{view.page_bytes()} {
  for (const hy_page_pool& pool : all_.page_pools) {
    if (pool.node_id == HY_ID_NONE) page_sizes_bytes_.push_back(pool.page_bytes);
  }
}

absl::StatusOr<std::unique_ptr<Machine>> Machine::FromImage(absl::string_view text) {
  HY_ASSIGN_OR_RETURN(const std::shared_ptr<const hal::SystemView> view,
                      hal::ParseSystemImage(text));
  return std::unique_ptr<Machine>(new Machine(*view));
}

absl::StatusOr<std::unique_ptr<Machine>> Machine::FromPath(absl::string_view path) {
  HY_ASSIGN_OR_RETURN(const std::shared_ptr<const hal::SystemView> view, hal::OpenSystemView(path));
  return std::unique_ptr<Machine>(new Machine(*view));
}

}  // namespace halyard::sim_topology
