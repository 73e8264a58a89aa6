// SPDX-License-Identifier: Apache-2.0
//
// Copies of inputs that an op would overwrite, for the case that its kernel fails half-way.
//
// Needed where an output lies in an input's memory and the kernel is not built in. A plugin's kernel
// that fails is then run again on the reference, which reads the copy.
#ifndef HALYARD_REGISTRY_SNAPSHOT_H_
#define HALYARD_REGISTRY_SNAPSHOT_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "halyard/kernel.h"
#include "registry/args.h"
#include "registry/region.h"
#include "registry/registry.h"

namespace halyard::registry {

/// One operand and where its copy is.
struct Snapshot {
  uint32_t operand = 0;
  hy_tensor from{};
  hy_tensor copy{};  ///< dense
};

/// The operands of a call that have to be copied before `kernel` runs it; none if it is built in or
/// nothing is in place. Their copies have no memory until PlaceSnapshots.
std::vector<Snapshot> PlanSnapshots(const Kernel& kernel, const void* args);
uint64_t SnapshotBytes(absl::Span<const Snapshot> snapshots);
void PlaceSnapshots(unsigned char* memory, absl::Span<Snapshot> snapshots);

/// The same snapshot for a tensor of another shape, no larger than it was planned for.
Snapshot SnapshotOf(const hy_tensor& tensor, const Snapshot& planned);

/// A phase that copies; `snapshot` is borrowed as its args.
Item SnapshotItem(const Snapshot& snapshot, uint32_t step);

/// Lets args read the copies.
void UseSnapshots(absl::Span<const Snapshot> snapshots, ArgsCopy* args);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_SNAPSHOT_H_
