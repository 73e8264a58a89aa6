// SPDX-License-Identifier: Apache-2.0
#include "ops/case.h"
#include "ops/rmsnorm/contract.h"

namespace halyard::ops {
namespace {

void Add(std::vector<Case>* out, uint32_t x, uint32_t y, int64_t rows, int64_t cols,
         const char* dist = "uniform", const char* lay = "dense", int64_t options = 0) {
  Case c;
  c.op = "rmsnorm";
  c.types = {x, y};
  c.dims = {{"rows", rows}, {"cols", cols}, {"add", options & 1}, {"sum", options >> 1 & 1}};
  c.dist = dist;
  c.lay = lay;
  out->push_back(std::move(c));
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t cols : {1, 2, 3, 15, 16, 17, 31, 33, 63, 65, 127, 576})
      Add(out, type, type, 3, cols);
    Add(out, type, type, 2, 4097, "llm");
    Add(out, type, type, 5, 257, "subnormal");
    Add(out, type, type, 3, 64, "planted");
    Add(out, type, type, 3, 96, "extreme", "pad64+off4");
    Add(out, type, type, 4, 100, "normal", "inplace");
    Add(out, type, type, 7, 320, "positive", "dense", 3);
    Add(out, type, type, 0, 64);
    Add(out, type, type, 3, 0);
  }
  Add(out, HY_TYPE_F32, HY_TYPE_A8_B32, 3, 96, "normal");
  if (tier == Tier::kQuick) return;
  for (const int64_t cols : {5, 7, 255, 1023, 2048, 14336})
    Add(out, HY_TYPE_F32, HY_TYPE_F32, 9, cols, "normal");
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_rmsnorm_args*>(raw);
  const int64_t shape[] = {c.dim("rows"), c.dim("cols")};
  args.struct_size = sizeof args;
  args.eps = 1e-5f;
  args.x = builder.Input("x", c.types[0], shape);
  args.w = builder.Input("w", HY_TYPE_F32, {shape[1]}, "positive");
  if (c.dim("add") != 0) args.add = builder.Input("add", c.types[0], shape);
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args.y = in_place ? builder.InPlace("y", args.x) : builder.Output("y", c.types[1], shape);
  if (c.dim("sum") != 0) args.sum = builder.Output("sum", c.types[0], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(rmsnorm, halyard::ops::Enumerate, halyard::ops::Build)
