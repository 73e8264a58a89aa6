// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/graph.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace halyard::conformance {
namespace {

const hy_op_desc* FindOp(const BuiltinOps& builtin, const std::string& name) {
  const auto found = std::find_if(builtin.ops.begin(), builtin.ops.end(),
                                  [&](const hy_op_desc* op) { return name == op->name; });
  return found == builtin.ops.end() ? nullptr : *found;
}

bool Contains(absl::Span<const int64_t> numbers, size_t number) {
  return std::find(numbers.begin(), numbers.end(), static_cast<int64_t>(number)) != numbers.end();
}

}  // namespace

int GraphStep::operand(absl::string_view name) const {
  for (const auto& [known, tensor] : operands) {
    if (known == name) return tensor;
  }
  return -1;
}

int Graph::Add(GraphTensor tensor) {
  if (tensor.name.empty()) tensor.name = absl::StrCat("t", tensors.size());
  tensors.push_back(std::move(tensor));
  return static_cast<int>(tensors.size()) - 1;
}

int Graph::Input(absl::string_view name, uint32_t type, std::vector<int64_t> shape,
                 absl::string_view dist) {
  GraphTensor t;
  t.name = std::string(name);
  t.origin = Origin::kInput;
  t.type = type;
  t.shape = std::move(shape);
  t.dist = std::string(dist);
  return Add(std::move(t));
}

int Graph::Weights(absl::string_view name, uint32_t type, std::vector<int64_t> shape,
                   absl::string_view dist) {
  const int number = Input(name, type, std::move(shape), dist);
  tensor(number).origin = Origin::kWeights;
  return number;
}

int Graph::Ints(absl::string_view name, std::vector<int32_t> values, std::vector<int64_t> shape) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  const int number = Input(name, HY_TYPE_I32, std::move(shape));
  tensor(number).origin = Origin::kInts;
  tensor(number).ints = std::move(values);
  return number;
}

int Graph::State(absl::string_view name, uint32_t type, std::vector<int64_t> shape) {
  const int number = Input(name, type, std::move(shape));
  tensor(number).origin = Origin::kState;
  return number;
}

int Graph::Value(uint32_t type, std::vector<int64_t> shape) {
  const int number = Input("", type, std::move(shape));
  tensor(number).origin = Origin::kValue;
  return number;
}

int Graph::View(int base, std::vector<int64_t> shape, int64_t first_col) {
  const int number = Input("", tensor(base).type, std::move(shape));
  GraphTensor& view = tensor(number);
  view.name = absl::StrCat("view of ", tensor(base).name);
  view.origin = Origin::kView;
  view.base = base;
  view.first_col = first_col;
  return number;
}

int Graph::Packed(int weights) {
  GraphTensor packed = tensor(weights);
  packed.name += " (packed)";
  packed.origin = Origin::kPacked;
  packed.base = weights;
  return Add(std::move(packed));
}

void Graph::AddStep(absl::string_view op, std::vector<uint64_t> args,
                    std::vector<std::pair<std::string, int>> operands) {
  steps.push_back(
      {absl::StrCat(steps.size()), std::string(op), std::move(args), std::move(operands)});
}

int Graph::Owner(int number) const {
  while (tensor(number).origin == Origin::kView) number = tensor(number).base;
  return number;
}

void Graph::RenumberSteps(const std::vector<int>& new_numbers) {
  std::vector<Equality> kept;
  for (Equality& equality : equalities) {
    bool there = new_numbers[equality.after] >= 0;
    equality.after = static_cast<size_t>(std::max(0, new_numbers[equality.after]));
    for (size_t& step : equality.same_kernel) {
      there = there && new_numbers[step] >= 0;
      step = static_cast<size_t>(std::max(0, new_numbers[step]));
    }
    if (there) kept.push_back(equality);
  }
  equalities = std::move(kept);
}

Access AccessOf(const BuiltinOps& builtin, const GraphStep& step) {
  Access access;
  const hy_op_desc* const op = FindOp(builtin, step.op);
  for (uint32_t i = 0; op != nullptr && i < op->operand_count; ++i) {
    const int tensor = step.operand(op->operands[i].name);
    if (tensor < 0) continue;
    if ((op->operands[i].flags & HY_OPERAND_READ) != 0) access.reads.push_back(tensor);
    if ((op->operands[i].flags & HY_OPERAND_WRITE) != 0) access.writes.push_back(tensor);
  }
  return access;
}

void DropSteps(absl::Span<const int64_t> steps, const BuiltinOps& builtin, Graph* graph) {
  std::vector<GraphStep> left;
  std::vector<int> new_numbers;
  for (size_t i = 0; i < graph->steps.size(); ++i) {
    const bool goes = Contains(steps, i);
    new_numbers.push_back(goes ? -1 : static_cast<int>(left.size()));
    if (!goes) left.push_back(graph->steps[i]);
  }
  graph->steps = std::move(left);
  graph->RenumberSteps(new_numbers);
  std::set<int> written;
  std::set<int> needs_data;
  for (const GraphStep& step : graph->steps) {
    const Access access = AccessOf(builtin, step);
    for (const int tensor : access.reads) {
      if (written.count(graph->Owner(tensor)) == 0) needs_data.insert(graph->Owner(tensor));
    }
    for (const int tensor : access.writes) written.insert(graph->Owner(tensor));
  }
  for (const int number : needs_data) {
    GraphTensor& tensor = graph->tensor(number);
    if (tensor.origin != Origin::kValue) continue;
    size_t elements = 1;
    for (const int64_t size : tensor.shape) elements *= static_cast<size_t>(size);
    if (tensor.type == HY_TYPE_I32) {
      tensor.origin = Origin::kInts;
      tensor.ints.assign(elements, 0);
    } else {
      tensor.origin = written.count(number) != 0 ? Origin::kState : Origin::kInput;
    }
  }
}

std::string OpsOf(const Graph& graph) {
  std::string names;
  std::set<std::string> seen;
  for (const GraphStep& step : graph.steps) {
    if (seen.insert(step.op).second) absl::StrAppend(&names, names.empty() ? "" : " ", step.op);
  }
  return names;
}

}  // namespace halyard::conformance
