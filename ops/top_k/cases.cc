// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, n, k.
#include "ops/case.h"
#include "ops/top_k/contract.h"

namespace halyard::ops {
namespace {

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, int64_t rows, int64_t n, int64_t k, const char* dist = "normal",
                  const char* lay = "dense", uint64_t seed = 1) const {
    Case c;
    c.op = "top_k";
    c.types = {x};
    c.dims = {{"rows", rows}, {"n", n}, {"k", k}};
    c.dist = dist;
    c.lay = lay;
    c.seed = seed;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t n : {1, 2, 17, 33, 130}) add(type, 4, n, 7);
    for (const uint64_t seed : {1u, 2u, 3u}) add(type, 5, 523, 5, "planted", "dense", seed);
    add(type, 3, 600, 40, "equal");
    add(type, 3, 1030, 9, "onehot", "pad64+off4");
    add(type, 3, 200, 200, "extreme");
    add(type, 3, 100, 3, "subnormal");
  }
  add(HY_TYPE_F32, 2, 20000, 40, "llm");
  add(HY_TYPE_F32, 2, 700, 1);
  add(HY_TYPE_F32, 0, 64, 3);
  add(HY_TYPE_F32, 3, 0, 3);
  add(HY_TYPE_F32, 3, 9, 0);
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (int64_t n = 3; n <= 33; ++n) add(type, 4, n, n / 2);
    for (int64_t k = 1; k <= 20; ++k) add(type, 2, 800, k, "llm");
    for (const int64_t n : {63, 64, 127, 128, 129, 511, 512, 513, 4096}) add(type, 3, n, 50);
    add(type, 9, 49152, 64, "llm");
  }
  add(HY_TYPE_F32, 1, 151936, 1024);
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, 3, 5, 2, "normal", "far");
  add(HY_TYPE_F32, 1, 151936, 151936);
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_top_k_args*>(raw);
  if (c.types.size() != 1) return absl::InvalidArgumentError("needs the type of x");
  const int64_t named[] = {c.dim("rows"), c.dim("k")};
  args.struct_size = sizeof args;
  args.x = builder.Input("x", c.types[0], {c.dim("rows"), c.dim("n")});
  args.values = builder.Output("values", HY_TYPE_F32, named);
  args.ids = builder.Output("ids", HY_TYPE_I32, named);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(top_k, halyard::ops::Enumerate, halyard::ops::Build)
