// SPDX-License-Identifier: Apache-2.0
//
// Inner part of pages.h: one rung of the ladder, mapped and brought in.
#ifndef HALYARD_HAL_PAGE_MAP_H_
#define HALYARD_HAL_PAGE_MAP_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace halyard::hal {

/// A mapping of ours: the range that is given out, and all that was mapped for it.
struct Region {
  void* ptr = nullptr;
  size_t bytes = 0;  ///< from ptr, whole pages
  void* mapped = nullptr;
  size_t mapped_bytes = 0;  ///< with the guard pages around
};

/// Maps base pages, readable and writable, at a multiple of `alignment`, with a page on either side
/// that faults. The guards catch overruns, and keep the kernel from joining two mappings into one
/// area: the area's counts are then exactly of this range. 0 or an errno.
int MapBase(uint64_t bytes, uint64_t alignment, Region* out_region);

/// Maps reserved huge pages. Without NORESERVE, so that an empty pool fails here. 0 or an errno:
/// EINVAL no such size, ENOMEM none free.
int MapHuge(uint64_t bytes, uint64_t alignment, uint64_t page_bytes, Region* out_region);

/// 0 or an errno.
int Unmap(const Region& region);

/// Brings every page in, writable, by calls that return an error where a touch would raise SIGBUS.
/// 0 or an errno: ENOMEM or EFAULT when there is no page.
int Populate(const Region& region, uint64_t page_bytes);

/// What Populate does for kernels before 5.14 and emulators that pass the advice over: reads one
/// byte of /dev/zero into each page, so that the kernel touches it and says EFAULT where it cannot.
int TouchPages(const Region& region, uint64_t page_bytes);

/// Reads a byte of every `step_bytes`-th page of a range that is in memory, by a call that returns an
/// error where a load would raise a signal. Never brings a page in. Returns the bytes read.
size_t ReadPresentPages(const void* ptr, uint64_t bytes, uint64_t step_bytes);

/// Largest page that the kernel builds of base pages by itself; 0 if it does not.
uint64_t TransparentPageBytes();

/// Advises transparent huge pages. 0 or an errno.
int AdviseTransparent(const Region& region);

/// Asks the kernel to build huge pages of a range that is present; does what it can.
void CollapseTransparent(const Region& region);

/// Asks for base pages only, also where the system uses huge ones by itself. 0 or an errno.
int ForbidTransparent(const Region& region);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_PAGE_MAP_H_
