// SPDX-License-Identifier: Apache-2.0
#include "registry/snapshot.h"

#include <cstring>

namespace halyard::registry {
namespace {

uint64_t CopyBytes(const hy_tensor& copy) { return hy_round_up(ExtentBytes(copy), 64); }

hy_status CopyRows(const void* raw, const hy_kernel_context* context) {
  const Snapshot& snapshot = *static_cast<const Snapshot*>(raw);
  const uint64_t row_bytes = hy_type_row_bytes(snapshot.from.type, hy_tensor_cols(&snapshot.from));
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(&snapshot.from), 1, context->index, context->count, &begin, &end);
  for (int64_t row = begin; row < end; ++row) {
    std::memcpy(hy_tensor_row(&snapshot.copy, row), hy_tensor_row(&snapshot.from, row),
                static_cast<size_t>(row_bytes));
  }
  return HY_OK;
}

}  // namespace

std::vector<Snapshot> PlanSnapshots(const Kernel& kernel, const void* args) {
  std::vector<Snapshot> snapshots;
  if (kernel.source().built_in) return snapshots;
  for (uint32_t i = 0; i < kernel.op().operands().size(); ++i) {
    if (!IsInPlace(kernel.op(), args, i)) continue;
    const hy_tensor& from = kernel.op().tensor(i, args);
    snapshots.push_back({i, from, hy_tensor_dense(nullptr, from.type, from.rank, from.shape)});
  }
  return snapshots;
}

uint64_t SnapshotBytes(absl::Span<const Snapshot> snapshots) {
  uint64_t bytes = 0;
  for (const Snapshot& snapshot : snapshots) bytes += CopyBytes(snapshot.copy);
  return bytes;
}

void PlaceSnapshots(unsigned char* memory, absl::Span<Snapshot> snapshots) {
  for (Snapshot& snapshot : snapshots) {
    snapshot.copy.data = memory;
    memory += CopyBytes(snapshot.copy);
  }
}

Snapshot SnapshotOf(const hy_tensor& tensor, const Snapshot& planned) {
  return {planned.operand, tensor,
          hy_tensor_dense(planned.copy.data, tensor.type, tensor.rank, tensor.shape)};
}

Item SnapshotItem(const Snapshot& snapshot, uint32_t step) {
  Item item;
  item.run = &CopyRows;
  item.args = &snapshot;
  item.step = step;
  return item;
}

void UseSnapshots(absl::Span<const Snapshot> snapshots, ArgsCopy* args) {
  for (const Snapshot& snapshot : snapshots) args->tensor(snapshot.operand) = snapshot.copy;
}

}  // namespace halyard::registry
