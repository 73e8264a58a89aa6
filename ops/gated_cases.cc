// SPDX-License-Identifier: Apache-2.0
#include "ops/gated_cases.h"

namespace halyard::ops {
namespace {

struct Maker {
  const std::string op;
  const int64_t tanh;
  std::vector<Case>* const out;

  void operator()(uint32_t gate, uint32_t y, int64_t rows, int64_t cols,
                  const char* dist = "uniform", const char* lay = "dense", int64_t ramp = 0) const {
    Case c;
    c.op = op;
    c.types = {gate, y};
    c.dims = {{"rows", rows}, {"cols", cols}, {"ramp", ramp}};
    if (tanh >= 0) c.dims.emplace_back("tanh", tanh);
    c.dist = dist;
    c.lay = lay;
    out->push_back(std::move(c));
  }
};

void Quick(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const int64_t cols : {1, 17, 33}) add(type, type, 3, cols, "normal");
    add(type, type, 2, 700, "normal", "dense", 1);
    add(type, type, 5, 257, "planted");
    add(type, type, 3, 65, "extreme", "pad64+off4");
    add(type, type, 3, 96, "subnormal");
  }
  add(HY_TYPE_F32, HY_TYPE_F32, 4, 576, "llm", "inplace");
  add(HY_TYPE_BF16, HY_TYPE_F32, 2, 40, "normal");
  add(HY_TYPE_F32, HY_TYPE_A8_B32, 3, 544, "normal");
  add(HY_TYPE_F16, HY_TYPE_A8_B256, 2, 768, "normal", "pad64");
  add(HY_TYPE_BF16, HY_TYPE_A8_TOKEN, 3, 601, "normal");
  add(HY_TYPE_F32, HY_TYPE_A8_B32, 3, 96, "planted");
  add(HY_TYPE_BF16, HY_TYPE_A8_TOKEN, 2, 64, "subnormal");
  add(HY_TYPE_F32, HY_TYPE_F32, 0, 7);
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 0);
}

void Standard(const Maker& add) {
  for (const uint32_t type : {HY_TYPE_F32, HY_TYPE_F16, HY_TYPE_BF16}) {
    for (int64_t cols = 2; cols <= 33; ++cols) add(type, type, 2, cols, "normal");
    for (const int64_t cols : {63, 64, 127, 128, 129, 511, 512, 513, 4096})
      add(type, type, 3, cols, "normal");
    add(type, type, 1, 9973, "normal", "dense", 1);
    add(type, type, 9, 1536, "llm", "inplace+pad64");
    for (const uint32_t y : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN}) {
      add(type, y, 5, 1536, "llm", "pad64");
      add(type, y, 2, 256, "subnormal");
    }
  }
}

}  // namespace

void EnumerateGated(const std::string& op, int64_t tanh, Tier tier, std::vector<Case>* out) {
  const Maker add{op, tanh, out};
  Quick(add);
  if (tier == Tier::kQuick) return;
  Standard(add);
  if (tier == Tier::kStandard) return;
  add(HY_TYPE_F32, HY_TYPE_F32, 3, 5, "normal", "far");
  add(HY_TYPE_F32, HY_TYPE_F32, 1, 1000003, "normal", "dense", 1);
}

hy_tensor Ramp(const Case& c, CaseBuilder& builder) {
  const int64_t shape[] = {c.dim("rows"), c.dim("cols")};
  std::vector<float> values(static_cast<size_t>(shape[0] * shape[1]));
  const double last = static_cast<double>(values.size()) - 1;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(-120 + 160 * static_cast<double>(i) / last);
  return builder.Floats("gate", c.types[0], shape, values);
}

}  // namespace halyard::ops
