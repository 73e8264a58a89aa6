// SPDX-License-Identifier: Apache-2.0
//
// What the thread of a queue does with work that the port does not run by itself.
#ifndef HALYARD_HAL_SOFT_QUEUE_H_
#define HALYARD_HAL_SOFT_QUEUE_H_

#include "absl/status/status.h"
#include "hal/device_state.h"
#include "hal/port_submitter.h"
#include "hal/work_table.h"

namespace halyard::hal {

/// Waits until the waits of `work` are met, runs its operations in their order, lets go of its
/// buffers, then signals. A wait or an operation that fails ends the work and fails its signals.
void RunWork(DeviceState& device, PortSubmitter& submitter, Work& work);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_SOFT_QUEUE_H_
