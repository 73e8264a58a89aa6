// SPDX-License-Identifier: Apache-2.0
//
// What the files of scenarios share.
#ifndef HALYARD_CONFORMANCE_GRAPH_SCENARIO_PARTS_H_
#define HALYARD_CONFORMANCE_GRAPH_SCENARIO_PARTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "conformance/graph/graph_cases.h"
#include "conformance/graph/graph_ops.h"

namespace halyard::conformance {

using Cases = std::vector<ops::Case>;
using Dims = std::vector<std::pair<std::string, int64_t>>;
using Types = std::vector<uint32_t>;

inline constexpr uint32_t kF32 = HY_TYPE_F32;
inline constexpr uint32_t kF16 = HY_TYPE_F16;
inline constexpr uint32_t kBf16 = HY_TYPE_BF16;

void AddCase(Cases* out, const char* name, const Types& types, const Dims& dims,
             const char* dist = "normal", const char* lay = "dense");

bool WantsPacked(const ops::Case& c);
/// Weights, packed if the case says so.
int WeightsOf(const ops::Case& c, Graph* graph, absl::string_view name, uint32_t type, int64_t rows,
              int64_t cols);

/// INVALID_ARGUMENT if the case has another number of types, or a size that is not positive.
absl::Status CheckCase(const ops::Case& c, size_t types);

/// Adds as many steps to an empty graph as dim ops says, by the seed; rows and cols are sizes of its
/// inputs.
void MakeRandomGraph(const ops::Case& c, Graph* graph);

std::vector<Scenario> FusionScenarios();
std::vector<Scenario> SharingScenarios();
std::vector<Scenario> ChainScenarios();
std::vector<Scenario> ModelScenarios();

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GRAPH_SCENARIO_PARTS_H_
