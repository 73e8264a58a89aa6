// SPDX-License-Identifier: Apache-2.0
//
// Dims: n0, n1, ... the shape.
#include <initializer_list>
#include <string>

#include "ops/case.h"
#include "ops/cast/contract.h"

namespace halyard::ops {
namespace {

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, uint32_t y, std::initializer_list<int64_t> shape,
                  const char* dist = "uniform", const char* lay = "dense") const {
    Case c;
    c.op = "cast";
    c.types = {x, y};
    int64_t axis = 0;
    for (const int64_t size : shape) c.dims.emplace_back("n" + std::to_string(axis++), size);
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

constexpr uint32_t kFloatTypes[] = {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16};

void Quick(const Maker& add) {
  for (const uint32_t x : kFloatTypes) {
    for (const uint32_t y : kFloatTypes) {
      for (const int64_t cols : {1, 15, 17, 33, 100}) add(x, y, {3, cols}, "normal");
      add(x, y, {5, 257}, "planted");
      add(x, y, {3, 65}, "extreme", "pad64+off4");
      add(x, y, {2, 96}, "subnormal");
      add(x, y, {2, 3, 5, 31}, "llm", "pad64");
    }
    add(x, x, {3, 513}, "random-bits");
    add(x, x, {3, 40}, "uniform", "inplace");
    add(x, HY_TYPE_F32, {600}, "random-bits");
  }
  add(HY_TYPE_F32, HY_TYPE_F16, {0, 7});
  add(HY_TYPE_F32, HY_TYPE_BF16, {3, 0});
  add(HY_TYPE_BF16, HY_TYPE_F32, {3, 20}, "uniform", "far");
}

void Standard(const Maker& add) {
  for (const uint32_t x : kFloatTypes) {
    for (const uint32_t y : kFloatTypes) {
      for (int64_t cols = 2; cols <= 33; ++cols) add(x, y, {2, cols}, "subnormal");
      for (const int64_t cols : {63, 64, 127, 128, 129, 511, 512, 513, 4096})
        add(x, y, {7, cols}, "normal");
      add(x, y, {4, 999}, "cancel", "off4");
    }
  }
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, HY_TYPE_BF16, {2048, 4097}, "normal");
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_cast_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of x and y");
  std::vector<int64_t> shape;
  for (int64_t axis = 0; axis < HY_MAX_RANK; ++axis) {
    const int64_t size = c.dim("n" + std::to_string(axis), -1);
    if (size < 0) break;
    shape.push_back(size);
  }
  if (shape.empty()) return absl::InvalidArgumentError("needs n0, the size of the first axis");
  args.struct_size = sizeof args;
  args.x = builder.Input("x", c.types[0], shape);
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args.y = in_place ? builder.InPlace("y", args.x) : builder.Output("y", c.types[1], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(cast, halyard::ops::Enumerate, halyard::ops::Build)
