// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/graph_cases.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "conformance/filter.h"
#include "conformance/ops/shrink.h"
#include "conformance/shard.h"

namespace halyard::conformance {
namespace {

uint32_t ChooseGraphWorkers(const ops::Case& c) {
  constexpr uint32_t kChoices[] = {1, 2, 3, 2, 3, 4, 5, 2};
  return kChoices[Digest(ops::CaseText(c)) % 8];
}

const Scenario* FindScenario(const std::string& name) {
  for (const Scenario& one : AllScenarios()) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

bool AnyOpFits(const std::string& glob, const std::string& name, const std::string& ops) {
  if (glob.empty() || GlobMatches(glob, name)) return true;
  for (const absl::string_view op : absl::StrSplit(ops, ' ')) {
    if (GlobMatches(glob, op)) return true;
  }
  return false;
}

// Half of the steps, from both ends, and each alone.
void AddFewerSteps(const GraphCaseId& id, size_t steps, std::vector<GraphCaseId>* out) {
  std::vector<int64_t> left;
  for (int64_t step = 0; step < static_cast<int64_t>(steps); ++step) {
    if (std::find(id.drop.begin(), id.drop.end(), step) == id.drop.end()) left.push_back(step);
  }
  const auto without = [&](size_t begin, size_t end) {
    if (begin >= end || end - begin >= left.size()) return;
    GraphCaseId other = id;
    other.drop.insert(other.drop.end(), left.begin() + static_cast<std::ptrdiff_t>(begin),
                      left.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(other.drop.begin(), other.drop.end());
    out->push_back(std::move(other));
  };
  for (size_t part = left.size() / 2; part > 1; part /= 2) {
    without(left.size() - part, left.size());
    without(0, part);
  }
  for (size_t i = left.size(); i-- > 0;) without(i, i + 1);
}

}  // namespace

absl::StatusOr<Graph> MakeGraph(const GraphCaseId& id, const BuiltinOps& builtin) {
  const Scenario* const scenario = FindScenario(id.c.op);
  if (scenario == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("there is no graph ", id.c.op));
  }
  Graph graph;
  const absl::Status built = scenario->build(id.c, &graph);
  if (!built.ok()) return built;
  DropSteps(id.drop, builtin, &graph);
  AddUnfused(&graph);
  return graph;
}

std::vector<ListedCase> ListGraphCases(ops::Tier tier, const std::string& op,
                                       const BuiltinOps& builtin) {
  std::vector<ListedCase> list;
  for (const Scenario& scenario : AllScenarios()) {
    std::vector<ops::Case> cases;
    scenario.enumerate(tier, &cases);
    for (const ops::Case& c : cases) {
      const GraphCaseId id = {c, {}, ChooseGraphWorkers(c)};
      const absl::StatusOr<Graph> graph = MakeGraph(id, builtin);
      // One that cannot be made is listed, so that it fails where it can be seen.
      const std::string ops = graph.ok() ? OpsOf(*graph) : "";
      if (!AnyOpFits(op, scenario.name, ops)) continue;
      list.push_back({GraphCaseIdText(id), scenario.name, TypesText(c), kKernelAuto, "", 0});
    }
  }
  return list;
}

std::vector<std::string> SmallerGraphs(const std::string& text, const BuiltinOps& builtin) {
  std::vector<std::string> smaller;
  const absl::StatusOr<GraphCaseId> id = ParseGraphCaseId(text);
  if (!id.ok()) return smaller;
  std::vector<GraphCaseId> others;
  Graph graph;
  const Scenario* const scenario = FindScenario(id->c.op);
  if (scenario != nullptr && scenario->build(id->c, &graph).ok()) {
    AddFewerSteps(*id, graph.steps.size(), &others);
  }
  // Workers, memory, sizes and data shrink as those of one op do. Another count of ops would be
  // another graph.
  for (const OpCaseId& one : SmallerCases({id->c, id->workers, {}, ""})) {
    if (one.c.dim("ops") != id->c.dim("ops")) continue;
    others.push_back({one.c, id->drop, one.workers});
  }
  for (const GraphCaseId& other : others) {
    if (MakeGraph(other, builtin).ok()) smaller.push_back(GraphCaseIdText(other));
  }
  return smaller;
}

}  // namespace halyard::conformance
