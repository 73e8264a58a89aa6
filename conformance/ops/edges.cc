// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/edges.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/data/layout.h"

namespace halyard::conformance {
namespace {

struct Edge {
  const char* code;
  const char* title;
};

constexpr Edge kEdges[] = {
    {"X01", "row lengths around vector widths"},
    {"X02", "few or odd rows and columns"},
    {"X03", "odd number of blocks"},
    {"X04", "nothing to do: a size of 0"},
    {"X05", "very long rows or contexts"},
    {"X06", "offsets beyond 2^31 and 2^32 bytes"},
    {"X07", "stacks of matrices, heads, broadcast"},
    {"X08", "gaps between rows"},
    {"X09", "in place; overlap refused"},
    {"X10", "base addresses off alignment"},
    {"X11", "a page without access after and before each buffer; gaps checked"},
    {"X12", "outputs and scratch filled before, never read"},
    {"X13", "scratch as asked for, dirty, moved, runs overlapping"},
    {"X14", "packed weights"},
    {"X15", "NaN and infinity planted"},
    {"X16", "ends of codes and types"},
    {"X17", "blocks of zeros and of tiny numbers"},
    {"X18", "subnormal numbers"},
    {"X19", "outlier channels"},
    {"X20", "positive sums"},
    {"X21", "cancelling sums"},
    {"X22", "signed zeros"},
    {"X23", "masks and windows"},
    {"X24", "ties and degenerate choices"},
    {"X25", "far positions"},
    {"X26", "every count of workers"},
    {"X27", "repeats give the same bits"},
    {"X28", "vector length"},
    {"X29", "floating-point control and registers restored"},
    {"X30", "pages: sizes, order, stale slots"},
    {"X31", "a row alone is the row in its batch"},
    {"X32", "byte order and unaligned formats"},
    {"X33", "wrong arguments refused"},
    {"X34", "instruction sets masked off"},
};

class Finder {
 public:
  Finder(const OpCaseId& id, const registry::Op& op, const void* args)
      : id_(id), op_(op), args_(args) {}

  std::vector<std::string> Find() {
    for (size_t i = 0; i < op_.operands().size(); ++i) {
      const hy_tensor& tensor = op_.tensor(i, args_);
      if (hy_tensor_present(&tensor)) LookAt(tensor);
    }
    LookAtLay();
    LookAtDist();
    LookAtOp();
    return {found_.begin(), found_.end()};
  }

 private:
  void Add(const char* code) { found_.insert(code); }
  void AddIf(bool holds, const char* code) {
    if (holds) found_.insert(code);
  }

  void LookAt(const hy_tensor& t) {
    const int64_t cols = hy_tensor_cols(&t);
    for (uint32_t i = 0; i < t.rank; ++i) {
      AddIf(t.shape[i] == 0, "X04");
      if (i + 1 < t.rank) AddIf(t.shape[i] > 0 && (t.shape[i] <= 3 || t.shape[i] % 2 != 0), "X02");
    }
    AddIf(t.rank >= 3, "X07");
    if (t.type != HY_TYPE_I32) {
      AddIf(cols > 0 && (cols <= 33 || cols % 16 == 1 || cols % 16 == 15), "X01");
      AddIf(cols >= 14336, "X05");
    }
    const uint32_t block = hy_type_facts(t.type)->block;
    if (!hy_type_is_weights(t.type)) return;
    AddIf(block != HY_BLOCK_ROW && cols > block && cols / block % 2 != 0, "X03");
    Add("X32");
  }

  void LookAtLay() {
    const absl::StatusOr<ops::Lay> lay = ops::ParseLay(id_.c.lay);
    if (!lay.ok()) return;
    AddIf(lay->gap_bytes > 0, "X08");
    AddIf(lay->in_place, "X09");
    AddIf(lay->far, "X06");
    for (size_t i = 0; i < op_.operands().size(); ++i) {
      AddIf(op_.tensor(i, args_).layout != HY_LAYOUT_CANONICAL, "X14");
    }
  }

  void LookAtDist() {
    const std::string& dist = id_.c.dist;
    AddIf(dist == "planted", "X15");
    AddIf(dist == "extreme" || dist == "walking", "X16");
    AddIf(dist == "extreme", "X22");
    AddIf(dist == "subnormal" || dist == "onehot", "X17");
    AddIf(dist == "subnormal", "X18");
    AddIf(dist == "llm", "X19");
    AddIf(dist == "positive", "X20");
    AddIf(dist == "cancel", "X21");
  }

  // What only some ops have, by the names of their operands and dims.
  void LookAtOp() {
    const absl::string_view name = op_.name();
    AddIf(name == "attention" || name == "kv_append", "X30");
    AddIf(name == "rope", "X25");
    const bool chooses =
        name == "argmax" || name == "top_k" || name == "sample" || name == "log_softmax";
    AddIf(chooses && (id_.c.dist == "equal" || HasDim("ties") || HasDim("special")), "X24");
    const bool masked = HasDim("mask") || HasDim("window") || HasDim("causal");
    AddIf((name == "softmax" || name == "attention") && masked, "X23");
    for (const hy_operand& operand : op_.operands()) {
      if (HY_OPERAND_SLICE_AXIS(operand.flags, 0) == 0) continue;
      const hy_tensor& tensor = *hy_operand_tensor(&operand, args_);
      AddIf(hy_tensor_present(&tensor) && hy_tensor_rows(&tensor) > 1, "X31");
    }
  }

  bool HasDim(absl::string_view name) const { return id_.c.dim(name) != 0; }

  const OpCaseId& id_;
  const registry::Op& op_;
  const void* const args_;
  std::set<std::string> found_;
};

}  // namespace

std::vector<std::string> EdgesOf(const OpCaseId& id, const registry::Op& op, const void* args) {
  return Finder(id, op, args).Find();
}

std::vector<std::string> EdgesOfEveryCase() {
  return {"X10", "X11", "X12", "X13", "X26", "X27", "X29"};
}

absl::string_view EdgeTitle(absl::string_view edge) {
  for (const Edge& one : kEdges) {
    if (edge == one.code) return one.title;
  }
  return "";
}

std::vector<std::string> AllEdges() {
  std::vector<std::string> all;
  for (const Edge& one : kEdges) all.emplace_back(one.code);
  return all;
}

}  // namespace halyard::conformance
