// SPDX-License-Identifier: Apache-2.0
#include "ops/case.h"
#include "ops/matmul/case_formats.h"
#include "ops/matmul_id/contract.h"

namespace halyard::ops {
namespace {

// How tokens choose experts.
enum Routing : int64_t {
  kMixed = 0,   // each id by a fixed rule, all experts used
  kOne,         // all tokens the same expert
  kWithGaps,    // every third choice is none (-1)
  kOutOfRange,  // the last choice names an expert that there is not
};

// Dimensions: T tokens, U choices each, E experts, XU: x has a row for each choice.
struct Shape {
  int64_t t = 5;
  int64_t u = 2;
  int64_t e = 4;
  int64_t n = 19;
  int64_t k = 0;
  int64_t rows_of_choices = 0;
  int64_t routing = kMixed;
};

void Add(std::vector<Case>* out, uint32_t x, uint32_t w, uint32_t y, const Shape& s,
         const char* dist, const char* lay = "dense") {
  Case c;
  c.op = "matmul_id";
  c.types = {x, w, y};
  c.dims = {{"T", s.t},
            {"U", s.u},
            {"E", s.e},
            {"N", s.n},
            {"K", s.k},
            {"XU", s.rows_of_choices},
            {"routing", s.routing}};
  c.dist = dist;
  c.lay = lay;
  out->push_back(std::move(c));
}

void AddFormat(std::vector<Case>* out, uint32_t w) {
  const uint32_t f32 = HY_TYPE_F32;
  const int64_t block = CaseBlock(w);
  for (const int64_t t : {1, 2, 3, 9, 33})
    Add(out, f32, w, f32, {.t = t, .k = 2 * block}, "lossless");
  for (const int64_t n : {1, 3, 16, 33})
    Add(out, f32, w, f32, {.n = n, .k = 3 * block}, "lossless");
  for (const int64_t routing : {kMixed, kOne, kWithGaps, kOutOfRange}) {
    Add(out, f32, w, f32, {.k = 3 * block, .rows_of_choices = 1, .routing = routing}, "lossless");
    Add(out, f32, w, f32, {.t = 7, .u = 3, .e = 8, .k = 768, .routing = routing}, "normal");
    Add(out, f32, w, f32, {.t = 7, .e = 8, .n = 35, .k = 512, .routing = routing}, "lossless",
        "packed");
  }
  for (const char* dist : {"walking", "llm", "extreme", "planted"})
    Add(out, f32, w, f32, {.k = 512}, dist);
  Add(out, f32, w, f32, {.t = 0, .k = 256}, "uniform");
  Add(out, f32, w, f32, {.u = 0, .k = 256}, "uniform");
  Add(out, f32, w, f32, {.n = 0, .k = 256}, "uniform");
  Add(out, f32, w, f32, {.k = 0}, "uniform");
  Add(out, f32, w, f32, {.k = 512, .rows_of_choices = 1}, "normal", "pad64+off4");
  Add(out, HY_TYPE_F16, w, HY_TYPE_F16, {.k = 256}, "normal");
  for (const char* dist : {"lossless", "lossless_asym"})
    Add(out, HY_TYPE_BF16, w, HY_TYPE_BF16, {.k = 256}, dist);
  for (const uint32_t x : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN})
    Add(out, x, w, f32, {.k = 512}, "lossless");
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  for (const uint32_t w : kProductWeights) {
    AddFormat(out, w);
    if (tier == Tier::kQuick) continue;
    Add(out, HY_TYPE_F32, w, HY_TYPE_F32, {.t = 16, .u = 2, .e = 8, .n = 256, .k = 1024}, "normal");
    Add(out, HY_TYPE_F32, w, HY_TYPE_F32, {.t = 1, .u = 4, .e = 16, .n = 512, .k = 768}, "llm",
        "packed");
    Add(out, HY_TYPE_F32, w, HY_TYPE_F32, {.t = 2, .k = 14336}, "normal");
  }
}

std::vector<int32_t> Ids(const Case& c) {
  const auto experts = static_cast<int32_t>(c.dim("E"));
  const int64_t routing = c.dim("routing");
  std::vector<int32_t> ids(static_cast<size_t>(c.dim("T") * c.dim("U")));
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto at = static_cast<int32_t>(i);
    ids[i] = routing == kOne ? experts - 1 : (at * 5 + at / 3) % experts;
    if (routing == kWithGaps && at % 3 == 1) ids[i] = -1 - at;
  }
  if (routing == kOutOfRange && !ids.empty()) ids.back() = experts;
  return ids;
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  if (c.types.size() != 3) return absl::InvalidArgumentError("matmul_id cases name three types");
  if (c.dim("E") <= 0) return absl::InvalidArgumentError("matmul_id cases have experts: E");
  auto& args = *static_cast<hy_matmul_id_args*>(raw);
  const int64_t t = c.dim("T");
  const int64_t u = c.dim("U");
  const int64_t k = c.dim("K");
  std::vector<int64_t> x = {t, k};
  if (c.dim("XU") != 0) x.insert(x.begin() + 1, u);
  args.struct_size = sizeof args;
  args.activation = static_cast<uint32_t>(c.dim("act"));
  args.x = builder.Input("x", c.types[0], x);
  args.w = builder.Weights("w", c.types[1], {c.dim("E"), c.dim("N"), k});
  args.ids = builder.Ints("ids", {t, u}, Ids(c));
  args.y = builder.Output("y", c.types[2], {t, u, c.dim("N")});
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(matmul_id, halyard::ops::Enumerate, halyard::ops::Build)
