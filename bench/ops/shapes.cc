// SPDX-License-Identifier: Apache-2.0
#include "bench/ops/shapes.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "conformance/ops/shape_builder.h"
#include "ops/contract_check.h"

namespace halyard::bench {
namespace {

using ops::Case;

void AddText(const std::string& text, std::vector<Case>* out) {
  absl::StatusOr<Case> parsed = ops::ParseCase(text);
  if (parsed.ok()) out->push_back(*std::move(parsed));
}

std::vector<Case> Products() {
  std::vector<Case> shapes;
  for (const char* weights : {"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k",
                              "q5_k", "q6_k", "w8a8", "w4a8_g128", "bf16", "f16", "f32"}) {
    for (const int m : {1, 32}) {
      AddText(absl::StrCat("matmul/f32.", weights, ".f32/M=", m,
                           ",N=4096,K=4096/dist=normal/lay=dense/seed=1"),
              &shapes);
    }
  }
  return shapes;
}

std::vector<Case> Attentions() {
  std::vector<Case> shapes;
  for (const char* pages : {"f16", "bf16", "q8_0", "f32"}) {
    for (const char* size : {"seqs=32,rows=1,ctx=1024", "seqs=1,rows=128,ctx=1024"}) {
      AddText(absl::StrCat("attention/f32.", pages, ".f32/", size,
                           ",hq=9,hkv=3,d=64,page=32,causal=1/dist=normal/lay=dense/seed=1"),
              &shapes);
    }
  }
  return shapes;
}

uint64_t BytesOf(const conformance::TestedOp& op, const Case& c) {
  std::vector<uint64_t> args(op.op->desc().args_bytes / sizeof(uint64_t) + 1);
  conformance::ShapeBuilder builder(&c, nullptr);
  if (!op.cases->build(c, builder, args.data()).ok()) return 0;
  const hy_op_desc& desc = op.op->desc();
  return desc.bytes != nullptr ? desc.bytes(args.data()) : ops::OperandBytes(desc, args.data());
}

// The case of each type tuple that moves the most.
std::vector<Case> LargestOfEachTuple(const conformance::TestedOp& op) {
  std::vector<Case> all;
  op.cases->enumerate(ops::Tier::kStandard, &all);
  std::map<std::vector<uint32_t>, std::pair<uint64_t, const Case*>> largest;
  for (const Case& c : all) {
    if (absl::StrContains(c.lay, "inplace") || absl::StrContains(c.lay, "far")) continue;
    auto& [bytes, chosen] = largest[c.types];
    const uint64_t moved = BytesOf(op, c);
    if (moved > bytes) {
      bytes = moved;
      chosen = &c;
    }
  }
  std::vector<Case> shapes;
  for (const auto& [types, found] : largest) {
    if (found.second == nullptr) continue;
    shapes.push_back(*found.second);
    shapes.back().lay = "dense";
    shapes.back().dist = "normal";
  }
  return shapes;
}

}  // namespace

std::vector<Case> DefaultShapes(const conformance::TestedOp& op) {
  if (op.op->name() == "matmul") return Products();
  if (op.op->name() == "attention") return Attentions();
  return LargestOfEachTuple(op);
}

}  // namespace halyard::bench
