// SPDX-License-Identifier: Apache-2.0
//
// Which edges of the catalogue (X01..X34, docs/conformance.md) a case covers, from what it is.
#ifndef HALYARD_CONFORMANCE_OPS_EDGES_H_
#define HALYARD_CONFORMANCE_OPS_EDGES_H_

#include <string>
#include <vector>

#include "conformance/ops/op_case_id.h"
#include "registry/registry.h"

namespace halyard::conformance {

/// `args`: as built for the case, data may be NULL. In order, without those that every case covers.
std::vector<std::string> EdgesOf(const OpCaseId& id, const registry::Op& op, const void* args);

/// Edges that the runner covers in every case, whatever it is.
std::vector<std::string> EdgesOfEveryCase();

/// "X11: a page without access after and before each buffer"; empty for no edge.
absl::string_view EdgeTitle(absl::string_view edge);
/// All codes in order.
std::vector<std::string> AllEdges();

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_EDGES_H_
