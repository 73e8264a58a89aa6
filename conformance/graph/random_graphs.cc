// SPDX-License-Identifier: Apache-2.0
//
// Which random graphs there are.
#include <algorithm>

#include "conformance/graph/scenario_parts.h"

namespace halyard::conformance {
namespace {

void List(ops::Tier tier, Cases* out) {
  constexpr uint32_t kActivations[] = {kF32, kF32, kBf16, kF32, kF16};
  constexpr uint32_t kWeights[] = {HY_TYPE_Q8_0, HY_TYPE_Q4_K, HY_TYPE_F32,  HY_TYPE_Q4_0,
                                   HY_TYPE_W8A8, HY_TYPE_Q6_K, HY_TYPE_BF16, HY_TYPE_Q4_1,
                                   HY_TYPE_Q5_K, HY_TYPE_Q5_0, HY_TYPE_Q3_K, HY_TYPE_W4A8_G128,
                                   HY_TYPE_F16,  HY_TYPE_Q5_1, HY_TYPE_Q2_K};
  constexpr const char* kDists[] = {"normal", "uniform", "normal", "lossless", "llm", "positive"};
  constexpr const char* kLays[] = {"dense", "packed", "pad64+off4", "packed+pad64"};
  constexpr int64_t kRows[] = {3, 1, 5, 2, 7};
  const int64_t count = tier == ops::Tier::kQuick ? 90 : tier == ops::Tier::kStandard ? 450 : 2000;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    ops::Case c;
    c.op = "dag";
    c.types = {kActivations[at % 5], kWeights[at % 15]};
    const bool narrow = hy_type_facts(c.types[1])->block == 1 && i % 2 == 0;
    c.dims = {{"ops", 3 + i % 10}, {"rows", kRows[at / 3 % 5]}, {"cols", narrow ? 96 : 256}};
    c.dist = kDists[at % 6];
    c.lay = kLays[at / 2 % 4];
    c.seed = at + 1;
    out->push_back(std::move(c));
  }
}

absl::Status Build(const ops::Case& c, Graph* graph) {
  const absl::Status good = CheckCase(c, 2);
  if (!good.ok()) return good;
  const bool floats = hy_type_is_float(c.types[0]) &&
                      (hy_type_is_float(c.types[1]) || hy_type_is_weights(c.types[1]));
  if (!floats || c.dim("ops") < 1 || c.dim("ops") > 64 || c.dim("cols") < 1 || c.dim("rows") < 1 ||
      c.dim("cols") > 4096) {
    return absl::InvalidArgumentError("dag needs types FLOAT.WEIGHTS, ops 1..64, rows, cols");
  }
  MakeRandomGraph(c, graph);
  return absl::OkStatus();
}

}  // namespace

Scenario RandomGraphs() { return {"dag", List, Build}; }

}  // namespace halyard::conformance
