// SPDX-License-Identifier: Apache-2.0
//
// A case as programs run it: the registry selects, its runner runs on a team of the port's device.
// Shows that what was selected is what ran.
#ifndef HALYARD_CONFORMANCE_OPS_AUTO_RUN_H_
#define HALYARD_CONFORMANCE_OPS_AUTO_RUN_H_

#include "conformance/ops/fixture.h"
#include "conformance/ops/op_case_id.h"
#include "conformance/ops/under_test.h"
#include "conformance/result.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// Fills in verdict, reason, findings and facts of a case with kern=auto.
void RunAuto(const UnderTest& under_test, const RunRequest& request, const OpCaseId& id,
             FixtureCache* cache, CaseResult* out);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_AUTO_RUN_H_
