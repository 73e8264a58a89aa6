// SPDX-License-Identifier: Apache-2.0
//
// Dims: R, C, T; bad: 1 gives index 0 the value -1, 2 the last one that of R, 3 both and far ones.
#include <cstdint>

#include "ops/case.h"
#include "ops/get_rows/contract.h"

namespace halyard::ops {
namespace {

struct Shape {
  int64_t rows;
  int64_t cols;
  int64_t taken;
};

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t table, uint32_t y, const Shape& shape, const char* dist = "uniform",
                  const char* lay = "dense", int64_t bad = 0) const {
    Case c;
    c.op = "get_rows";
    c.types = {table, y};
    c.dims = {{"R", shape.rows}, {"C", shape.cols}, {"T", shape.taken}, {"bad", bad}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

constexpr uint32_t kFloatTypes[] = {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16};

// Elements of a row that are at least one block.
int64_t Block(uint32_t type) {
  return type == HY_TYPE_W8A8 ? 45 : int64_t{hy_type_facts(type)->block};
}

void QuickFormat(const Maker& add, uint32_t type) {
  const int64_t block = Block(type);
  add(type, HY_TYPE_F32, {5, block, 3}, "walking");
  add(type, HY_TYPE_F32, {4, 3 * block, 7}, "normal", "pad64+off4");
  add(type, HY_TYPE_F16, {7, 2 * block, 2}, "extreme", "pad1+off1");
  add(type, HY_TYPE_BF16, {3, 5 * block, 4}, "planted");
  add(type, HY_TYPE_F32, {3, block, 5}, "subnormal", "dense", 3);
}

void Quick(const Maker& add) {
  for (const uint32_t type : kFloatTypes) {
    for (const int64_t cols : {1, 2, 15, 17, 33, 100, 513}) add(type, type, {5, cols, 3});
    for (const uint32_t y : kFloatTypes) add(type, y, {9, 65, 4}, "extreme", "pad64+off4");
    add(type, HY_TYPE_F32, {6, 257, 5}, "planted");
    add(type, HY_TYPE_BF16, {6, 31, 5}, "subnormal");
    add(type, type, {4, 40, 3}, "random-bits");
    add(type, type, {4, 576, 6}, "normal", "dense", 1);
  }
  for (uint32_t type = HY_TYPE_Q8_0; type <= HY_TYPE_W4A8_G128; ++type) QuickFormat(add, type);
  add(HY_TYPE_F32, HY_TYPE_F32, {5, 64, 0});
  add(HY_TYPE_F32, HY_TYPE_F32, {5, 0, 3});
  add(HY_TYPE_Q8_0, HY_TYPE_F32, {4, 64, 3}, "uniform", "dense", 2);
  add(HY_TYPE_Q4_K, HY_TYPE_F32, {3, 512, 3}, "uniform", "far");
}

void Standard(const Maker& add) {
  for (uint32_t type = HY_TYPE_Q8_0; type <= HY_TYPE_W4A8_G128; ++type) {
    const int64_t block = Block(type);
    for (const char* dist : {"lossless", "llm", "onehot", "equal"})
      add(type, HY_TYPE_F32, {33, 7 * block, 40}, dist);
    for (const uint32_t y : kFloatTypes) add(type, y, {64, 16 * block, 65}, "normal", "off1");
  }
  for (const uint32_t type : kFloatTypes) {
    for (int64_t cols = 3; cols <= 33; ++cols) add(type, type, {3, cols, 2}, "random-bits");
    add(type, HY_TYPE_F32, {1000, 4096, 9}, "normal");
    add(type, type, {3, 33, 3}, "uniform", "far");
  }
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_Q6_K, HY_TYPE_F32, {49152, 576, 129}, "normal");
}

// Rows out of order, some twice.
std::vector<int32_t> Rows(const Case& c) {
  const int64_t rows = c.dim("R");
  const int64_t taken = c.dim("T");
  const int64_t bad = c.dim("bad");
  std::vector<int32_t> out;
  for (int64_t t = 0; t < taken; ++t)
    out.push_back(static_cast<int32_t>(rows == 0 ? 0 : (rows - 1 + t * (rows / 2 + 1)) % rows));
  if (out.empty()) return out;
  if ((bad & 1) != 0) out.front() = -1;
  if ((bad & 2) != 0) out.back() = static_cast<int32_t>(rows);
  if (bad == 3 && taken > 3) {
    out[1] = INT32_MIN;
    out[2] = INT32_MAX;
  }
  return out;
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_get_rows_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of table and y");
  const std::vector<int32_t> rows = Rows(c);
  args.struct_size = sizeof args;
  args.table = builder.Weights("table", c.types[0], {c.dim("R"), c.dim("C")});
  args.rows = builder.Ints("rows", {c.dim("T")}, rows);
  args.y = builder.Output("y", c.types[1], {c.dim("T"), c.dim("C")});
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(get_rows, halyard::ops::Enumerate, halyard::ops::Build)
