// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_HAL_SUBMISSION_H_
#define HALYARD_HAL_SUBMISSION_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "hal/fence_state.h"
#include "hal/work_table.h"

namespace halyard::hal {

/// A submission as it is built. Waits keep the right to signal too, until it is accepted.
struct SubmissionContent {
  std::vector<SignalPoint> waits;
  std::vector<Op> ops;
  std::vector<SignalPoint> signals;

  /// Checks all that a port need not check: owners, ranges, patterns, pointers.
  /// Errors   as `submit`; PERMISSION_DENIED: writes to a read-only import.
  absl::Status Validate(const DeviceState& device) const;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_SUBMISSION_H_
