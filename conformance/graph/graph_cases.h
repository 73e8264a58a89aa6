// SPDX-License-Identifier: Apache-2.0
//
// Which graphs there are: scenarios that every model has, and random ones from a seed.
#ifndef HALYARD_CONFORMANCE_GRAPH_GRAPH_CASES_H_
#define HALYARD_CONFORMANCE_GRAPH_GRAPH_CASES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/graph/graph.h"
#include "conformance/graph/graph_case_id.h"
#include "conformance/ops/op_plan.h"

namespace halyard::conformance {

/// A graph with a name. Types and dims are of its own kind; see scenarios.cc.
struct Scenario {
  const char* name;
  void (*enumerate)(ops::Tier tier, std::vector<ops::Case>* out);
  /// Errors   INVALID_ARGUMENT: types or dims that make no such graph.
  absl::Status (*build)(const ops::Case& c, Graph* graph);
};
const std::vector<Scenario>& AllScenarios();
/// The one of random graphs; part of AllScenarios.
Scenario RandomGraphs();

/// The graph of an id: dropped steps left out, unfused forms added.
/// Errors   INVALID_ARGUMENT: there is no such graph.
absl::StatusOr<Graph> MakeGraph(const GraphCaseId& id, const BuiltinOps& builtin);

/// All cases of a tier whose name, or one of whose ops, fits the glob `op`.
std::vector<ListedCase> ListGraphCases(ops::Tier tier, const std::string& op,
                                       const BuiltinOps& builtin);

/// What a case's types, dims and distribution make it fit to be shrunk to, the boldest first: one
/// worker, fewer steps, smaller sizes, plain memory.
std::vector<std::string> SmallerGraphs(const std::string& id, const BuiltinOps& builtin);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GRAPH_GRAPH_CASES_H_
