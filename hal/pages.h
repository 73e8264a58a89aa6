// SPDX-License-Identifier: Apache-2.0
//
// Pages of the host by a ladder of wishes, and the readback of what the system gave.
#ifndef HALYARD_HAL_PAGES_H_
#define HALYARD_HAL_PAGES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// hy_placement with its array owned.
struct Placement {
  uint64_t known = 0;
  uint64_t page_bytes = 0;
  uint64_t huge_bytes = 0;
  uint64_t resident_bytes = 0;
  uint64_t reasons = 0;
  std::vector<hy_node_bytes> nodes;
};

/// Allocates by hal.h's `alloc` contract from the host's memory. For each entry of desc->pages:
/// map (hugetlb with reservation, never NORESERVE), set the node policy before the first touch,
/// populate with a call that returns an error; else the next entry. The populate step runs when
/// PREFAULT or a huge page is asked for. Errors as `alloc`.
/// Owns     the range is owned by the caller; FreePages gives it back. Threads: any.
absl::StatusOr<void*> AllocatePages(const hy_alloc_desc& desc, Placement* out_placement);

/// Errors   INVALID_ARGUMENT: not from AllocatePages, or freed before.
absl::Status FreePages(void* ptr);

/// Placement of any range of this process: page sizes from smaps, nodes by asking for the node of
/// up to 1,024 evenly spread pages (exact when there are fewer). What the system does not tell (no
/// such call, an emulator) is not in `known`.
Placement QueryPages(const void* ptr, uint64_t bytes);

/// Page sizes that the kernel lists, in bytes, the base page first.
std::vector<uint64_t> ListPageSizes();

/// Copies into the caller's C struct by the size and array rules.
hy_status ExportPlacement(const Placement& placement, hy_placement* out);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_PAGES_H_
