// SPDX-License-Identifier: Apache-2.0
//
// Chains: steps in place on one tensor, and steps that share scratch.
#include "conformance/graph/scenario_parts.h"

namespace halyard::conformance {
namespace {

void ListInPlace(ops::Tier tier, Cases* out) {
  for (const uint32_t x : {kF32, kF16, kBf16}) {
    AddCase(out, "in-place-chain", {x}, {{"rows", 3}, {"cols", 96}});
    AddCase(out, "in-place-chain", {x}, {{"rows", 5}, {"cols", 64}}, "uniform", "pad64+off4");
    if (tier == ops::Tier::kQuick) continue;
    AddCase(out, "in-place-chain", {x}, {{"rows", 17}, {"cols", 160}}, "llm");
    AddCase(out, "in-place-chain", {x}, {{"rows", 1}, {"cols", 4096}}, "positive");
  }
}

absl::Status MakeInPlace(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 1);
  if (!good.ok()) return good;
  const int64_t rows = c.dim("rows", 3), cols = c.dim("cols", 64);
  const uint32_t type = c.types[0];
  const int t = g->State("t", type, {rows, cols});
  const int up = g->Input("up", type, {rows, cols});
  AddScale(g, t, 0.5f, t);
  AddSum(g, t, g->Weights("shift", type, {1, cols}), t);
  AddRmsNorm(g, t, g->Weights("norm", kF32, {cols}), type, t);
  AddRope(g, t, 0, cols / 32, 32, MakeRope(g, rows, 16, 0, 0));
  AddSiluMul(g, t, up, type, t);
  AddCast(g, t, type, t);
  AddProduct(g, t, g->Weights("factor", type, {1, cols}), t);
  AddLayerNorm(g, t, g->Weights("norm2", kF32, {cols}), type, t);
  AddGeluMul(g, up, t, type, t);
  AddSoftmax(g, t, 2, t);
  return absl::OkStatus();
}

// Two chains without a tensor in common, step by step in turns, so that scratch of one lies where the
// other's did, or next to it.
void ListScratch(ops::Tier tier, Cases* out) {
  const Types all[] = {{kF32, HY_TYPE_Q8_0, HY_TYPE_A8_B32},
                       {kF32, HY_TYPE_Q4_K, HY_TYPE_A8_B256},
                       {kBf16, HY_TYPE_W8A8, HY_TYPE_A8_TOKEN},
                       {kF16, HY_TYPE_Q4_1, HY_TYPE_A8_B32}};
  for (const Types& types : all) {
    AddCase(out, "scratch-reuse", types, {{"rows", 3}, {"cols", 256}});
    if (tier == ops::Tier::kQuick) continue;
    AddCase(out, "scratch-reuse", types, {{"rows", 9}, {"cols", 512}}, "llm", "packed");
    AddCase(out, "scratch-reuse", types, {{"rows", 1}, {"cols", 256}}, "uniform", "pad64");
  }
}

absl::Status MakeScratch(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 3);
  if (!good.ok()) return good;
  const int64_t rows = c.dim("rows", 3), cols = c.dim("cols", 256);
  int a = g->Input("a", c.types[0], {rows, cols});
  int b = g->Input("b", c.types[0], {rows + 1, 2 * cols});
  const int w = WeightsOf(c, g, "wa", c.types[1], 2 * cols, cols);
  const int back = WeightsOf(c, g, "wb", c.types[1], cols, 2 * cols);
  const int norm_a = g->Weights("norm_a", kF32, {cols});
  const int norm_b = g->Weights("norm_b", kF32, {2 * cols});
  const int quantised_a = AddRmsNorm(g, a, norm_a, c.types[2]);
  const int quantised_b = AddRmsNorm(g, b, norm_b, c.types[2]);
  a = AddMatmul(g, quantised_a, w, kF32);
  b = AddMatmul(g, quantised_b, back, kF32);
  int values = -1;
  AddTopK(g, b, 8, &values);
  a = AddLayerNorm(g, a, norm_b, kF32);
  b = AddRmsNorm(g, b, norm_a, kF32);
  AddMatmul(g, b, w, kF32);
  AddMatmul(g, a, back, kF32);
  AddLogSoftmax(g, values);
  return absl::OkStatus();
}

}  // namespace

std::vector<Scenario> ChainScenarios() {
  return {{"in-place-chain", ListInPlace, MakeInPlace},
          {"scratch-reuse", ListScratch, MakeScratch}};
}

}  // namespace halyard::conformance
