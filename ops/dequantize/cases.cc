// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, cols.
#include "ops/case.h"
#include "ops/dequantize/contract.h"

namespace halyard::ops {
namespace {

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, uint32_t y, int64_t rows, int64_t cols, const char* dist = "uniform",
                  const char* lay = "dense") const {
    Case c;
    c.op = "dequantize";
    c.types = {x, y};
    c.dims = {{"rows", rows}, {"cols", cols}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

constexpr uint32_t kFloatTypes[] = {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16};

// Elements of a row that are at least one block.
int64_t Block(uint32_t type) {
  const uint32_t block = hy_type_facts(type)->block;
  return block == HY_BLOCK_ROW || block == 1 ? 45 : int64_t{block};
}

template <typename Fn>
void ForEachFormat(Fn fn) {
  for (uint32_t type = HY_TYPE_Q8_0; type < HY_TYPE_COUNT; ++type)
    if (hy_type_is_weights(type) || hy_type_is_a8(type)) fn(type, Block(type));
}

void Quick(const Maker& add) {
  ForEachFormat([&](uint32_t type, int64_t block) {
    add(type, HY_TYPE_F32, 3, block, "walking");
    add(type, HY_TYPE_F32, 2, 5 * block, "normal", "pad64+off4");
    add(type, HY_TYPE_F16, 5, 3 * block, "extreme", "pad64+off64");
    add(type, HY_TYPE_BF16, 4, 2 * block, "planted");
    add(type, HY_TYPE_F32, 1, block, "subnormal");
  });
  add(HY_TYPE_Q5_K, HY_TYPE_F32, 5, 512, "random-bits", "off1");
  add(HY_TYPE_Q4_0, HY_TYPE_F32, 0, 32);
  add(HY_TYPE_Q4_0, HY_TYPE_F32, 3, 0);
  add(HY_TYPE_A8_TOKEN, HY_TYPE_F32, 3, 0);
  add(HY_TYPE_A8_TOKEN, HY_TYPE_F32, 3, 1);
  add(HY_TYPE_Q6_K, HY_TYPE_F16, 3, 256, "uniform", "far");
}

void Standard(const Maker& add) {
  ForEachFormat([&](uint32_t type, int64_t block) {
    for (const char* dist : {"lossless", "llm", "onehot", "equal", "random-bits"})
      add(type, HY_TYPE_F32, 9, 7 * block, dist);
    for (const uint32_t y : kFloatTypes) add(type, y, 17, 16 * block, "normal", "pad64+off4");
    add(type, HY_TYPE_F32, 1, 64 * block, "normal");
  });
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_Q4_K, HY_TYPE_F32, 4096, 4096, "normal");
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_dequantize_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of x and y");
  const int64_t shape[] = {c.dim("rows"), c.dim("cols")};
  args.struct_size = sizeof args;
  args.x = hy_type_is_weights(c.types[0]) ? builder.Weights("x", c.types[0], shape)
                                          : builder.Input("x", c.types[0], shape);
  args.y = builder.Output("y", c.types[1], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(dequantize, halyard::ops::Enumerate, halyard::ops::Build)
