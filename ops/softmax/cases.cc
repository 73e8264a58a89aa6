// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, cols; scale, in 1/64; mask, one of Mask.
#include <limits>

#include "ops/case.h"
#include "ops/softmax/contract.h"

namespace halyard::ops {
namespace {

enum Mask : int64_t {
  kNone = 0,
  kCausal = 1,     // -Inf behind the row's own column, from a sequence that is longer than the rows
  kShared = 2,     // one row for all: every third column -Inf, the others finite
  kAllOfRow0 = 3,  // nothing of row 0 is seen
  kLeading = 4,    // the first two thirds -Inf
  kLastOnly = 5,   // only the last column is seen
  kSentinel = 6    // every second column lowest, a finite number
};

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, uint32_t y, int64_t rows, int64_t cols, const char* dist = "normal",
                  Mask mask = kNone, int64_t scale = 64, const char* lay = "dense") const {
    Case c;
    c.op = "softmax";
    c.types = {x, y};
    c.dims = {{"rows", rows}, {"cols", cols}, {"scale", scale}, {"mask", mask}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t cols : {1, 2, 17, 33, 65, 130}) add(type, type, 3, cols);
    add(type, type, 2, 65, "equal");
    add(type, type, 5, 257, "planted");
    add(type, type, 3, 64, "extreme");
    add(type, type, 4, 96, "normal", kCausal, 8, "inplace");
    add(type, type, 3, 70, "subnormal", kShared, 64, "pad64+off4");
  }
  for (const Mask mask : {kAllOfRow0, kLeading, kLastOnly, kSentinel})
    add(HY_TYPE_F32, HY_TYPE_F32, 3, 75, "normal", mask, 90);
  add(HY_TYPE_F32, HY_TYPE_F32, 2, 1000, "llm");
  // All far below 0: a maximum that is looked for from 0 on makes every weight vanish.
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 65, "equal", kNone, -64000);
  add(HY_TYPE_F16, HY_TYPE_F16, 9, 2, "positive", kNone, -64000);
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 40, "planted", kLeading, 0);
  add(HY_TYPE_BF16, HY_TYPE_F32, 3, 40, "normal", kCausal);
  add(HY_TYPE_F32, HY_TYPE_F32, 0, 64);
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 0);
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (int64_t cols = 3; cols <= 33; ++cols) add(type, type, 2, cols);
    for (const int64_t cols : {63, 64, 127, 128, 129, 511, 512, 513, 2049, 4096})
      add(type, type, 3, cols, "normal", kCausal, 100);
    for (const Mask mask : {kCausal, kShared, kAllOfRow0, kLeading, kLastOnly, kSentinel}) {
      add(type, type, 9, 200, "llm", mask, 11, "pad64");
      add(type, type, 5, 129, "onehot", mask);
    }
    add(type, type, 2, 14336, "positive");
  }
  add(HY_TYPE_F32, HY_TYPE_F32, 1, 131072);
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 5, "normal", kNone, 64, "far");
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 151936, "llm");
}

float MaskAt(int64_t mask, int64_t rows, int64_t cols, int64_t r, int64_t c) {
  constexpr float hidden = -std::numeric_limits<float>::infinity();
  switch (mask) {
    case kCausal:
      return c > cols - rows + r ? hidden : 0;
    case kShared:
      return c % 3 == 1 ? hidden : static_cast<float>(c % 7) / 16;
    case kAllOfRow0:
      return r == 0 ? hidden : 0;
    case kLeading:
      return c < cols * 2 / 3 ? hidden : 0;
    case kLastOnly:
      return c + 1 < cols ? hidden : 0;
    default:
      return c % 2 == 1 ? std::numeric_limits<float>::lowest() : 0;
  }
}

hy_tensor MaskOf(const Case& c, CaseBuilder& builder) {
  const int64_t mask = c.dim("mask");
  const int64_t shape[] = {mask == kShared ? 1 : c.dim("rows"), c.dim("cols")};
  std::vector<float> values;
  for (int64_t row = 0; row < shape[0]; ++row) {
    for (int64_t col = 0; col < shape[1]; ++col)
      values.push_back(MaskAt(mask, shape[0], shape[1], row, col));
  }
  return builder.Floats("mask", HY_TYPE_F32, shape, values);
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_softmax_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of x and y");
  const int64_t shape[] = {c.dim("rows"), c.dim("cols")};
  args.struct_size = sizeof args;
  args.scale = static_cast<float>(c.dim("scale")) / 64;
  args.x = builder.Input("x", c.types[0], shape);
  if (c.dim("mask") != kNone) args.mask = MaskOf(c, builder);
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args.y = in_place ? builder.InPlace("y", args.x) : builder.Output("y", c.types[1], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(softmax, halyard::ops::Enumerate, halyard::ops::Build)
