// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, cols, asym.
#include "ops/case.h"
#include "ops/quantize/contract.h"

namespace halyard::ops {
namespace {

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, uint32_t y, int64_t rows, int64_t cols, const char* dist = "uniform",
                  const char* lay = "dense", int64_t asym = 0) const {
    Case c;
    c.op = "quantize";
    c.types = {x, y};
    c.dims = {{"rows", rows}, {"cols", cols}, {"asym", asym}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

constexpr uint32_t kFloatTypes[] = {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16};

struct Target {
  uint32_t type;
  int64_t asym;
  int64_t block;  // of the rows that cases have
};
constexpr Target kTargets[] = {{HY_TYPE_A8_B32, 0, 32},
                               {HY_TYPE_A8_B256, 0, 256},
                               {HY_TYPE_A8_TOKEN, 0, 33},
                               {HY_TYPE_A8_TOKEN, 1, 33},
                               {HY_TYPE_Q8_0, 0, 32}};

void QuickTarget(const Maker& add, const Target& to) {
  for (const uint32_t x : kFloatTypes) {
    add(x, to.type, 3, to.block, "normal", "dense", to.asym);
    add(x, to.type, 2, 3 * to.block, "llm", "pad64+off4", to.asym);
    add(x, to.type, 5, 2 * to.block, "planted", "dense", to.asym);
    add(x, to.type, 2, to.block, "subnormal", "dense", to.asym);
    add(x, to.type, 4, 5 * to.block, "extreme", "dense", to.asym);
  }
  for (const char* dist : {"positive", "cancel", "equal", "onehot", "lossless", "walking"})
    add(HY_TYPE_F32, to.type, 3, 3 * to.block, dist, "dense", to.asym);
  add(HY_TYPE_F32, to.type, 3, 2 * to.block, "random-bits", "dense", to.asym);
  add(HY_TYPE_F32, to.type, 0, to.block, "uniform", "dense", to.asym);
  add(HY_TYPE_F32, to.type, 3, 0, "uniform", "dense", to.asym);
}

void Quick(const Maker& add) {
  for (const Target& to : kTargets) QuickTarget(add, to);
  for (const int64_t cols : {1, 2, 15, 16, 17, 31, 63, 65, 255, 257}) {
    for (const int64_t asym : {0, 1})
      add(HY_TYPE_F32, HY_TYPE_A8_TOKEN, 2, cols, "normal", "dense", asym);
  }
}

void Standard(const Maker& add) {
  for (const Target& to : kTargets) {
    for (const uint32_t x : kFloatTypes) {
      add(x, to.type, 9, 16 * to.block, "normal", "pad64", to.asym);
      add(x, to.type, 33, 2 * to.block, "uniform", "off4", to.asym);
    }
    add(HY_TYPE_F32, to.type, 3, 448 * to.block, "llm", "dense", to.asym);
  }
  for (int64_t cols = 3; cols <= 70; ++cols)
    add(HY_TYPE_BF16, HY_TYPE_A8_TOKEN, 2, cols, "normal", "dense", cols & 1);
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  for (const Target& to : kTargets)
    add(HY_TYPE_F32, to.type, 2048, 8 * to.block, "normal", "dense", to.asym);
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_quantize_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of x and y");
  const int64_t shape[] = {c.dim("rows"), c.dim("cols")};
  args.struct_size = sizeof args;
  args.asymmetric = static_cast<uint32_t>(c.dim("asym"));
  args.x = builder.Input("x", c.types[0], shape);
  args.y = builder.Output("y", c.types[1], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(quantize, halyard::ops::Enumerate, halyard::ops::Build)
