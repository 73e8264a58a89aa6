// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/scenario_parts.h"

#include "absl/strings/str_cat.h"
#include "ops/data/layout.h"

namespace halyard::conformance {

void AddCase(Cases* out, const char* name, const Types& types, const Dims& dims, const char* dist,
             const char* lay) {
  ops::Case c;
  c.op = name;
  c.types = types;
  c.dims = dims;
  c.dist = dist;
  c.lay = lay;
  c.seed = 1 + out->size();
  out->push_back(std::move(c));
}

bool WantsPacked(const ops::Case& c) {
  const absl::StatusOr<ops::Lay> lay = ops::ParseLay(c.lay);
  return lay.ok() && lay->packed;
}

int WeightsOf(const ops::Case& c, Graph* graph, absl::string_view name, uint32_t type, int64_t rows,
              int64_t cols) {
  const int w = graph->Weights(name, type, {rows, cols});
  return WantsPacked(c) ? graph->Packed(w) : w;
}

absl::Status CheckCase(const ops::Case& c, size_t types) {
  if (c.types.size() != types) {
    return absl::InvalidArgumentError(absl::StrCat(c.op, " needs ", types, " types"));
  }
  constexpr int64_t kMost = 1 << 16;
  for (const auto& [name, value] : c.dims) {
    if (value >= 0 && value <= kMost) continue;
    return absl::InvalidArgumentError(absl::StrCat(name, "=", value, " is no size"));
  }
  return absl::OkStatus();
}

const std::vector<Scenario>& AllScenarios() {
  static const auto* const all = [] {
    auto* const list = new std::vector<Scenario>;
    for (const std::vector<Scenario>& some :
         {FusionScenarios(), SharingScenarios(), ChainScenarios(), ModelScenarios()}) {
      list->insert(list->end(), some.begin(), some.end());
    }
    list->push_back(RandomGraphs());
    return list;
  }();
  return *all;
}

}  // namespace halyard::conformance
