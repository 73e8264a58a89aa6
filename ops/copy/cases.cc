// SPDX-License-Identifier: Apache-2.0
//
// Dims: n0, n1, ... the shape.
#include <initializer_list>
#include <string>

#include "ops/case.h"
#include "ops/copy/contract.h"

namespace halyard::ops {
namespace {

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t type, std::initializer_list<int64_t> shape, const char* dist = "uniform",
                  const char* lay = "dense") const {
    Case c;
    c.op = "copy";
    c.types = {type, type};
    int64_t axis = 0;
    for (const int64_t size : shape) c.dims.emplace_back("n" + std::to_string(axis++), size);
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

// Elements of a row that are at least one block.
int64_t Block(uint32_t type) {
  const uint32_t block = hy_type_facts(type)->block;
  return block == HY_BLOCK_ROW || block == 1 ? 37 : int64_t{block};
}

template <typename Fn>
void ForEachType(Fn fn) {
  for (uint32_t type = HY_TYPE_F32; type < HY_TYPE_COUNT; ++type)
    if (hy_type_facts(type)->block != 0 && type != HY_TYPE_I32) fn(type, Block(type));
}

void Quick(const Maker& add) {
  ForEachType([&](uint32_t type, int64_t block) {
    add(type, {3, block}, "random-bits");
    add(type, {2, 3, 2 * block}, "normal", "pad64+off4");
    add(type, {2, 3, 5, block}, "random-bits", "pad64+off64");
    add(type, {3, 3 * block}, "uniform", "inplace");
  });
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16, HY_TYPE_I8}) {
    for (const int64_t cols : {1, 2, 15, 17, 33, 65}) add(type, {3, cols}, "random-bits");
    add(type, {5000}, "planted");
    add(type, {5, 64}, "subnormal");
    add(type, {5, 64}, "extreme");
  }
  add(HY_TYPE_F32, {0, 7});
  add(HY_TYPE_F32, {3, 0});
  add(HY_TYPE_A8_TOKEN, {3, 0});
  add(HY_TYPE_F16, {3, 20}, "uniform", "far");
}

void Standard(const Maker& add) {
  ForEachType([&](uint32_t type, int64_t block) {
    add(type, {17, 32 * block}, "random-bits", "pad64");
    add(type, {1, 9, 4, 3 * block}, "random-bits", "off64");
  });
  for (int64_t cols = 3; cols <= 70; ++cols) add(HY_TYPE_F16, {2, cols}, "random-bits", "off4");
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, {3, 3000000}, "random-bits");
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_copy_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of x and y");
  std::vector<int64_t> shape;
  for (int64_t axis = 0; axis < HY_MAX_RANK; ++axis) {
    const int64_t size = c.dim("n" + std::to_string(axis), -1);
    if (size < 0) break;
    shape.push_back(size);
  }
  if (shape.empty()) return absl::InvalidArgumentError("needs n0, the size of the first axis");
  args.struct_size = sizeof args;
  args.x = hy_type_is_weights(c.types[0]) ? builder.Weights("x", c.types[0], shape)
                                          : builder.Input("x", c.types[0], shape);
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args.y = in_place ? builder.InPlace("y", args.x) : builder.Output("y", c.types[1], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(copy, halyard::ops::Enumerate, halyard::ops::Build)
