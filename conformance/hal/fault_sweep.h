// SPDX-License-Identifier: Apache-2.0
//
// Runs a scenario with every call failing in turn.
#ifndef HALYARD_CONFORMANCE_HAL_FAULT_SWEEP_H_
#define HALYARD_CONFORMANCE_HAL_FAULT_SWEEP_H_

#include "conformance/hal/duty.h"
#include "hal/layers/layers.h"

namespace halyard::conformance {

/// Runs the scenario without faults; then with the n-th verb call failing, with a device lost from
/// the n-th call on, and with the n-th host allocation failing, each for n = 1, 2, ... until a run
/// passes without reaching its fault. After each run nothing may be left behind, and a run without
/// a fault must pass again. Failures are reported by GoogleTest's assertions.
void SweepFaults(const FaultScenario& scenario, HalContext& context, hal::FaultPlan& plan);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_HAL_FAULT_SWEEP_H_
