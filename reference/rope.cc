// SPDX-License-Identifier: Apache-2.0
#include "ops/rope/contract.h"

#include <cmath>
#include <utility>
#include <vector>

#include "reference/reference.h"

namespace halyard::reference {
namespace {

const hy_rope_args& Args(const void* raw) { return *static_cast<const hy_rope_args*>(raw); }

// Whether the position of token `token` is one of the table's.
bool IsKnown(const hy_rope_args& args, int64_t token) {
  const double position = LoadElement(args.positions, args.positions.data, token);
  return position >= 0 && position < static_cast<double>(args.table.shape[0]);
}

// Turns one row of one head, of token `token`. `bound`, which may be NULL, gets what the arithmetic
// may be off by.
void Turn(const hy_rope_args& args, int64_t token, const double* x, double* y, double* bound) {
  const int64_t pairs = args.table.shape[1];
  const auto position =
      static_cast<int64_t>(LoadElement(args.positions, args.positions.data, token));
  for (int64_t i = 0; i < pairs; ++i) {
    const void* angle = hy_tensor_row(&args.table, position * pairs + i);
    const double c = LoadElement(args.table, angle, 0);
    const double s = LoadElement(args.table, angle, 1);
    const bool split = args.mode == HY_ROPE_SPLIT;
    const int64_t a = split ? i : 2 * i;
    const int64_t b = split ? i + pairs : 2 * i + 1;
    const double xa = x[a];
    const double xb = x[b];
    y[a] = xa * c - xb * s;
    y[b] = xa * s + xb * c;
    if (bound == nullptr) continue;
    bound[a] = 4 * 0x1p-24 * (std::abs(xa * c) + std::abs(xb * s));
    bound[b] = 4 * 0x1p-24 * (std::abs(xa * s) + std::abs(xb * c));
  }
}

uint64_t Scratch(const void* raw, uint32_t workers) {
  return ScratchBytes(workers, 2 * Args(raw).x.shape[2]);
}

hy_status Run(const void* raw, const hy_kernel_context* context) {
  const hy_rope_args& args = Args(raw);
  const int64_t dim = args.x.shape[2];
  double* x = ScratchSlice(*context, 2 * dim);
  double* y = x + dim;
  hy_status status = HY_OK;
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(&args.x), 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end && dim > 0; ++row) {
    const int64_t token = row / args.x.shape[1];
    LoadRow(args.x, row, x);
    for (int64_t d = 0; d < dim; ++d) y[d] = x[d];
    if (IsKnown(args, token)) {
      Turn(args, token, x, y, nullptr);
    } else {
      status = HY_OUT_OF_RANGE;
    }
    StoreRow(args.y, row, y);
  }
  return status;
}

absl::Status Expect(const void* raw, const Numerics& numerics, Expected* out) {
  const hy_rope_args& args = Args(raw);
  const auto dim = static_cast<size_t>(args.x.shape[2]);
  ExpectedOutput y(3);
  std::vector<double> x(dim);
  for (int64_t row = 0; row < hy_tensor_rows(&args.x) && dim > 0; ++row) {
    const int64_t token = row / args.x.shape[1];
    LoadRow(args.x, row, x.data());
    std::vector<double> turned = x;
    std::vector<double> bound(dim, 0);
    if (IsKnown(args, token)) {
      Turn(args, token, x.data(), turned.data(), bound.data());
    } else {
      out->status = HY_OUT_OF_RANGE;
    }
    y.value.insert(y.value.end(), turned.begin(), turned.end());
    y.bound.insert(y.bound.end(), bound.begin(), bound.end());
  }
  std::vector<size_t> copied;
  for (size_t i = 0; i < y.bound.size(); ++i) {
    if (y.bound[i] == 0) copied.push_back(i);
  }
  AddStorageBound(args.y, &y);
  for (const size_t i : copied) y.bound[i] = 0;
  if (numerics.flags & HY_KERNEL_FTZ) AllowFlush(args.y, &y);
  out->outputs.push_back(std::move(y));
  return absl::OkStatus();
}

constexpr hy_kernel_desc kKernel = {
    .struct_size = sizeof(hy_kernel_desc),
    .contract_version = HY_ROPE_VERSION,
    .id = "rope/any/reference@halyard",
    .op = "rope",
    .types = {},
    .isa = {},
    .activation = HY_QA_ANY,
    .accumulator = HY_ACC_F64,
    .priority = HY_PRIORITY_REFERENCE,
    .layout = HY_LAYOUT_CANONICAL,
    .phases = 1,
    .param_count = 0,
    .flags = HY_KERNEL_REFERENCE | HY_KERNEL_COUNT_INVARIANT | HY_KERNEL_ROW_INVARIANT,
    .params = nullptr,
    .supports = nullptr,
    .scratch_bytes = Scratch,
    .run = Run,
};

}  // namespace
}  // namespace halyard::reference

HALYARD_REFERENCE(rope, halyard::reference::kKernel, halyard::reference::Expect)
