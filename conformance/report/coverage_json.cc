// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/coverage_json.h"

#include "conformance/ops/coverage.h"
#include "conformance/ops/edges.h"
#include "conformance/ops/op_facts.h"
#include "conformance/report/areas.h"

namespace halyard::conformance {
namespace {

using nlohmann::json;

json KernelToJson(const RunResult& result, const KernelCoverage& one) {
  json edges = json::object();
  for (const auto& [edge, counts] : one.edges) {
    edges[edge] = {counts.passed, counts.failed, counts.weak, counts.waived};
  }
  json document = {{"op", one.op},
                   {"types", one.types},
                   {"kernel", one.kernel},
                   {"passed", one.counts.passed},
                   {"failed", one.counts.failed},
                   {"weak", one.counts.weak},
                   {"waived", one.counts.waived},
                   {"skipped", one.counts.skipped},
                   {"telling", one.telling},
                   {"exact", one.exact},
                   {"edges", edges}};
  if (one.worst_error != nullptr) {
    document["worst"] = {{"err_T", *one.worst_error->Fact(kErrorFact)},
                         {"ulp", *one.worst_ulp->Fact(kUlpFact)},
                         {"id", one.worst_error->id},
                         {"replay", ReplayLine(result, *one.worst_error)}};
  }
  return document;
}

}  // namespace

json CoverageToJson(const RunResult& result) {
  json edges = json::object();
  for (const std::string& edge : AllEdges()) edges[edge] = std::string(EdgeTitle(edge));
  json kernels = json::array();
  for (const KernelCoverage& one : CoverageOf(result)) {
    kernels.push_back(KernelToJson(result, one));
  }
  return {{"edges", edges},
          {"unshown", Unshown(result)},
          {"mutants",
           {{"killed", result.Fact("mutants_killed")},
            {"reserve", result.Fact("reserve_mutants_killed")}}},
          {"kernels", kernels}};
}

}  // namespace halyard::conformance
