// SPDX-License-Identifier: Apache-2.0
//
// Inner part of pages.h: an hy_alloc_desc, checked and with its lists owned.
#ifndef HALYARD_HAL_PAGE_WISH_H_
#define HALYARD_HAL_PAGE_WISH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "halyard/hal.h"

namespace halyard::hal {

struct PageWish {
  uint64_t bytes = 0;
  uint64_t alignment = 0;  ///< at least the base page
  uint32_t node_policy = HY_NODES_DEFAULT;
  bool nodes_required = false;
  std::vector<uint32_t> nodes;
  std::vector<uint64_t> rungs;  ///< page sizes and HY_PAGE_*, most wanted first; never empty
  bool pages_required = false;
  bool prefault = false;
};

/// Errors   INVALID_ARGUMENT, RESOURCE_EXHAUSTED: larger than the address space.
absl::StatusOr<PageWish> ReadPageWish(const hy_alloc_desc& desc);

/// The system's base page.
uint64_t BasePageBytes();

/// `bytes` rounded up to a multiple of `unit`, a power of two. The sum must not overflow.
constexpr uint64_t RoundUp(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) & ~(unit - 1);
}

}  // namespace halyard::hal

#endif  // HALYARD_HAL_PAGE_WISH_H_
