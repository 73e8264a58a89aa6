// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "ops/case.h"
#include "ops/data/random.h"
#include "ops/kv_append/contract.h"

namespace halyard::ops {
namespace {

using Types = std::vector<uint32_t>;

struct Dims {
  int64_t rows = 3, hkv = 2, d = 64, page = 16, pages = 4;
  int64_t skip = 0;   // every so many rows have a negative slot
  int64_t fault = 0;  // every so many have one outside
};

void Add(std::vector<Case>* out, const Types& types, const Dims& dims, const char* dist = "normal",
         const char* lay = "dense") {
  Case c;
  c.op = "kv_append";
  c.types = types;
  c.dims = {{"rows", dims.rows},   {"hkv", dims.hkv},   {"d", dims.d},        {"page", dims.page},
            {"pages", dims.pages}, {"skip", dims.skip}, {"fault", dims.fault}};
  c.dist = dist;
  c.lay = lay;
  out->push_back(std::move(c));
}

void AddForTypes(const Types& types, std::vector<Case>* out) {
  Add(out, types, {.rows = 1});
  Add(out, types, {.rows = 40, .hkv = 3, .skip = 5}, "uniform", "pad64+off4");
  Add(out, types, {.rows = 9, .page = 1, .pages = 20}, "llm");
  Add(out, types, {.rows = 65, .hkv = 1, .d = 128, .page = 64, .fault = 4});
  Add(out, types, {.rows = 2, .hkv = 8, .d = 32, .page = 128, .pages = 2}, "planted");
  Add(out, types, {.rows = 5, .d = 96}, "subnormal");
  Add(out, types, {.rows = 5, .d = 256}, "extreme");
  Add(out, types, {.rows = 4}, "walking");
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const uint32_t floats[] = {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16};
  for (const uint32_t from : floats) {
    for (const uint32_t to : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16, HY_TYPE_Q8_0})
      AddForTypes({from, to}, out);
    Add(out, {from, from}, {}, "random-bits");
    for (const int64_t d : {1, 2, 7, 9, 31, 33, 80}) Add(out, {from, HY_TYPE_F16}, {.d = d});
  }
  const Types usual = {HY_TYPE_F32, HY_TYPE_F16};
  Add(out, usual, {.rows = 0});
  Add(out, usual, {.d = 0});
  Add(out, usual, {.hkv = 0});
  Add(out, usual, {.pages = 0, .fault = 1});
  Add(out, usual, {.skip = 1});
  Add(out, usual, {.rows = 3, .pages = 6}, "normal", "far");
  if (tier == Tier::kQuick) return;
  for (const uint32_t to : {HY_TYPE_F16, HY_TYPE_Q8_0})
    Add(out, {HY_TYPE_F32, to}, {.rows = 512, .hkv = 8, .d = 128, .page = 32, .pages = 40});
}

// Different slots in a shuffled order, with those that skip and those outside the pool among them.
std::vector<int32_t> Slots(const Case& c) {
  const int64_t count = c.dim("pages", 4) * c.dim("page", 16);
  std::vector<int32_t> order;
  for (int64_t i = 0; i < count; ++i) order.push_back(static_cast<int32_t>(i));
  const RandomKey key = KeyOf(c.seed, "slots");
  for (size_t i = order.size(); i > 1; --i) {
    const RandomWords words = Philox(key, {static_cast<uint32_t>(i), 0, 0, 0});
    std::swap(order[i - 1], order[words[0] % i]);
  }
  const int32_t outside[] = {static_cast<int32_t>(count), std::numeric_limits<int32_t>::max()};
  const int32_t skipped[] = {-1, std::numeric_limits<int32_t>::min()};
  const int64_t skip = c.dim("skip");
  const int64_t fault = c.dim("fault");
  std::vector<int32_t> slots;
  for (int64_t row = 0; row < c.dim("rows", 3); ++row) {
    if (fault > 0 && row % fault == fault - 1) {
      slots.push_back(outside[row / fault % 2]);
    } else if (order.empty() || (skip > 0 && row % skip == skip - 1)) {
      slots.push_back(skipped[row % 2]);
    } else {
      slots.push_back(order.back());
      order.pop_back();
    }
  }
  return slots;
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  if (c.types.size() != 2) return absl::InvalidArgumentError("kv_append needs types k.pages");
  auto& args = *static_cast<hy_kv_append_args*>(raw);
  const std::vector<int32_t> slots = Slots(c);
  const int64_t rows[] = {c.dim("rows", 3), c.dim("hkv", 2), c.dim("d", 64)};
  const int64_t pages[] = {c.dim("pages", 4), rows[1], c.dim("page", 16), rows[2]};
  args.struct_size = sizeof args;
  args.k = builder.Input("k", c.types[0], rows);
  args.v = builder.Input("v", c.types[0], rows);
  args.slots = builder.Ints("slots", {rows[0]}, slots);
  args.k_pages = builder.InOut("k_pages", c.types[1], pages);
  args.v_pages = builder.InOut("v_pages", c.types[1], pages);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(kv_append, halyard::ops::Enumerate, halyard::ops::Build)
