// SPDX-License-Identifier: Apache-2.0
//
// The services that the core gives to ports: one table for the process.
#ifndef HALYARD_HAL_HOST_SERVICES_H_
#define HALYARD_HAL_HOST_SERVICES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "hal/system_view.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// The one table; valid to the end of the process.
const hy_host_services* HostServices();

/// Message of the last `report` on this thread, and forgets it. Empty if there was none.
std::string TakeReport();

/// Replaces the view that topology_read reads; the live system at first. For `--system`, tests.
void SetHostSystem(std::shared_ptr<const SystemView> view);
std::shared_ptr<const SystemView> HostSystem();

/// Makes the n-th call of memory_alloc or pages_alloc from now on fail, once (n from 1; 0 disarms).
/// Returns how many such calls were made since it was last armed. For tests of failure discipline.
uint64_t FailHostAllocation(uint64_t nth);

/// Host memory that ports hold through the services now: for leak checks.
struct HostMemoryUse {
  uint64_t allocations = 0;
  uint64_t bytes = 0;
};
HostMemoryUse CurrentHostMemoryUse();

}  // namespace halyard::hal

#endif  // HALYARD_HAL_HOST_SERVICES_H_
