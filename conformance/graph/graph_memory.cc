// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/graph_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "conformance/ops/fixture.h"
#include "ops/data/layout.h"
#include "registry/select.h"

namespace halyard::conformance {
namespace {

bool Writes(const hy_operand& operand) { return (operand.flags & HY_OPERAND_WRITE) != 0; }

}  // namespace

absl::StatusOr<std::unique_ptr<GraphMemory>> GraphMemory::Make(const UnderTest& under_test,
                                                               const Graph& graph,
                                                               const ops::Case& c, GuardSide side,
                                                               const hy_kernel_target& target,
                                                               const GraphMemory* like) {
  std::unique_ptr<GraphMemory> memory(new GraphMemory(graph, c));
  memory->builder_ = std::make_unique<GuardedBuilder>(&memory->case_, side, nullptr);
  HY_RETURN_IF_ERROR(memory->builder_->status());
  if (like != nullptr) memory->builder_->ShareWeights(like->builder_.get());
  HY_RETURN_IF_ERROR(memory->FindOps(under_test));
  HY_RETURN_IF_ERROR(memory->Place(under_test, target));
  HY_RETURN_IF_ERROR(memory->BindAll());
  return memory;
}

absl::Status GraphMemory::FindOps(const UnderTest& under_test) {
  for (const GraphStep& step : graph_.steps) {
    const TestedOp* const op = under_test.Find(step.op);
    if (op == nullptr) return absl::NotFoundError(absl::StrCat("there is no op ", step.op));
    if (op->op->desc().args_bytes > step.args.size() * sizeof step.args[0]) {
      return absl::InvalidArgumentError(absl::StrCat(step.op, ": its args are larger"));
    }
    for (const auto& [name, tensor] : step.operands) {
      const bool known =
          std::any_of(op->op->operands().begin(), op->op->operands().end(),
                      [&wanted = name](const hy_operand& o) { return wanted == o.name; });
      if (!known) return absl::InvalidArgumentError(absl::StrCat(step.op, " has no ", name));
    }
    ops_.push_back(op);
  }
  return absl::OkStatus();
}

void GraphMemory::PlaceOne(size_t number) {
  const GraphTensor& t = graph_.tensors[number];
  hy_tensor& out = tensors_[number];
  switch (t.origin) {
    case Origin::kInput:
      out = builder_->Input(t.name, t.type, t.shape, t.dist);
      break;
    case Origin::kWeights:
      out = builder_->Weights(t.name, t.type, t.shape, t.dist);
      break;
    case Origin::kInts:
      out = builder_->Ints(t.name, t.shape, t.ints);
      break;
    case Origin::kFloats:
      out = builder_->Floats(t.name, t.type, t.shape, t.floats);
      break;
    case Origin::kState:
      out = builder_->InOut(t.name, t.type, t.shape);
      break;
    case Origin::kValue:
      out = builder_->Output(t.name, t.type, t.shape);
      break;
    case Origin::kView:
      PlaceView(number);
      break;
    case Origin::kPacked:
      break;
  }
}

void GraphMemory::PlaceView(size_t number) {
  const GraphTensor& t = graph_.tensors[number];
  const hy_tensor& base = tensor(t.base);
  hy_tensor& view = tensors_[number];
  view = hy_tensor_dense(nullptr, t.type, static_cast<uint32_t>(t.shape.size()), t.shape.data());
  view.data = static_cast<unsigned char*>(base.data) + hy_type_row_bytes(t.type, t.first_col);
  if (base.rank > 1) view.stride[0] = base.stride[0];
}

absl::Status GraphMemory::PlacePacked(const UnderTest& under_test, const hy_kernel_target& target,
                                      size_t number) {
  const int base = graph_.tensors[number].base;
  tensors_[number] = tensor(base);
  for (size_t step = 0; step < graph_.steps.size(); ++step) {
    const auto& operands = graph_.steps[step].operands;
    if (std::none_of(operands.begin(), operands.end(),
                     [&](const auto& one) { return one.second == static_cast<int>(number); })) {
      continue;
    }
    const std::vector<uint64_t> args = Bound(step);
    registry::Request request{ops_[step]->op, args.data(), target};
    request.may_pack = true;
    HY_ASSIGN_OR_RETURN(const registry::Selection selection,
                        registry::Select(under_test.registry(), request));
    const registry::Layout* const layout = under_test.registry().FindLayout(selection.layout);
    if (layout == nullptr) return absl::OkStatus();  // none wants it: canonical is what it gets
    tensors_[number] = builder_->Packed(tensor(base), layout->desc);
    HY_RETURN_IF_ERROR(builder_->status());
    canonical_.Keep(tensors_[number], tensor(base));
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status GraphMemory::Place(const UnderTest& under_test, const hy_kernel_target& target) {
  tensors_.assign(graph_.tensors.size(), hy_tensor{});
  for (size_t i = 0; i < tensors_.size(); ++i) {
    PlaceOne(i);
    HY_RETURN_IF_ERROR(builder_->status());
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (graph_.tensors[i].origin == Origin::kPacked) tensors_[i] = tensor(graph_.tensors[i].base);
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (graph_.tensors[i].origin != Origin::kPacked) continue;
    HY_RETURN_IF_ERROR(PlacePacked(under_test, target, i));
  }
  return absl::OkStatus();
}

std::vector<uint64_t> GraphMemory::Bound(size_t step) const {
  std::vector<uint64_t> args = graph_.steps[step].args;
  const registry::Op& op = *ops_[step]->op;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const int number = graph_.steps[step].operand(op.operands()[i].name);
    if (number >= 0) op.tensor(i, args.data()) = tensor(number);
  }
  return args;
}

absl::Status GraphMemory::BindAll() {
  std::vector<bool> seen(tensors_.size(), false);
  for (size_t step = 0; step < graph_.steps.size(); ++step) {
    args_.push_back(Bound(step));
    hy_why why = {};
    if (ops_[step]->op->desc().validate(args(step), &why) != HY_OK) {
      return absl::InvalidArgumentError(absl::StrCat("step ", graph_.steps[step].label, " (",
                                                     graph_.steps[step].op, "): ", why.text));
    }
    for (const int number : WrittenBy(step)) {
      if (seen[static_cast<size_t>(number)]) continue;
      seen[static_cast<size_t>(number)] = true;
      written_.push_back(number);
    }
  }
  std::sort(written_.begin(), written_.end());
  return absl::OkStatus();
}

std::vector<uint64_t> GraphMemory::ArgsFor(size_t step, uint32_t layout) const {
  std::vector<uint64_t> copy = args_[step];
  const registry::Op& op = *ops_[step]->op;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    hy_tensor& t = op.tensor(i, copy.data());
    if (t.layout != HY_LAYOUT_CANONICAL && t.layout != layout) t = builder_->Canonical(t);
  }
  return copy;
}

void GraphMemory::TakeInputs(const GraphMemory& other) {
  for (const GraphTensor& t : graph_.tensors) {
    const bool is_weights = t.origin == Origin::kWeights || t.origin == Origin::kPacked;
    if (!is_weights) builder_->TakeData(t.name, *other.builder_);
  }
}

std::vector<int> GraphMemory::WrittenBy(size_t step) const {
  std::vector<int> written;
  for (const hy_operand& operand : ops_[step]->op->operands()) {
    const int number = graph_.steps[step].operand(operand.name);
    if (number >= 0 && Writes(operand)) written.push_back(graph_.Owner(number));
  }
  return written;
}

std::vector<uint8_t> GraphMemory::BitsOf(int number) const {
  std::vector<uint8_t> bytes;
  const hy_tensor& t = tensor(number);
  if (ops::SpanBytes(t) == 0) return bytes;
  for (int64_t r = 0; r < hy_tensor_rows(&t); ++r) AppendRow(t, r, &bytes);
  return bytes;
}

GraphBits GraphMemory::Bits() const {
  GraphBits bits(tensors_.size());
  for (const int number : written_) bits[static_cast<size_t>(number)] = BitsOf(number);
  return bits;
}

GraphMemory::Difference GraphMemory::FirstDifference(const GraphBits& a, const GraphBits& b,
                                                     size_t steps) const {
  std::vector<bool> seen(tensors_.size(), false);
  Difference first;
  for (size_t step = steps; step-- > 0;) {
    for (const int number : WrittenBy(step)) {
      const auto at = static_cast<size_t>(number);
      if (seen[at]) continue;  // a later step wrote there last
      seen[at] = true;
      const auto pair = std::mismatch(a[at].begin(), a[at].end(), b[at].begin(), b[at].end());
      if (pair.first == a[at].end() || pair.second == b[at].end()) continue;
      const hy_tensor& t = tensor(number);
      const uint64_t row = hy_type_row_bytes(t.type, hy_tensor_cols(&t));
      const auto offset = static_cast<uint64_t>(pair.first - a[at].begin());
      first = {static_cast<int>(step),
               absl::StrFormat("%s, row %d, byte %d: %02x and %02x", graph_.tensor(number).name,
                               offset / row, offset % row, *pair.first, *pair.second)};
    }
  }
  return first;
}

}  // namespace halyard::conformance
