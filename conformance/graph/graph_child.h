// SPDX-License-Identifier: Apache-2.0
//
// Level L2 from a child's side: kernels are loaded here and nowhere else.
#ifndef HALYARD_CONFORMANCE_GRAPH_GRAPH_CHILD_H_
#define HALYARD_CONFORMANCE_GRAPH_GRAPH_CHILD_H_

#include <string>

#include "absl/status/statusor.h"
#include "conformance/result.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// ListGraphCases as text.
absl::StatusOr<std::string> ListGraphsInChild(const RunRequest& request);

/// Runs the case of inout_result->id. `closely`: a failure is told element by element.
void RunGraphCaseInChild(const RunRequest& request, bool closely, CaseResult* inout_result);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GRAPH_GRAPH_CHILD_H_
