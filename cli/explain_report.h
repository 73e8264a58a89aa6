// SPDX-License-Identifier: Apache-2.0
//
// What `halyard explain` says: as text for people, and as JSON.
#ifndef HALYARD_CLI_EXPLAIN_REPORT_H_
#define HALYARD_CLI_EXPLAIN_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "nlohmann/json.hpp"
#include "registry/device_plan.h"
#include "registry/registry.h"
#include "registry/select.h"

namespace halyard::cli {

/// One call and what became of it.
struct Explained {
  std::string case_text;
  hy_kernel_target target{};
  std::string where;  ///< "linux", "an ISA given by you"
  uint64_t flops = 0;
  uint64_t bytes = 0;
  registry::Selection selection;
  registry::Explanation explanation;
  std::optional<registry::CallPlan> placement;
};

std::string ExplainText(const registry::Registry& registry, const Explained& explained);
nlohmann::json ExplainJson(const registry::Registry& registry, const Explained& explained);

/// All ops with their type tuples and kernels, and where kernels come from.
std::string OpsText(const registry::Registry& registry);
nlohmann::json OpsJson(const registry::Registry& registry);

/// The kernels of one op, without a call.
std::string KernelsText(const registry::Op& op);

/// Who gives how many kernels, and what was refused.
std::string ProvidersText(const registry::Registry& registry);
nlohmann::json ProvidersJson(const registry::Registry& registry);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_EXPLAIN_REPORT_H_
