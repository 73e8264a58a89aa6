// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills on any port: by submit, by map, or by both.
#ifndef HALYARD_HAL_TRANSFER_H_
#define HALYARD_HAL_TRANSFER_H_

#include "absl/status/status.h"
#include "hal/device_state.h"
#include "hal/port_submitter.h"
#include "hal/work_table.h"

namespace halyard::hal {

/// Does a COPY and returns when it is done. Ranges were checked, and no map conflicts.
/// Errors   as `submit`, `map` and `unmap`.
absl::Status RunCopy(DeviceState& device, PortSubmitter& submitter, const Op& op);

/// Does a FILL and returns when it is done; as RunCopy.
absl::Status RunFill(DeviceState& device, PortSubmitter& submitter, const Op& op);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_TRANSFER_H_
