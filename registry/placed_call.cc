// SPDX-License-Identifier: Apache-2.0
#include "registry/placed_call.h"

#include <algorithm>

namespace halyard::registry {
namespace {

uint32_t FlagsOf(const PlacedCall& call, size_t operand) {
  return call.op->operands()[operand].flags;
}

// Axis of an operand in a group, from the outermost; -1 if it has none.
int AxisOf(const PlacedCall& call, uint32_t group, size_t operand) {
  const hy_tensor& tensor = call.args.tensor(operand);
  const uint32_t from_last = HY_OPERAND_SLICE_AXIS(FlagsOf(call, operand), group);
  if (from_last == 0 || !hy_tensor_present(&tensor) || from_last > tensor.rank) return -1;
  return static_cast<int>(tensor.rank - from_last);
}

// Bytes between neighbours along an axis; 0 where elements share blocks or records.
uint64_t StepOf(const hy_tensor& tensor, int axis) {
  if (static_cast<uint32_t>(axis) + 1 < tensor.rank)
    return static_cast<uint64_t>(tensor.stride[axis]);
  return hy_type_facts(tensor.type)->block == 1 ? hy_type_facts(tensor.type)->block_bytes : 0;
}

bool IsDense(const hy_tensor& tensor) {
  return static_cast<uint64_t>(hy_tensor_rows(&tensor)) *
             hy_type_row_bytes(tensor.type, hy_tensor_cols(&tensor)) ==
         ExtentBytes(tensor);
}

uint64_t BytesOf(const Registry& registry, const hy_tensor& tensor) {
  const Layout* layout = registry.FindLayout(tensor.layout);
  return layout == nullptr ? ExtentBytes(tensor) : PackedBytes(*layout, tensor);
}

Window WindowOf(const Registry& registry, const PlacedCall& call, uint32_t operand) {
  const hy_tensor& tensor = call.args.tensor(operand);
  const uint32_t flags = FlagsOf(call, operand);
  const Place& place = call.places[operand];
  Window window;
  window.buffer = place.buffer;
  window.begin = place.offset;
  window.end = place.offset + BytesOf(registry, tensor);
  window.operands = {operand};
  window.writes = (flags & HY_OPERAND_WRITE) != 0;
  window.constant = !window.writes && (flags & HY_OPERAND_WEIGHTS) != 0;
  window.discards = window.writes && (flags & HY_OPERAND_READ) == 0 && IsDense(tensor);
  return window;
}

void Join(const Window& other, Window* window) {
  const bool same = other.begin == window->begin && other.end == window->end;
  window->discards = same && window->discards && other.discards;
  window->end = std::max(window->end, other.end);
  window->writes = window->writes || other.writes;
  window->constant = window->constant && other.constant;
  window->operands.insert(window->operands.end(), other.operands.begin(), other.operands.end());
}

}  // namespace

PlacedCall::PlacedCall(const Op& op_of, const void* args_of, absl::Span<const Place> places_of)
    : op(&op_of), args(op_of, args_of), places(places_of.begin(), places_of.end()) {
  places.resize(op_of.operands().size());
}

bool PlacedCall::InBuffer(size_t operand) const {
  return places[operand].buffer != nullptr && hy_tensor_present(&args.tensor(operand));
}

int64_t PiecesOf(const PlacedCall& call, uint32_t group) {
  int64_t pieces = 0;
  for (size_t i = 0; i < call.places.size(); ++i) {
    const int axis = AxisOf(call, group, i);
    if (axis >= 0) pieces = std::max(pieces, call.args.tensor(i).shape[axis]);
  }
  for (size_t i = 0; i < call.places.size(); ++i) {
    const hy_tensor& tensor = call.args.tensor(i);
    const int axis = AxisOf(call, group, i);
    const bool writes = (FlagsOf(call, i) & HY_OPERAND_WRITE) != 0;
    if (axis < 0) {
      // An output that is not cut would be written again and again.
      if (writes && (FlagsOf(call, i) & HY_OPERAND_READ) == 0 && hy_tensor_present(&tensor))
        return 0;
      continue;
    }
    const bool stays_whole = !writes && tensor.shape[axis] == 1;
    if (tensor.shape[axis] != pieces && !stays_whole) return 0;
    if (tensor.layout != HY_LAYOUT_CANONICAL || StepOf(tensor, axis) == 0) return 0;
  }
  return pieces;
}

PlacedCall SliceOf(const PlacedCall& call, uint32_t group, int64_t begin, int64_t end) {
  PlacedCall slice = call;
  const int64_t pieces = PiecesOf(call, group);
  for (size_t i = 0; i < slice.places.size(); ++i) {
    const int axis = AxisOf(call, group, i);
    hy_tensor& tensor = slice.args.tensor(i);
    if (axis < 0 || tensor.shape[axis] != pieces) continue;
    const uint64_t skipped = static_cast<uint64_t>(begin) * StepOf(tensor, axis);
    tensor.shape[axis] = end - begin;
    slice.places[i].offset += skipped;
    if (tensor.data != nullptr) tensor.data = static_cast<unsigned char*>(tensor.data) + skipped;
  }
  return slice;
}

bool IsCutOutermost(const PlacedCall& call, uint32_t group, size_t operand) {
  const int axis = AxisOf(call, group, operand);
  const hy_tensor& tensor = call.args.tensor(operand);
  if (axis < 0 || tensor.shape[axis] != PiecesOf(call, group)) return false;
  return std::all_of(tensor.shape, tensor.shape + axis, [](int64_t n) { return n == 1; });
}

std::vector<Window> WindowsOf(const Registry& registry, const PlacedCall& call, uint32_t which) {
  std::vector<Window> parts;
  for (uint32_t i = 0; i < call.places.size(); ++i) {
    if ((which >> i & 1u) == 0 || !call.InBuffer(i)) continue;
    Window window = WindowOf(registry, call, i);
    if (window.bytes() > 0) parts.push_back(std::move(window));
  }
  std::sort(parts.begin(), parts.end(), [](const Window& a, const Window& b) {
    return a.buffer->id() != b.buffer->id() ? a.buffer->id() < b.buffer->id() : a.begin < b.begin;
  });
  std::vector<Window> windows;
  for (const Window& part : parts) {
    if (!windows.empty() && windows.back().buffer->id() == part.buffer->id() &&
        part.begin < windows.back().end) {
      Join(part, &windows.back());
    } else {
      windows.push_back(part);
    }
  }
  return windows;
}

}  // namespace halyard::registry
