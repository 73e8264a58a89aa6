// SPDX-License-Identifier: Apache-2.0
//
// A machine's processing units, nodes, caches and limits, and the default reader of them.
#ifndef HALYARD_HAL_TOPOLOGY_H_
#define HALYARD_HAL_TOPOLOGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "hal/system_view.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// hy_topology with its arrays owned. Ids are labels: look records up, never index by them.
struct Topology {
  uint32_t source = HY_SOURCE_UNKNOWN;
  uint64_t budget_millicpus = 0;
  uint64_t quota_millicpus = 0;  ///< 0: no quota
  uint64_t limits = 0;           ///< HY_LIMIT_*
  std::vector<hy_pu> pus;        ///< by os_id, ascending
  std::vector<hy_node> nodes;
  std::vector<hy_cache> caches;
  std::vector<hy_distance> distances;
  std::vector<hy_page_pool> page_pools;

  const hy_pu* FindPu(uint32_t os_id) const;      ///< nullptr if there is none
  const hy_node* FindNode(uint32_t os_id) const;  ///< nullptr if there is none
  /// Workers that the budget allows: whole CPUs of it, at least 1.
  uint32_t budget_workers() const;
};

/// Reads a view. Never fails on a machine that lets little be seen: what is not known stays
/// unknown, and at least one unit is listed. With `all` also the units that may not be used.
/// Performance classes come from cpu_capacity where the kernel has it, else from the core type and
/// highest frequency. The ids of cores and clusters are made unique in the machine.
Topology ReadTopology(const SystemView& view, bool all);

/// Copies `topology` into the caller's C struct by the array rule.
/// Errors   OUT_OF_RANGE: an array was too small; all counts are set.
hy_status ExportTopology(const Topology& topology, hy_topology* out);

/// Calls `verb` (a port's or the core's `topology`) with arrays that grow until all fits.
/// Errors   those of the verb; INTERNAL: the counts kept growing.
absl::StatusOr<Topology> ImportTopology(bool all, absl::FunctionRef<hy_status(hy_topology*)> verb);

/// CPU quota of this process in millicpus over all levels of its cgroup (v1, v2); 0 if none.
uint64_t ReadQuotaMillicpus(const SystemView& view);

/// A tree for people: packages, nodes, clusters, cores, units, caches; like units folded together.
std::string DrawTopology(const Topology& topology);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_TOPOLOGY_H_
