// SPDX-License-Identifier: Apache-2.0
//
// Whole pieces of a model: a layer, experts, the way from the last layer to the next token and back.
#include <algorithm>

#include "conformance/graph/scenario_parts.h"
#include "ops/matmul_id/contract.h"

namespace halyard::conformance {
namespace {

void ListLayer(ops::Tier tier, Cases* out) {
  const Types all[] = {{kF32, HY_TYPE_Q8_0, kF16, HY_TYPE_A8_B32},
                       {kF32, HY_TYPE_Q4_K, HY_TYPE_Q8_0, HY_TYPE_A8_B256},
                       {kBf16, kBf16, kBf16, HY_TYPE_A8_TOKEN},
                       {kF32, HY_TYPE_W4A8_G128, kF32, HY_TYPE_A8_TOKEN}};
  const Dims decode = {{"rows", 1}, {"cols", 256}, {"hq", 8}, {"hkv", 2}, {"d", 32}, {"ctx", 21}};
  const Dims prefill = {{"rows", 7}, {"cols", 256}, {"hq", 4}, {"hkv", 1}, {"d", 64}, {"ctx", 0}};
  for (const Types& types : all) {
    AddCase(out, "layer", types, decode, "normal", "packed");
    AddCase(out, "layer", types, prefill);
    if (tier == ops::Tier::kQuick) continue;
    AddCase(out, "layer", types, decode, "llm", "pad64");
    AddCase(out, "layer", types, prefill, "llm", "packed");
  }
}

/// A layer as engines run it: norms that add, projections, attention, a gate.
class Layer {
 public:
  Layer(const ops::Case& c, Graph* graph)
      : c_(c),
        g_(graph),
        rows_(c.dim("rows", 1)),
        cols_(c.dim("cols", 256)),
        hq_(c.dim("hq", 4)),
        hkv_(c.dim("hkv", 2)),
        d_(c.dim("d", 32)),
        ctx_(c.dim("ctx", 0)) {}

  void Make() {
    const int stream = g_->State("stream", c_.types[0], {rows_, cols_});
    const int normed = AddRmsNorm(g_, stream, Norm("norm1"), c_.types[0]);
    const int heads = Attend(normed);
    const int mixed = AddMatmul(g_, heads, Weights("wo", cols_, hq_ * d_), c_.types[0]);
    const int quantised = AddSumNorm(g_, mixed, stream, Norm("norm2"), c_.types[3], stream);
    const int gate = AddMatmul(g_, quantised, Weights("gate", 2 * cols_, cols_), c_.types[0]);
    const int up = AddMatmul(g_, quantised, Weights("up", 2 * cols_, cols_), c_.types[0]);
    const int inner = AddSiluMul(g_, gate, up, c_.types[3]);
    const int down = AddMatmul(g_, inner, Weights("down", cols_, 2 * cols_), c_.types[0]);
    AddSum(g_, stream, down, stream);
  }

 private:
  int Norm(const char* name) { return g_->Weights(name, kF32, {cols_}); }
  int Weights(const char* name, int64_t rows, int64_t cols) {
    return WeightsOf(c_, g_, name, c_.types[1], rows, cols);
  }

  int Attend(int x) {
    constexpr int64_t kPage = 4;
    const int qkv = AddMatmul(g_, x, Weights("wqkv", (hq_ + 2 * hkv_) * d_, cols_), c_.types[0]);
    const Rope rope = MakeRope(g_, rows_, d_ / 2, static_cast<int>(ctx_), 1);
    AddRope(g_, qkv, 0, hq_, d_, rope);
    AddRope(g_, qkv, hq_ * d_, hkv_, d_, rope);
    const int64_t pages = (ctx_ + rows_ + kPage - 1) / kPage;
    const Pool pool = MakePool(g_, c_.types[2], pages + 1, kPage, hkv_, d_);
    std::vector<int32_t> slots;
    std::vector<int32_t> table;
    // Pages lie the other way round.
    for (int64_t p = 0; p < pages; ++p) table.push_back(static_cast<int32_t>(pages - p));
    for (int64_t p = ctx_; p < ctx_ + rows_; ++p) {
      slots.push_back(table[static_cast<size_t>(p / kPage)] * static_cast<int32_t>(kPage) +
                      static_cast<int32_t>(p % kPage));
    }
    AddAppend(g_, qkv, hq_ * d_, (hq_ + hkv_) * d_, pool, g_->Ints("slots", slots));
    Sequences sequences;
    sequences.block_table = g_->Ints("block_table", table, {1, pages});
    sequences.q_start = g_->Ints("q_start", {0, static_cast<int32_t>(rows_)});
    sequences.kv_len = g_->Ints("kv_len", {static_cast<int32_t>(ctx_ + rows_)});
    return AddAttention(g_, qkv, 0, rows_, hq_, pool, sequences, c_.types[0]);
  }

  const ops::Case& c_;
  Graph* const g_;
  const int64_t rows_, cols_, hq_, hkv_, d_, ctx_;
};

absl::Status MakeLayer(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 4);
  if (!good.ok()) return good;
  Layer(c, g).Make();
  return absl::OkStatus();
}

void ListExperts(ops::Tier tier, Cases* out) {
  const Dims dims = {{"rows", 5}, {"cols", 256}, {"inner", 64}, {"experts", 6}, {"used", 2}};
  for (const uint32_t w : {kF32, uint32_t{HY_TYPE_Q4_K}, uint32_t{HY_TYPE_Q8_0}}) {
    AddCase(out, "experts", {kF32, w}, dims);
    if (tier != ops::Tier::kQuick) AddCase(out, "experts", {kBf16, w}, dims, "llm", "pad64");
  }
}

absl::Status MakeExperts(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 2);
  if (!good.ok()) return good;
  const int64_t rows = c.dim("rows", 5), cols = c.dim("cols", 256), inner = c.dim("inner", 64);
  const int64_t experts = c.dim("experts", 6);
  const int64_t used = std::min(c.dim("used", 2), experts);
  const int x = g->Input("x", c.types[0], {rows, cols});
  const int logits = AddMatmul(g, x, g->Weights("router", kF32, {experts, cols}), kF32);
  int values = -1;
  const int ids = AddTopK(g, logits, used, &values);
  AddSoftmax(g, values, 1);
  const int w = g->Weights("w", c.types[1], {experts, inner, cols});
  const int y = g->Value(kF32, {rows, used, inner});
  g->Step("matmul_id", hy_matmul_id_args{}, {{"x", x}, {"w", w}, {"ids", ids}, {"y", y}});
  return absl::OkStatus();
}

void ListNext(ops::Tier tier, Cases* out) {
  const Dims dims = {{"rows", 3}, {"cols", 256}, {"vocabulary", 200}};
  for (const uint32_t w : {kF16, uint32_t{HY_TYPE_Q6_K}, uint32_t{HY_TYPE_Q8_0}}) {
    AddCase(out, "next-token", {kF32, w}, dims);
    if (tier != ops::Tier::kQuick) AddCase(out, "next-token", {kBf16, w}, dims, "llm", "packed");
  }
}

absl::Status MakeNext(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 2);
  if (!good.ok()) return good;
  const int64_t cols = c.dim("cols", 256), vocabulary = c.dim("vocabulary", 200);
  const int x = g->Input("x", c.types[0], {c.dim("rows", 3), cols});
  const int table = g->Weights("embedding", c.types[1], {vocabulary, cols});
  const int normed = AddRmsNorm(g, x, g->Weights("norm", kF32, {cols}), c.types[0]);
  // Tied: the embedding is the head, too.
  const int logits = AddMatmul(g, normed, WantsPacked(c) ? g->Packed(table) : table, kF32);
  AddLogSoftmax(g, logits);
  const int token = AddArgmax(g, logits);
  AddGetRows(g, table, token, c.types[0]);
  return absl::OkStatus();
}

}  // namespace

std::vector<Scenario> ModelScenarios() {
  return {{"layer", ListLayer, MakeLayer},
          {"experts", ListExperts, MakeExperts},
          {"next-token", ListNext, MakeNext}};
}

}  // namespace halyard::conformance
