// SPDX-License-Identifier: Apache-2.0
//
// Dims: rows, n; temperature, in 1e-8; top_k, top_p and min_p in 1/256, -1: absent. The random numbers
// are spread evenly over the rows; bad, 1: the settings of the first rows are each invalid in one way.
#include <limits>

#include "ops/case.h"
#include "ops/sample/contract.h"

namespace halyard::ops {
namespace {

constexpr int64_t kOne = 100000000;  // temperature 1

struct Limits {
  int64_t top_k = -1;
  int64_t top_p = -1;
  int64_t min_p = -1;
};

struct Maker {
  std::vector<Case>* const out;

  void operator()(uint32_t logits, int64_t rows, int64_t n, const char* dist,
                  const Limits& limits = {}, int64_t temperature = kOne, const char* lay = "dense",
                  int64_t bad = 0) const {
    Case c;
    c.op = "sample";
    c.types = {logits};
    c.dims = {{"rows", rows},
              {"n", n},
              {"temperature", temperature},
              {"top_k", limits.top_k},
              {"top_p", limits.top_p},
              {"min_p", limits.min_p},
              {"bad", bad}};
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t n : {1, 2, 17, 130}) add(type, 9, n, "normal");
    add(type, 16, 700, "normal", {40, 240, 13}, kOne * 7 / 10);
    add(type, 8, 64, "equal", {5, -1, -1});
    add(type, 5, 300, "planted");
    add(type, 5, 100, "normal", {}, 0, "pad64+off4");
  }
  add(HY_TYPE_F32, 12, 600, "normal", {-1, 200, -1}, kOne * 3 / 2);
  add(HY_TYPE_F32, 12, 600, "normal", {-1, -1, 30});
  add(HY_TYPE_F32, 12, 600, "uniform", {1, 256, 256});
  add(HY_TYPE_F32, 12, 600, "uniform", {700, 0, 0});
  add(HY_TYPE_F32, 8, 90, "llm", {}, 1);
  add(HY_TYPE_F32, 8, 90, "extreme", {20, 128, -1});
  add(HY_TYPE_F32, 8, 90, "equal", {-1, 128, -1});
  add(HY_TYPE_F32, 12, 33, "normal", {8, 200, 10}, kOne, "dense", 1);
  add(HY_TYPE_F32, 3, 20000, "normal", {-1, 250, -1});
  add(HY_TYPE_F32, 0, 64, "normal");
  add(HY_TYPE_F32, 3, 0, "normal");
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (int64_t n = 3; n <= 33; ++n) add(type, 8, n, "normal", {n / 2, 220, -1});
    for (const int64_t n : {63, 64, 127, 128, 129, 511, 512, 513, 4096})
      add(type, 8, n, "llm", {-1, 200, 3});
    add(type, 64, 49152, "normal", {50, 240, -1}, kOne * 6 / 10);
  }
  for (const int64_t temperature : {kOne / 1000, kOne / 10, kOne, 2 * kOne, 100 * kOne}) {
    add(HY_TYPE_F32, 40, 1000, "normal", {}, temperature);
    add(HY_TYPE_F32, 40, 1000, "cancel", {100, 128, 1}, temperature);
  }
  add(HY_TYPE_F32, 4, 151936, "normal");
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  const Maker add{out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, 3, 5, "normal", {}, kOne, "far");
  add(HY_TYPE_F32, 256, 151936, "normal", {-1, 243, -1}, kOne * 8 / 10);
}

hy_tensor Setting(const char* name, CaseBuilder& builder, std::vector<float> values, float bad,
                  size_t bad_row) {
  if (builder.the_case().dim("bad") != 0 && bad_row < values.size()) values[bad_row] = bad;
  return builder.Floats(name, HY_TYPE_F32, {static_cast<int64_t>(values.size())}, values);
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  auto& args = *static_cast<hy_sample_args*>(raw);
  if (c.types.size() != 1) return absl::InvalidArgumentError("needs the type of logits");
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto rows = static_cast<size_t>(c.dim("rows"));
  const auto same = [&c, rows](const char* name, double unit) {
    return std::vector<float>(rows, static_cast<float>(static_cast<double>(c.dim(name)) * unit));
  };
  std::vector<float> u;
  for (size_t r = 0; r < rows; ++r)
    u.push_back((static_cast<float>(r) + 0.375f) / static_cast<float>(rows));
  if (rows > 2) u[rows - 1] = 1.0f;
  args.struct_size = sizeof args;
  args.logits = builder.Input("logits", c.types[0], {c.dim("rows"), c.dim("n")});
  args.temperature = Setting("temperature", builder, same("temperature", 1e-8), -1.0f, 0);
  args.u = Setting("u", builder, u, kNan, 1);
  if (c.dim("top_k") >= 0) {
    const std::vector<int32_t> k(rows, static_cast<int32_t>(c.dim("top_k")));
    args.top_k = builder.Ints("top_k", {c.dim("rows")}, k);
  }
  if (c.dim("top_p") >= 0)
    args.top_p = Setting("top_p", builder, same("top_p", 1.0 / 256), kNan, 2);
  if (c.dim("min_p") >= 0)
    args.min_p = Setting("min_p", builder, same("min_p", 1.0 / 256), kNan, 3);
  args.id = builder.Output("id", HY_TYPE_I32, {c.dim("rows")});
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(sample, halyard::ops::Enumerate, halyard::ops::Build)
