// SPDX-License-Identifier: Apache-2.0
#include "ops/binary_cases.h"

#include <initializer_list>

namespace halyard::ops {
namespace {

constexpr uint32_t kF32 = HY_TYPE_F32;
constexpr uint32_t kF16 = HY_TYPE_F16;
constexpr uint32_t kBf16 = HY_TYPE_BF16;

struct Maker {
  const std::string op;
  std::vector<Case>* const out;

  void operator()(std::vector<uint32_t> types, std::initializer_list<int64_t> shape,
                  int64_t repeat = 0, const char* dist = "uniform",
                  const char* lay = "dense") const {
    Case c;
    c.op = op;
    c.types = std::move(types);
    int64_t axis = 0;
    for (const int64_t size : shape) c.dims.emplace_back("n" + std::to_string(axis++), size);
    c.dims.emplace_back("repeat", repeat);
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {kF32, kF16, kBf16}) {
    const std::vector<uint32_t> same(3, type);
    for (const int64_t cols : {1, 17, 33, 100}) add(same, {3, cols});
    add(same, {5, 257}, 0, "planted");
    add(same, {3, 65}, 1, "extreme", "pad64+off4");
    add(same, {4, 96}, 0, "subnormal", "inplace");
    add(same, {2, 3, 5, 31}, 2 | 4, "normal");
  }
  add({kF32, kF32, kF32}, {130}, 0, "random-bits");
  add({kF32, kF32, kF32}, {4, 64}, 2, "normal", "inplace");
  add({kF16, kF32, kF32}, {3, 65}, 1);
  add({kBf16, kF32, kBf16}, {3, 4, 40}, 1 | 4, "llm");
  add({kF32, kF32, kF32}, {0, 7});
  add({kF32, kF32, kF32}, {3, 0});
}

void Standard(const Maker& add) {
  for (const uint32_t type : {kF32, kF16, kBf16}) {
    const std::vector<uint32_t> same(3, type);
    for (int64_t cols = 2; cols <= 33; ++cols) add(same, {2, cols}, 0, "normal");
    for (const int64_t cols : {63, 64, 127, 128, 129, 511, 512, 513, 4096}) add(same, {7, cols}, 1);
    for (int64_t repeat = 0; repeat < 16; ++repeat)
      add(same, {2, 3, 4, 19}, repeat, "normal", "pad64");
    add({type, kF32, type}, {9, 576}, 1, "llm", "inplace");
    add({type, kF32, kF32}, {9, 577}, 0, "cancel", "off4");
  }
}

}  // namespace

void EnumerateBinary(const std::string& op, Tier tier, std::vector<Case>* out) {
  const Maker add{op, out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add({kF32, kF32, kF32}, {3, 5}, 0, "uniform", "far");
  add({kF32, kF32, kF32}, {131072, 33}, 1, "normal");
}

absl::Status BinaryShapes(const Case& c, std::vector<int64_t>* a, std::vector<int64_t>* b) {
  if (c.types.size() != 3) return absl::InvalidArgumentError("needs the types of a, b and y");
  const int64_t repeat = c.dim("repeat");
  for (int64_t axis = 0; axis < HY_MAX_RANK; ++axis) {
    const int64_t size = c.dim("n" + std::to_string(axis), -1);
    if (size < 0) break;
    a->push_back(size);
    b->push_back((repeat >> axis & 1) != 0 ? 1 : size);
  }
  if (a->empty()) return absl::InvalidArgumentError("needs n0, the size of the first axis");
  return absl::OkStatus();
}

}  // namespace halyard::ops
