// SPDX-License-Identifier: Apache-2.0
//
// Which cases a request means, and what the port says of itself before any of them runs.
#ifndef HALYARD_CONFORMANCE_PLAN_H_
#define HALYARD_CONFORMANCE_PLAN_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/child.h"
#include "conformance/hal/case_runner.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// What a child found out about the port.
struct PortFacts {
  std::string origin;
  std::string version;
  std::string device;  ///< id of the device under test
  std::string device_name;
  bool is_first_device = true;
  std::string trouble;  ///< the child that asked died of this; the cases will say more
};

/// Asks in a child. Errors: as LoadPort; UNAVAILABLE: no such device here.
absl::StatusOr<PortFacts> AskPort(const RunRequest& request);

struct PlannedCase {
  CaseResult shell;  ///< id, level, duty, title, mode
  std::string test;
  HalCase body;
  ChildCase limits;
};

struct Plan {
  std::vector<PlannedCase> cases;  ///< of the chosen shard
  size_t list_count = 0;           ///< of all shards
  std::string list_digest;
};

/// Errors   INVALID_ARGUMENT: unknown level or mode, a bad shard, a filter that matches nothing.
absl::StatusOr<Plan> MakePlan(const RunRequest& request, const PortFacts& port);

/// The last part of a port's word or path, as it stands in ids.
std::string PortLabel(const std::string& port);

/// The case with this id, as far as the id tells: duty, test, mode, port, device.
struct CaseIdParts {
  std::string duty, test, mode, port, device;
};
absl::StatusOr<CaseIdParts> ParseCaseId(const std::string& id);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_PLAN_H_
