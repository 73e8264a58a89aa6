// SPDX-License-Identifier: Apache-2.0
//
// What models do in one go: sums that are normalised and quantised, projections that are turned and
// kept, gates.
#include <algorithm>

#include "conformance/graph/scenario_parts.h"

namespace halyard::conformance {
namespace {

// --------------------------------------------------------------------- add + rmsnorm + quantise ---

void ListSumNorm(ops::Tier tier, Cases* out) {
  for (const uint32_t x : {kF32, kF16, kBf16}) {
    for (const uint32_t y : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN}) {
      AddCase(out, "add-rmsnorm-quantize", {x, y, HY_TYPE_Q8_0}, {{"rows", 3}, {"cols", 512}});
      if (tier == ops::Tier::kQuick) continue;
      AddCase(out, "add-rmsnorm-quantize", {x, y, HY_TYPE_Q4_K},
              {{"rows", 7}, {"cols", 768}, {"inplace", 1}}, "llm", "pad64+off4");
    }
  }
}

absl::Status MakeSumNorm(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 3);
  if (!good.ok()) return good;
  const int64_t rows = c.dim("rows", 3), cols = c.dim("cols", 256);
  const int x = g->Input("x", c.types[0], {rows, cols});
  const int residual = g->State("residual", c.types[0], {rows, cols});
  const int norm = g->Weights("norm", kF32, {cols});
  const int sum = c.dim("inplace") != 0 ? residual : g->Value(c.types[0], {rows, cols});
  const int y = AddSumNorm(g, x, residual, norm, c.types[1], sum);
  AddMatmul(g, y, WeightsOf(c, g, "w", c.types[2], 24, cols), kF32);
  return absl::OkStatus();
}

// ------------------------------------------------------------------------ qkv + rope + kv_append ---

void ListQkv(ops::Tier tier, Cases* out) {
  const Dims dims = {{"rows", 5}, {"cols", 256}, {"hq", 4}, {"hkv", 2}, {"d", 32}, {"page", 4}};
  const Types all[] = {{kF32, HY_TYPE_Q8_0, kF32},
                       {kF32, HY_TYPE_Q4_K, HY_TYPE_Q8_0},
                       {kBf16, kBf16, kBf16},
                       {kF16, HY_TYPE_Q4_0, kF16}};
  for (const Types& types : all) {
    AddCase(out, "qkv-rope-append", types, dims);
    if (tier == ops::Tier::kQuick) continue;
    for (const int64_t mode : {0, 1}) {
      AddCase(out, "qkv-rope-append", types,
              {{"rows", 1 + 8 * mode},
               {"cols", 512},
               {"hq", 3},
               {"hkv", 1},
               {"d", 64},
               {"page", 16},
               {"mode", mode}},
              "llm", mode == 0 ? "packed" : "pad64");
    }
  }
}

absl::Status MakeQkv(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 3);
  if (!good.ok()) return good;
  const int64_t rows = c.dim("rows", 5), hq = c.dim("hq", 4), hkv = c.dim("hkv", 2);
  const int64_t d = c.dim("d", 32), page = std::max<int64_t>(1, c.dim("page", 4));
  const int x = g->Input("x", c.types[0], {rows, c.dim("cols", 256)});
  const int w = WeightsOf(c, g, "wqkv", c.types[1], (hq + 2 * hkv) * d, c.dim("cols", 256));
  const int qkv = AddMatmul(g, x, w, c.types[0]);
  const Rope rope = MakeRope(g, rows, d / 2, 3, static_cast<uint32_t>(c.dim("mode", 1)));
  AddRope(g, qkv, 0, hq, d, rope);
  AddRope(g, qkv, hq * d, hkv, d, rope);
  const Pool pool = MakePool(g, c.types[2], rows / page + 3, page, hkv, d);
  std::vector<int32_t> slots;
  for (int64_t r = 0; r < rows; ++r) slots.push_back(static_cast<int32_t>(page + 1 + r));
  AddAppend(g, qkv, hq * d, (hq + hkv) * d, pool, g->Ints("slots", slots));
  return absl::OkStatus();
}

// --------------------------------------------------------------------- gate/up + silu + quantise ---

void ListGateUp(ops::Tier tier, Cases* out) {
  const Types all[] = {{kF32, HY_TYPE_Q4_K, HY_TYPE_A8_B256},
                       {kF32, HY_TYPE_Q8_0, HY_TYPE_A8_B32},
                       {kBf16, HY_TYPE_W8A8, HY_TYPE_A8_TOKEN},
                       {kF32, HY_TYPE_W4A8_G128, HY_TYPE_A8_TOKEN},
                       {kF16, HY_TYPE_Q6_K, HY_TYPE_A8_B256}};
  for (const Types& types : all) {
    AddCase(out, "gate-up-silu-quantize", types, {{"rows", 3}, {"cols", 256}, {"inner", 512}});
    if (tier == ops::Tier::kQuick) continue;
    AddCase(out, "gate-up-silu-quantize", types, {{"rows", 1}, {"cols", 512}, {"inner", 256}},
            "llm", "packed");
    AddCase(out, "gate-up-silu-quantize", types, {{"rows", 9}, {"cols", 256}, {"inner", 256}},
            "uniform", "pad64+off4");
  }
}

absl::Status MakeGateUp(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 3);
  if (!good.ok()) return good;
  const int64_t cols = c.dim("cols", 256), inner = c.dim("inner", 256);
  const int x = g->Input("x", c.types[0], {c.dim("rows", 3), cols});
  const int gate = AddMatmul(g, x, WeightsOf(c, g, "gate", c.types[1], inner, cols), c.types[0]);
  const int up = AddMatmul(g, x, WeightsOf(c, g, "up", c.types[1], inner, cols), c.types[0]);
  const int y = AddSiluMul(g, gate, up, c.types[2]);
  const int down = AddMatmul(g, y, WeightsOf(c, g, "down", c.types[1], cols, inner), c.types[0]);
  AddSum(g, down, x, down);
  return absl::OkStatus();
}

}  // namespace

std::vector<Scenario> FusionScenarios() {
  return {{"add-rmsnorm-quantize", ListSumNorm, MakeSumNorm},
          {"qkv-rope-append", ListQkv, MakeQkv},
          {"gate-up-silu-quantize", ListGateUp, MakeGateUp}};
}

}  // namespace halyard::conformance
