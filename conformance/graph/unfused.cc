// SPDX-License-Identifier: Apache-2.0
//
// What steps that do the work of several ops must be equal to, as their contracts declare it.
#include <utility>

#include "absl/strings/str_cat.h"
#include "conformance/graph/graph.h"
#include "ops/add/contract.h"
#include "ops/quantize/contract.h"
#include "ops/rmsnorm/contract.h"

namespace halyard::conformance {
namespace {

/// Writes the steps of a graph anew, with unfused forms before those that are fused.
class Unfuser {
 public:
  explicit Unfuser(Graph* graph) : graph_(*graph) { old_.swap(graph_.steps); }

  void Run() {
    std::vector<int> new_numbers;
    std::vector<Equality> added;
    for (const GraphStep& step : old_) {
      const bool sums = step.op == "rmsnorm" && step.operand("sum") >= 0;
      const int y = step.operand("y");
      const bool quantises = step.op != "quantize" && y >= 0 &&
                             hy_type_is_a8(graph_.tensor(y).type) && MakesRecords(step.op);
      if (!sums && !quantises) {
        graph_.steps.push_back(step);
      } else {
        AddParts(step, sums, quantises, &added);
      }
      new_numbers.push_back(static_cast<int>(graph_.steps.size()) - 1);
    }
    graph_.RenumberSteps(new_numbers);
    graph_.equalities.insert(graph_.equalities.end(), added.begin(), added.end());
  }

 private:
  static bool MakesRecords(const std::string& op) {
    return op == "rmsnorm" || op == "layernorm" || op == "silu_mul" || op == "gelu_mul";
  }

  // A tensor of its own in place of another.
  int Twin(int number, uint32_t type) {
    const GraphTensor tensor = graph_.tensor(number);
    return graph_.Value(type, tensor.shape);
  }

  void AddParts(const GraphStep& fused, bool sums, bool quantises, std::vector<Equality>* out) {
    part_ = 'a';
    GraphStep alone = fused;
    const int sum = sums ? AddSumAlone(fused, &alone) : -1;
    const int y = fused.operand("y");
    const uint32_t type = graph_.tensor(y).type;
    int want = Twin(y, quantises ? uint32_t{HY_TYPE_F32} : type);
    Replace("y", want, &alone);
    graph_.steps.push_back(alone);
    Label(fused);
    const size_t alone_step = graph_.steps.size() - 1;
    if (quantises) {
      const int whole = std::exchange(want, Twin(y, type));
      graph_.Step("quantize", hy_quantize_args{}, {{"x", whole}, {"y", want}});
      Label(fused);
    }
    graph_.steps.push_back(fused);
    const size_t step = graph_.steps.size() - 1;
    if (sums) {
      out->push_back({fused.operand("sum"), sum, step, {}, 0, "sum holds what add gives"});
    }
    out->push_back(
        {y,
         want,
         step,
         {alone_step, step},
         0,
         quantises ? "y is y in f32 put through quantize" : "y is the norm of the sum as stored"});
  }

  // The sum as a step, which `inout_alone` then reads. Gives its tensor.
  int AddSumAlone(const GraphStep& fused, GraphStep* inout_alone) {
    const int sum = Twin(fused.operand("sum"), graph_.tensor(fused.operand("sum")).type);
    graph_.Step("add", hy_add_args{},
                {{"a", fused.operand("x")}, {"b", fused.operand("add")}, {"y", sum}});
    Label(fused);
    Replace("x", sum, inout_alone);
    Remove("add", inout_alone);
    Remove("sum", inout_alone);
    return sum;
  }

  void Label(const GraphStep& fused) {
    graph_.steps.back().label = absl::StrCat(fused.label, std::string(1, part_++));
  }

  static void Replace(const char* name, int tensor, GraphStep* step) {
    for (auto& [known, number] : step->operands) {
      if (known == name) number = tensor;
    }
  }
  static void Remove(const char* name, GraphStep* step) {
    for (size_t i = 0; i < step->operands.size(); ++i) {
      if (step->operands[i].first != name) continue;
      step->operands.erase(step->operands.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  Graph& graph_;
  std::vector<GraphStep> old_;
  char part_ = 'a';
};

}  // namespace

void AddUnfused(Graph* graph) { Unfuser(graph).Run(); }

}  // namespace halyard::conformance
