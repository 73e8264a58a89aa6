// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, n.
#include "ops/argmax/contract.h"
#include "ops/case.h"

namespace halyard::ops {
namespace {

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, int64_t rows, int64_t n, const char* dist = "normal",
                  const char* lay = "dense", uint64_t seed = 1) const {
    Case c;
    c.op = "argmax";
    c.types = {x};
    c.dims = {{"rows", rows}, {"n", n}};
    c.dist = dist;
    c.lay = lay;
    c.seed = seed;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t n : {1, 2, 17, 33, 65, 130}) add(type, 5, n);
    for (const uint64_t seed : {1u, 2u, 3u}) add(type, 5, 523, "planted", "dense", seed);
    add(type, 3, 64, "equal");
    add(type, 2, 1200, "equal");
    add(type, 4, 1030, "onehot", "pad64+off4");
    add(type, 3, 200, "extreme");
    add(type, 3, 100, "subnormal");
  }
  add(HY_TYPE_F32, 2, 20000);
  add(HY_TYPE_F32, 0, 64);
  add(HY_TYPE_F32, 3, 0);
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (int64_t n = 3; n <= 33; ++n) add(type, 4, n);
    for (const int64_t n : {63, 64, 127, 128, 129, 511, 512, 513, 4096}) add(type, 3, n, "onehot");
    add(type, 9, 49152, "llm");
  }
  add(HY_TYPE_F32, 1, 151936);
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, 3, 5, "normal", "far");
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_argmax_args*>(raw);
  if (c.types.size() != 1) return absl::InvalidArgumentError("needs the type of x");
  args.struct_size = sizeof args;
  args.x = builder.Input("x", c.types[0], {c.dim("rows"), c.dim("n")});
  args.y = builder.Output("y", HY_TYPE_I32, {c.dim("rows")});
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(argmax, halyard::ops::Enumerate, halyard::ops::Build)
