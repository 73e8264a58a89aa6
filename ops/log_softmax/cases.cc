// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, n; k, ids a row, 0: none are given; bad, 1: the last id of row 0 is n.
#include "ops/case.h"
#include "ops/log_softmax/contract.h"

namespace halyard::ops {
namespace {

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t x, int64_t rows, int64_t n, int64_t k, const char* dist = "normal",
                  const char* lay = "dense", int64_t bad = 0) const {
    Case c;
    c.op = "log_softmax";
    c.types = {x};
    c.dims = {{"rows", rows}, {"n", n}, {"k", k}, {"bad", bad}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t n : {1, 2, 17, 33, 130}) add(type, 3, n, 0);
    add(type, 5, 257, 0, "planted");
    add(type, 3, 64, 4, "extreme");
    add(type, 3, 70, 5, "subnormal", "pad64+off4");
    add(type, 4, 600, 20, "llm");
  }
  add(HY_TYPE_F32, 4, 96, 0, "normal", "inplace");
  add(HY_TYPE_F32, 2, 64, 0, "equal");
  add(HY_TYPE_F32, 3, 50, 6, "normal", "dense", 1);
  add(HY_TYPE_F32, 1, 20000, 1);
  add(HY_TYPE_F32, 0, 64, 0);
  add(HY_TYPE_F32, 3, 0, 0);
  add(HY_TYPE_F32, 2, 0, 3);
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (int64_t n = 3; n <= 33; ++n) add(type, 2, n, 0);
    for (const int64_t n : {63, 64, 127, 128, 129, 511, 512, 513, 4096}) add(type, 3, n, 7, "llm");
    add(type, 2, 49152, 20);
    add(type, 2, 1000, 0, "onehot");
  }
  add(HY_TYPE_F32, 1, 151936, 0);
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, 3, 5, 0, "normal", "far");
  add(HY_TYPE_F32, 8, 151936, 20, "llm");
}

// Spread over the columns; the first is missing.
std::vector<int32_t> Ids(const Case& c) {
  const int64_t k = c.dim("k");
  const int64_t n = c.dim("n");
  std::vector<int32_t> ids;
  for (int64_t row = 0; row < c.dim("rows"); ++row) {
    for (int64_t j = 0; j < k; ++j) {
      const int64_t id = j == 0 && k > 1 ? -1 : (n - 1 - j * 7919 - row) % n;
      ids.push_back(static_cast<int32_t>(id < -1 ? id + n : id));
    }
  }
  if (c.dim("bad") != 0 && k > 0) ids[static_cast<size_t>(k) - 1] = static_cast<int32_t>(n);
  return ids;
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_log_softmax_args*>(raw);
  if (c.types.size() != 1) return absl::InvalidArgumentError("needs the type of x");
  const int64_t shape[] = {c.dim("rows"), c.dim("n")};
  const int64_t named[] = {shape[0], c.dim("k")};
  args.struct_size = sizeof args;
  args.x = builder.Input("x", c.types[0], shape);
  if (named[1] > 0) {
    args.ids = builder.Ints("ids", named,
                            shape[1] == 0
                                ? std::vector<int32_t>(static_cast<size_t>(named[0] * named[1]), -1)
                                : Ids(c));
    args.y = builder.Output("y", HY_TYPE_F32, named);
  } else {
    const bool in_place = c.lay.find("inplace") != std::string::npos;
    args.y = in_place ? builder.InPlace("y", args.x) : builder.Output("y", HY_TYPE_F32, shape);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(log_softmax, halyard::ops::Enumerate, halyard::ops::Build)
