// SPDX-License-Identifier: Apache-2.0
//
// A case as programs run it: the registry selects, its runner runs on a team of the port's device, on
// host memory or on buffers of the device. Shows that what was selected is what ran.
#ifndef HALYARD_CONFORMANCE_OPS_AUTO_RUN_H_
#define HALYARD_CONFORMANCE_OPS_AUTO_RUN_H_

#include "absl/strings/string_view.h"
#include "conformance/ops/fixture.h"
#include "conformance/ops/op_case_id.h"
#include "conformance/ops/under_test.h"
#include "conformance/result.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// True of kern=auto and kern=device.
bool IsRegistryRun(absl::string_view kernel);

/// Fills in verdict, reason, findings and facts of such a case.
void RunAuto(const UnderTest& under_test, const RunRequest& request, const OpCaseId& id,
             FixtureCache* cache, CaseResult* out);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_AUTO_RUN_H_
