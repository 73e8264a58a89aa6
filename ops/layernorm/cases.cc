// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, cols; w, b: 1 if there; eps, in 1e-6.
#include "ops/case.h"
#include "ops/layernorm/contract.h"

namespace halyard::ops {
namespace {

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, uint32_t y, int64_t rows, int64_t cols, const char* dist = "uniform",
                  const char* lay = "dense", int64_t options = 3, int64_t eps = 10) const {
    Case c;
    c.op = "layernorm";
    c.types = {x, y};
    c.dims = {
        {"rows", rows}, {"cols", cols}, {"w", options & 1}, {"b", options >> 1 & 1}, {"eps", eps}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t cols : {1, 2, 17, 33, 65, 130}) add(type, type, 3, cols);
    add(type, type, 2, 577, "llm");
    add(type, type, 3, 64, "planted");
    add(type, type, 3, 96, "subnormal", "pad64+off4", 1);
    add(type, type, 4, 100, "normal", "inplace", 0);
  }
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 320, "positive", "dense", 2, 0);
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 96, "extreme");
  add(HY_TYPE_F32, HY_TYPE_F32, 2, 70, "equal");
  add(HY_TYPE_BF16, HY_TYPE_F32, 2, 40, "normal");
  add(HY_TYPE_F32, HY_TYPE_A8_B32, 3, 96, "normal");
  add(HY_TYPE_F16, HY_TYPE_A8_B256, 2, 512, "normal");
  add(HY_TYPE_F32, HY_TYPE_A8_TOKEN, 3, 601, "llm", "pad64");
  add(HY_TYPE_F32, HY_TYPE_F32, 0, 64);
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 0);
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (int64_t cols = 3; cols <= 33; ++cols) add(type, type, 2, cols, "normal");
    for (const int64_t cols : {63, 64, 127, 128, 129, 511, 512, 513, 1023, 4096})
      add(type, type, 3, cols, "normal");
    add(type, type, 9, 2048, "llm", "inplace+pad64");
    for (const uint32_t y : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN})
      add(type, y, 5, 2048, "llm");
  }
  add(HY_TYPE_F32, HY_TYPE_F32, 2, 14336, "positive");
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 5, "normal", "far");
  add(HY_TYPE_F32, HY_TYPE_F32, 2, 131072, "normal");
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_layernorm_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of x and y");
  const int64_t shape[] = {c.dim("rows"), c.dim("cols")};
  args.struct_size = sizeof args;
  args.eps = static_cast<float>(c.dim("eps")) * 1e-6f;
  args.x = builder.Input("x", c.types[0], shape);
  if (c.dim("w") != 0) args.w = builder.Input("w", HY_TYPE_F32, {shape[1]}, "positive");
  if (c.dim("b") != 0) args.b = builder.Input("b", HY_TYPE_F32, {shape[1]}, "uniform");
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args.y = in_place ? builder.InPlace("y", args.x) : builder.Output("y", c.types[1], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(layernorm, halyard::ops::Enumerate, halyard::ops::Build)
