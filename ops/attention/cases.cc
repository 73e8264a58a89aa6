// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/attention/contract.h"
#include "ops/attention/pool.h"
#include "ops/attention/scene.h"
#include "ops/case.h"
#include "ops/data/distribution.h"

namespace halyard::ops {
namespace {

struct Dims {
  int64_t seqs = 1, rows = 1, ctx = 33;
  int64_t hq = 6, hkv = 2, d = 64, page = 16;
  int64_t causal = 1, window = 0, cap = 0;
  int64_t mix = 0, share = 0, slack = 1, fault = 0;
};

struct Data {
  const char* dist = "uniform";
  const char* lay = "dense";
  uint64_t seed = 1;
};

void Add(std::vector<Case>* out, const std::vector<uint32_t>& types, const Dims& dims,
         const Data& data = {}) {
  Case c;
  c.op = "attention";
  c.types = types;
  c.dims = {{"seqs", dims.seqs},   {"rows", dims.rows},     {"ctx", dims.ctx},
            {"hq", dims.hq},       {"hkv", dims.hkv},       {"d", dims.d},
            {"page", dims.page},   {"causal", dims.causal}, {"window", dims.window},
            {"cap", dims.cap},     {"mix", dims.mix},       {"share", dims.share},
            {"slack", dims.slack}, {"fault", dims.fault}};
  c.dist = data.dist;
  c.lay = data.lay;
  c.seed = data.seed;
  out->push_back(std::move(c));
}

using Types = std::vector<uint32_t>;

// Every way in which keys can lie and be seen, for one tuple of types.
void AddForTypes(const Types& types, std::vector<Case>* out) {
  Add(out, types, {.ctx = 1});
  Add(out, types, {.ctx = 0});
  Add(out, types, {.rows = 3, .ctx = 2});  // the first row sees nothing
  Add(out, types, {.ctx = 7, .page = 1});
  Add(out, types, {.rows = 1, .ctx = 65, .page = 64});
  Add(out, types, {.rows = 1, .ctx = 127, .hq = 4, .hkv = 4, .d = 32, .page = 128});
  Add(out, types, {.seqs = 3, .rows = 5, .ctx = 50, .hq = 8, .hkv = 1, .d = 128, .mix = 1});
  Add(out, types, {.seqs = 4, .rows = 2, .ctx = 70, .mix = 1, .share = 2, .slack = 3},
      {.dist = "normal", .lay = "pad64+off4"});
  Add(out, types, {.rows = 67, .ctx = 131, .hq = 3, .hkv = 1});
  Add(out, types, {.rows = 3, .ctx = 90, .hq = 3, .hkv = 1}, {.dist = "llm"});
  Add(out, types, {.rows = 9, .ctx = 40, .causal = 0});
  Add(out, types, {.seqs = 2, .rows = 6, .ctx = 150, .window = 33, .mix = 1});
  Add(out, types, {.rows = 5, .ctx = 90, .causal = 0, .window = 17});
  Add(out, types, {.rows = 4, .ctx = 80, .cap = 2}, {.dist = "normal"});
  Add(out, types, {.seqs = 2, .rows = 3, .ctx = 47}, {.dist = "equal"});
  Add(out, types, {.seqs = 2, .rows = 20, .ctx = 600, .hq = 3, .hkv = 1, .mix = 1},
      {.dist = "onehot", .seed = 1});
  Add(out, types, {.rows = 5, .ctx = 300, .window = 100, .mix = 1}, {.dist = "onehot", .seed = 2});
  for (uint64_t seed = 0; seed < 3; ++seed)
    Add(out, types, {.seqs = 2, .rows = 3, .ctx = 37}, {.dist = "planted", .seed = seed});
}

void AddStandard(const Types& types, std::vector<Case>* out) {
  Add(out, types, {.ctx = 4097, .hq = 9, .hkv = 3, .page = 16});
  Add(out, types, {.ctx = 14336, .hq = 4, .hkv = 1, .d = 64, .page = 64});
  Add(out, types, {.ctx = 14336, .hq = 2, .hkv = 1, .d = 128, .page = 128}, {.dist = "onehot"});
  Add(out, types, {.seqs = 8, .rows = 33, .ctx = 400, .hq = 9, .hkv = 3, .mix = 1, .share = 4},
      {.dist = "normal"});
  Add(out, types, {.rows = 2, .ctx = 1030, .hq = 14, .hkv = 2, .d = 256, .window = 777});
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Types f32 = {HY_TYPE_F32, HY_TYPE_F32, HY_TYPE_F32};
  const Types f16 = {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_F32};
  const Types bf16 = {HY_TYPE_BF16, HY_TYPE_BF16, HY_TYPE_BF16};
  const Types q8 = {HY_TYPE_F32, HY_TYPE_Q8_0, HY_TYPE_F32};
  for (const Types& types : {f32, f16, bf16, q8}) AddForTypes(types, out);
  for (const int64_t fault : {1, 2, 3, 4, 5, 6})
    Add(out, f16, {.seqs = 3, .rows = 4, .ctx = 50, .mix = 1, .fault = fault});
  Add(out, f16, {.seqs = 0});
  Add(out, f16, {.seqs = 2, .rows = 0});
  for (const int64_t d : {1, 2, 7, 8, 9, 31, 33, 80, 100, 256})
    Add(out, f16, {.rows = 3, .ctx = 21, .d = d}, {.dist = "normal"});
  Add(out, {HY_TYPE_F16, HY_TYPE_F16, HY_TYPE_F16}, {.rows = 3, .ctx = 60}, {.dist = "positive"});
  Add(out, {HY_TYPE_F16, HY_TYPE_Q8_0, HY_TYPE_F16}, {.rows = 2, .ctx = 60}, {.dist = "extreme"});
  Add(out, f16, {.ctx = 60}, {.dist = "subnormal"});
  Add(out, f16, {.rows = 2, .ctx = 60}, {.dist = "cancel"});
  Add(out, f16, {.ctx = 530, .hq = 8, .hkv = 8, .d = 128}, {.dist = "normal"});
  if (tier == Tier::kQuick) return;
  for (const Types& types : {f32, f16, bf16, q8}) AddStandard(types, out);
}

absl::Status Check(const Case& c) {
  if (c.types.size() != 3) return absl::InvalidArgumentError("attention needs types q.pages.y");
  const hy_type_info& facts = *hy_type_facts(c.types[1]);
  if (facts.block == 0 || c.dim("page", 16) < 1 || c.dim("hkv", 2) < 1 || c.dim("d", 64) < 0 ||
      c.dim("d", 64) % facts.block != 0) {
    return absl::InvalidArgumentError("attention: page, hkv or d make no pages of that type");
  }
  return absl::OkStatus();
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  const absl::Status good = Check(c);
  if (!good.ok()) return good;
  const absl::StatusOr<Dist> dist = ParseDist(c.dist);
  if (!dist.ok()) return dist.status();
  auto& args = *static_cast<hy_attention_args*>(raw);
  const AttentionScene scene = MakeAttentionScene(c);
  const AttentionPool pool = MakeAttentionPool(c, scene, *dist);
  const int64_t heads = c.dim("hq", 6);
  const int64_t dim = c.dim("d", 64);
  const int64_t rows[] = {scene.rows, heads, dim};
  args.struct_size = sizeof args;
  args.causal = static_cast<uint32_t>(c.dim("causal", 1));
  args.window = static_cast<int32_t>(c.dim("window"));
  args.soft_cap = static_cast<float>(c.dim("cap"));
  const double scale =
      *dist == Dist::kOnehot || dim == 0 ? 1 : 1 / std::sqrt(static_cast<double>(dim));
  args.scale = static_cast<float>(scale);
  if (*dist == Dist::kOnehot) {
    args.q = builder.Floats("q", c.types[0], rows, OnehotQueries(c, scene, heads, dim));
  } else {
    const bool tame = *dist == Dist::kExtreme || (*dist == Dist::kPlanted && c.seed % 3 != 2);
    args.q = builder.Input("q", c.types[0], rows, tame ? "uniform" : "");
  }
  const absl::Span<const int64_t> pages(pool.form.shape, 4);
  args.k_pages = builder.Floats("k_pages", c.types[1], pages, pool.k);
  args.v_pages = builder.Floats("v_pages", c.types[1], pages, pool.v);
  args.block_table =
      builder.Ints("block_table", {scene.sequences(), scene.max_pages}, scene.block_table);
  args.q_start = builder.Ints("q_start", {scene.sequences() + 1}, scene.q_start);
  args.kv_len = builder.Ints("kv_len", {scene.sequences()}, scene.kv_len);
  args.y = builder.Output("y", c.types[2], rows);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(attention, halyard::ops::Enumerate, halyard::ops::Build)
