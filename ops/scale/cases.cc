// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, cols; factor, in 1/64.
#include "ops/case.h"
#include "ops/scale/contract.h"

namespace halyard::ops {
namespace {

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, uint32_t y, int64_t rows, int64_t cols, int64_t factor,
                  const char* dist = "uniform", const char* lay = "dense") const {
    Case c;
    c.op = "scale";
    c.types = {x, y};
    c.dims = {{"rows", rows}, {"cols", cols}, {"factor", factor}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t cols : {1, 15, 16, 33, 100}) add(type, type, 3, cols, 37);
    add(type, type, 5, 257, 8, "planted");
    add(type, type, 3, 65, 129, "extreme", "pad64+off4");
    add(type, type, 4, 96, 21, "subnormal", "inplace");
    add(type, type, 2, 64, 0, "planted");
    add(type, HY_TYPE_F32, 2, 70, -91, "llm");
  }
  add(HY_TYPE_F32, HY_TYPE_F32, 2, 130, 96, "random-bits");
  add(HY_TYPE_F32, HY_TYPE_F32, 0, 7, 64);
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 0, 64);
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (int64_t cols = 2; cols <= 33; ++cols) add(type, type, 2, cols, 83, "normal");
    for (const int64_t cols : {63, 64, 127, 128, 129, 511, 512, 513, 14336})
      add(type, type, 3, cols, 5);
  }
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 5, 77, "uniform", "far");
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_scale_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of x and y");
  const int64_t shape[] = {c.dim("rows"), c.dim("cols")};
  args.struct_size = sizeof args;
  args.factor = static_cast<float>(c.dim("factor")) / 64;
  args.x = builder.Input("x", c.types[0], shape);
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args.y = in_place ? builder.InPlace("y", args.x) : builder.Output("y", c.types[1], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(scale, halyard::ops::Enumerate, halyard::ops::Build)
