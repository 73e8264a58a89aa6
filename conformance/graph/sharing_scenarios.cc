// SPDX-License-Identifier: Apache-2.0
//
// Memory that several steps read: pages of a prefix, weights of two products, weights in two forms.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "conformance/graph/scenario_parts.h"

namespace halyard::conformance {
namespace {

constexpr uint32_t kWeightTypes[] = {HY_TYPE_F32,  HY_TYPE_F16,  HY_TYPE_BF16,     HY_TYPE_Q8_0,
                                     HY_TYPE_Q4_0, HY_TYPE_Q4_1, HY_TYPE_Q5_0,     HY_TYPE_Q5_1,
                                     HY_TYPE_Q2_K, HY_TYPE_Q3_K, HY_TYPE_Q4_K,     HY_TYPE_Q5_K,
                                     HY_TYPE_Q6_K, HY_TYPE_W8A8, HY_TYPE_W4A8_G128};

// ------------------------------------------------------------- attention over pages with a prefix ---

void ListPrefix(ops::Tier tier, Cases* out) {
  const Types all[] = {{kF32, kF32}, {kF32, kF16}, {kBf16, kBf16}, {kF32, HY_TYPE_Q8_0}};
  for (const Types& types : all) {
    AddCase(
        out, "attention-prefix", types,
        {{"seqs", 3}, {"prefix", 18}, {"rows", 2}, {"hq", 4}, {"hkv", 2}, {"d", 32}, {"page", 8}});
    if (tier == ops::Tier::kQuick) continue;
    AddCase(
        out, "attention-prefix", types,
        {{"seqs", 5}, {"prefix", 64}, {"rows", 1}, {"hq", 6}, {"hkv", 1}, {"d", 64}, {"page", 16}},
        "llm", "pad64");
    AddCase(
        out, "attention-prefix", types,
        {{"seqs", 2}, {"prefix", 33}, {"rows", 7}, {"hq", 2}, {"hkv", 2}, {"d", 32}, {"page", 1}});
  }
}

struct PrefixForm {
  int64_t seqs, prefix, rows, page;
  int64_t shared() const { return prefix / page; }  // pages that all have
  int64_t own() const { return (prefix + rows + page - 1) / page - shared(); }
  int64_t pages() const { return shared() + seqs * own(); }
};

Sequences PrefixSequences(Graph* g, const PrefixForm& form, int64_t seqs, const char* suffix) {
  std::vector<int32_t> table, q_start = {0}, kv_len;
  for (int64_t s = 0; s < seqs; ++s) {
    for (int64_t p = 0; p < form.shared(); ++p) table.push_back(static_cast<int32_t>(p));
    for (int64_t p = 0; p < form.own(); ++p) {
      table.push_back(static_cast<int32_t>(form.shared() + s * form.own() + p));
    }
    q_start.push_back(static_cast<int32_t>((s + 1) * form.rows));
    kv_len.push_back(static_cast<int32_t>(form.prefix + form.rows));
  }
  Sequences sequences;
  sequences.block_table =
      g->Ints(absl::StrCat("block_table", suffix), table, {seqs, form.shared() + form.own()});
  sequences.q_start = g->Ints(absl::StrCat("q_start", suffix), q_start);
  sequences.kv_len = g->Ints(absl::StrCat("kv_len", suffix), kv_len);
  return sequences;
}

absl::Status MakePrefix(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 2);
  if (!good.ok()) return good;
  const PrefixForm form = {c.dim("seqs", 3), c.dim("prefix", 18), c.dim("rows", 2),
                           std::max<int64_t>(1, c.dim("page", 8))};
  const int64_t hq = c.dim("hq", 4), hkv = c.dim("hkv", 2), d = c.dim("d", 32);
  const int64_t rows = form.seqs * form.rows;
  const int qkv = g->Input("qkv", c.types[0], {rows, (hq + 2 * hkv) * d});
  const Pool pool = MakePool(g, c.types[1], form.pages(), form.page, hkv, d);
  std::vector<int32_t> slots;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = form.prefix % form.page + r % form.rows;
    const int64_t first = form.shared() + r / form.rows * form.own();
    slots.push_back(static_cast<int32_t>(first * form.page + at));
  }
  AddAppend(g, qkv, hq * d, (hq + hkv) * d, pool, g->Ints("slots", slots));
  const int y =
      AddAttention(g, qkv, 0, rows, hq, pool, PrefixSequences(g, form, form.seqs, ""), c.types[0]);
  // The first sequence alone: neighbours that share its prefix change nothing.
  const int alone = AddAttention(g, qkv, 0, form.rows, hq, pool,
                                 PrefixSequences(g, form, 1, "_alone"), c.types[0]);
  g->equalities.push_back({g->View(y, {form.rows, hq * d}),
                           alone,
                           g->steps.size() - 1,
                           {g->steps.size() - 2, g->steps.size() - 1},
                           HY_KERNEL_ROW_INVARIANT,
                           "a row does not depend on others"});
  return absl::OkStatus();
}

// -------------------------------------------------------------------- weights with two consumers ---

void ListShared(ops::Tier tier, Cases* out) {
  for (const uint32_t w : kWeightTypes) {
    AddCase(out, "shared-weights", {kF32, w}, {{"m", 5}, {"n", 40}, {"k", 512}}, "normal",
            w == kF32 ? "dense" : "packed");
    if (tier == ops::Tier::kQuick) continue;
    AddCase(out, "shared-weights", {kBf16, w}, {{"m", 33}, {"n", 65}, {"k", 256}}, "lossless",
            "packed");
    AddCase(out, "shared-weights", {kF32, w}, {{"m", 3}, {"n", 17}, {"k", 256}}, "llm",
            "pad64+off4");
  }
}

absl::Status MakeShared(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 2);
  if (!good.ok()) return good;
  const int64_t k = c.dim("k", 256), n = c.dim("n", 40);
  const int x = g->Input("x", c.types[0], {c.dim("m", 5), k});
  const int w = WeightsOf(c, g, "w", c.types[1], n, k);
  const int all = AddMatmul(g, x, w, kF32);
  const int first = AddMatmul(g, g->View(x, {1, k}), w, kF32);
  g->equalities.push_back({g->View(all, {1, n}),
                           first,
                           1,
                           {0, 1},
                           HY_KERNEL_ROW_INVARIANT,
                           "a row does not depend on others"});
  return absl::OkStatus();
}

void ListBoth(ops::Tier tier, Cases* out) {
  for (const uint32_t w : {HY_TYPE_BF16, HY_TYPE_Q8_0, HY_TYPE_Q4_0, HY_TYPE_Q4_1, HY_TYPE_Q4_K,
                           HY_TYPE_Q6_K, HY_TYPE_W8A8, HY_TYPE_W4A8_G128}) {
    const auto type = static_cast<uint32_t>(w);
    AddCase(out, "plain-and-packed", {kF32, type}, {{"m", 2}, {"n", 33}, {"k", 256}}, "normal",
            "packed");
    if (tier == ops::Tier::kQuick) continue;
    AddCase(out, "plain-and-packed", {kF32, type}, {{"m", 1}, {"n", 64}, {"k", 512}}, "lossless",
            "packed");
  }
}

absl::Status MakeBoth(const ops::Case& c, Graph* g) {
  const absl::Status good = CheckCase(c, 2);
  if (!good.ok()) return good;
  const int x = g->Input("x", c.types[0], {c.dim("m", 2), c.dim("k", 256)});
  const int w = g->Weights("w", c.types[1], {c.dim("n", 33), c.dim("k", 256)});
  const int plain = AddMatmul(g, x, w, kF32);
  const int packed = AddMatmul(g, x, g->Packed(w), kF32);
  AddSum(g, plain, packed);
  return absl::OkStatus();
}

}  // namespace

std::vector<Scenario> SharingScenarios() {
  return {{"attention-prefix", ListPrefix, MakePrefix},
          {"shared-weights", ListShared, MakeShared},
          {"plain-and-packed", ListBoth, MakeBoth}};
}

}  // namespace halyard::conformance
