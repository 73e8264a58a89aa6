// SPDX-License-Identifier: Apache-2.0
//
// Inner part of worker_team: which units, how many of them, and what a worker may execute.
#ifndef HALYARD_HAL_TEAM_PLAN_H_
#define HALYARD_HAL_TEAM_PLAN_H_

#include <cstdint>

#include "absl/types/span.h"
#include "hal/bind.h"
#include "hal/topology.h"
#include "hal/worker_team.h"

namespace halyard::hal {

/// Processor time that workers on these units can have: the budget, or the units if they are fewer.
uint64_t UsableMillicpus(const Topology& topology, absl::Span<const uint32_t> pus);

/// What all units of the report's mask execute. The running processor's common ISA where the mask
/// is unknown, or the topology does not describe this machine.
IsaMask WorkerIsa(const Topology& topology, const WorkerReport& report);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_TEAM_PLAN_H_
