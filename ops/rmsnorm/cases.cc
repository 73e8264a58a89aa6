// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, cols; add, sum, w: 1 if there; eps, in 1e-6.
#include "ops/case.h"
#include "ops/rmsnorm/contract.h"

namespace halyard::ops {
namespace {

enum Options : int64_t { kAdd = 1, kSum = 2, kNoW = 4, kNoEps = 8 };

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, uint32_t y, int64_t rows, int64_t cols, const char* dist = "uniform",
                  const char* lay = "dense", int64_t options = 0) const {
    Case c;
    c.op = "rmsnorm";
    c.types = {x, y};
    c.dims = {{"rows", rows},
              {"cols", cols},
              {"add", (options & kAdd) != 0 ? 1 : 0},
              {"sum", (options & kSum) != 0 ? 1 : 0},
              {"w", (options & kNoW) != 0 ? 0 : 1},
              {"eps", (options & kNoEps) != 0 ? 0 : 10}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t cols : {1, 2, 17, 33, 65}) add(type, type, 3, cols);
    add(type, type, 3, 65, "equal");
    add(type, type, 2, 577, "llm");
    add(type, type, 5, 257, "subnormal");
    add(type, type, 3, 64, "planted");
    add(type, type, 3, 96, "extreme", "pad64+off4");
    add(type, type, 4, 100, "normal", "inplace", kNoW);
    add(type, type, 7, 320, "positive", "dense", kAdd | kSum);
  }
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 130, "normal", "inplace", kAdd | kNoEps);
  add(HY_TYPE_BF16, HY_TYPE_F32, 2, 40, "normal", "pad64", kAdd | kSum);
  add(HY_TYPE_F32, HY_TYPE_A8_B32, 3, 96, "normal");
  add(HY_TYPE_F16, HY_TYPE_A8_B256, 2, 768, "normal", "pad64", kAdd | kSum);
  add(HY_TYPE_F32, HY_TYPE_A8_TOKEN, 3, 601, "llm", "dense", kAdd);
  add(HY_TYPE_F32, HY_TYPE_A8_B32, 3, 64, "planted");
  for (const uint32_t y : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN})
    add(HY_TYPE_F32, y, 2, 256, "onehot");
  // Codes are too coarse to show one of many terms; one alone they do.
  add(HY_TYPE_F16, HY_TYPE_A8_B256, 2, 512, "onehot", "pad64", kAdd | kSum);
  add(HY_TYPE_F32, HY_TYPE_F32, 0, 64);
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 0);
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (int64_t cols = 3; cols <= 33; ++cols) add(type, type, 2, cols, "normal");
    for (const int64_t cols : {63, 64, 127, 128, 129, 255, 511, 512, 513, 1023, 4097})
      add(type, type, 3, cols, "normal");
    add(type, type, 9, 2048, "llm", "inplace+pad64", kAdd | kSum);
    add(type, type, 3, 576, "cancel", "dense", kAdd | kSum);
    for (const uint32_t y : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN}) {
      add(type, y, 5, 2048, "llm", "pad64", kAdd | kSum);
    }
  }
  add(HY_TYPE_F32, HY_TYPE_F32, 2, 14336, "normal");
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 5, "normal", "far", kAdd | kSum);
  add(HY_TYPE_F32, HY_TYPE_F32, 2, 131072, "positive");
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_rmsnorm_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of x and y");
  const int64_t shape[] = {c.dim("rows"), c.dim("cols")};
  args.struct_size = sizeof args;
  args.eps = static_cast<float>(c.dim("eps")) * 1e-6f;
  args.x = builder.Input("x", c.types[0], shape);
  if (c.dim("w") != 0) args.w = builder.Input("w", HY_TYPE_F32, {shape[1]}, "positive");
  if (c.dim("add") != 0) args.add = builder.Input("add", c.types[0], shape);
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args.y = in_place ? builder.InPlace("y", args.x) : builder.Output("y", c.types[1], shape);
  if (c.dim("sum") != 0) args.sum = builder.Output("sum", c.types[0], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(rmsnorm, halyard::ops::Enumerate, halyard::ops::Build)
