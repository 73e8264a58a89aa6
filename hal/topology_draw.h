// SPDX-License-Identifier: Apache-2.0
//
// The parts of DrawTopology.
#ifndef HALYARD_HAL_TOPOLOGY_DRAW_H_
#define HALYARD_HAL_TOPOLOGY_DRAW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hal/topology.h"

namespace halyard::hal {

/// "1.25 MiB", "64 KiB".
std::string FormatBytes(uint64_t bytes);

/// "1 core", "2 cores".
std::string FormatCount(uint64_t count, const std::string& noun);

/// Cores that some units lie on; units that lie on no known core count one each.
uint32_t CountCores(const std::vector<const hy_pu*>& pus);

/// The last cache of a unit, if several cores share it: then it is a part of the tree, else it
/// belongs to the core. nullptr if there is none.
const hy_cache* SharedLastCache(const Topology& topology, const hy_pu& pu);

/// "L3 32 MiB", "L1d".
std::string CacheName(const hy_cache& cache);

/// Packages, nodes, last caches, clusters, cores and units, indented; a line each, folded.
std::string DrawTree(const Topology& topology);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_TOPOLOGY_DRAW_H_
