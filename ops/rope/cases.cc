// SPDX-License-Identifier: Apache-2.0
//
// Dims: T, H, D; R, what is turned of D; mode; last, the largest position, which tokens spread up to
// from 0; bad: 1 gives the first token position -1, 2 gives it one behind the table.
#include <cmath>

#include "ops/case.h"
#include "ops/rope/contract.h"

namespace halyard::ops {
namespace {

constexpr int64_t kSplit = HY_ROPE_SPLIT;
constexpr int64_t kInterleaved = HY_ROPE_INTERLEAVED;

struct Shape {
  int64_t tokens;
  int64_t heads;
  int64_t dim;
  int64_t turned;
};

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t type, const Shape& shape, int64_t mode, int64_t last,
                  const char* dist = "uniform", const char* lay = "dense", int64_t bad = 0) const {
    Case c;
    c.op = "rope";
    c.types = {type, type};
    c.dims = {{"T", shape.tokens}, {"H", shape.heads}, {"D", shape.dim}, {"R", shape.turned},
              {"mode", mode},      {"last", last},     {"bad", bad}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t mode : {kInterleaved, kSplit}) {
      add(type, {3, 2, 64, 64}, mode, 4095);
      add(type, {2, 3, 33, 10}, mode, 100, "normal", "inplace");
      add(type, {3, 5, 50, 34}, mode, 7, "planted", "pad64+off4");
    }
    add(type, {2, 2, 16, 16}, kSplit, 9, "subnormal");
    add(type, {2, 2, 16, 14}, kInterleaved, 9, "extreme");
  }
  for (const int64_t mode : {kInterleaved, kSplit}) {
    add(HY_TYPE_F32, {2, 2, 300, 280}, mode, 3, "normal");
  }
  add(HY_TYPE_F32, {5, 1, 6, 6}, kInterleaved, 1 << 17, "llm");
  add(HY_TYPE_F32, {3, 2, 2, 2}, kSplit, 1 << 20);
  add(HY_TYPE_F32, {4, 3, 32, 16}, kSplit, 5, "uniform", "dense", 1);
  add(HY_TYPE_F16, {4, 3, 32, 32}, kInterleaved, 5, "uniform", "inplace", 2);
  add(HY_TYPE_F32, {2, 2, 8, 0}, kSplit, 3);
  add(HY_TYPE_F32, {0, 2, 8, 8}, kSplit, 3);
  add(HY_TYPE_F32, {2, 0, 8, 8}, kInterleaved, 3);
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t mode : {kInterleaved, kSplit}) {
      for (int64_t turned = 2; turned <= 34; turned += 2)
        add(type, {2, 2, turned + 1, turned}, mode, 50);
      for (const int64_t dim : {80, 96, 128, 256})
        add(type, {7, 4, dim, dim}, mode, 4096, "normal");
      add(type, {4, 32, 128, 64}, mode, 1 << 17, "llm", "inplace+pad64");
      add(type, {1, 1, 128, 128}, mode, 0, "normal");
    }
  }
  add(HY_TYPE_F32, {3, 2, 4, 2}, kSplit, (1 << 24) + 1);
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, {3, 2, 32, 32}, kInterleaved, 60, "uniform", "far");
  add(HY_TYPE_BF16, {3, 2, 4, 2}, kInterleaved, (1 << 24) + 1);
  add(HY_TYPE_F32, {2048, 9, 64, 64}, kSplit, 2047, "normal");
}

std::vector<int32_t> Positions(const Case& c) {
  const int64_t tokens = c.dim("T");
  const int64_t last = c.dim("last");
  std::vector<int32_t> positions;
  for (int64_t t = 0; t < tokens; ++t)
    positions.push_back(static_cast<int32_t>(tokens == 1 ? last : last * t / (tokens - 1)));
  if (tokens > 0 && c.dim("bad") == 1) positions[0] = -1;
  if (tokens > 0 && c.dim("bad") == 2) positions[0] = static_cast<int32_t>(last + 1);
  return positions;
}

// Cosines and sines of the positions that are within the table.
void Angles(const Case& c, const std::vector<int32_t>& positions, std::vector<int64_t>* rows,
            std::vector<float>* values) {
  const int64_t pairs = c.dim("R") / 2;
  for (const int32_t position : positions) {
    if (position < 0 || position > c.dim("last")) continue;
    if (!rows->empty() && rows->back() == position) continue;
    rows->push_back(position);
    for (int64_t i = 0; i < pairs; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(pairs);
      const double angle = position * std::pow(10000.0, -share);
      values->push_back(static_cast<float>(std::cos(angle)));
      values->push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_rope_args*>(raw);
  if (c.types.size() != 2) return absl::InvalidArgumentError("needs the types of x and y");
  if (c.dim("R") > c.dim("D")) return absl::InvalidArgumentError("R is larger than D");
  const int64_t shape[] = {c.dim("T"), c.dim("H"), c.dim("D")};
  const std::vector<int32_t> positions = Positions(c);
  std::vector<int64_t> rows;
  std::vector<float> angles;
  Angles(c, positions, &rows, &angles);
  args.struct_size = sizeof args;
  args.mode = static_cast<uint32_t>(c.dim("mode"));
  args.x = builder.Input("x", c.types[0], shape);
  args.table = builder.SparseFloats("table", {c.dim("last") + 1, c.dim("R") / 2, 2}, rows, angles);
  args.positions = builder.Ints("positions", {shape[0]}, positions);
  const bool in_place = c.lay.find("inplace") != std::string::npos;
  args.y = in_place ? builder.InPlace("y", args.x) : builder.Output("y", c.types[1], shape);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(rope, halyard::ops::Enumerate, halyard::ops::Build)
