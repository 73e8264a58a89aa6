// SPDX-License-Identifier: Apache-2.0
//
// Runs one case of level L0 inside a child process, on GoogleTest.
#ifndef HALYARD_CONFORMANCE_HAL_CASE_RUNNER_H_
#define HALYARD_CONFORMANCE_HAL_CASE_RUNNER_H_

#include <string>

#include "conformance/hal/duty.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// A case of the level: a duty's test in a mode, or a scenario in the mode "fault".
struct HalCase {
  const DutyTest* test = nullptr;
  const FaultScenario* scenario = nullptr;  ///< one of the two is given
  std::string mode;
};

/// Loads the port if this process has not yet, runs the case and fills in verdict, reason, findings
/// and facts. `inout_result->id` is set by the caller.
void RunHalCase(const RunRequest& request, const HalCase& one, CaseResult* inout_result);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_HAL_CASE_RUNNER_H_
