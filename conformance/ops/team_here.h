// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_OPS_TEAM_HERE_H_
#define HALYARD_CONFORMANCE_OPS_TEAM_HERE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "conformance/runner.h"
#include "hal/device.h"

namespace halyard::conformance {

/// The device under test of this process.
/// Errors   as LoadPort and Device::Open.
absl::StatusOr<const hal::Device*> DeviceHere(const RunRequest& request);

/// A team of it, made once for each count in a process. Its processors may be
/// fewer than its workers. Threads: one.
/// Errors   as DeviceHere and CreateTeam.
absl::StatusOr<const hal::Team*> TeamHere(const RunRequest& request, uint32_t workers);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_TEAM_HERE_H_
