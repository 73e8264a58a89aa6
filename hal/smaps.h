// SPDX-License-Identifier: Apache-2.0
//
// Inner part of pages.h: what /proc/<pid>/smaps says of a range of addresses.
#ifndef HALYARD_HAL_SMAPS_H_
#define HALYARD_HAL_SMAPS_H_

#include <cstdint>
#include <cstdio>
#include <vector>

namespace halyard::hal {

/// One mapped area. The numbers are of the whole area.
struct SmapsArea {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t page_bytes = 0;         ///< KernelPageSize
  uint64_t present_bytes = 0;      ///< Rss, and what is in reserved huge pages
  uint64_t transparent_bytes = 0;  ///< in transparent huge pages, of any kind of memory
  bool huge_advised = false;       ///< the kernel took the advice to use huge pages
};

/// Areas that overlap [begin, end), ascending. Lines that it does not know are passed over.
/// Source   Linux Documentation/filesystems/proc.rst.
std::vector<SmapsArea> ReadSmaps(std::FILE* file, uint64_t begin, uint64_t end);

/// Of this process. Empty if the system does not tell.
std::vector<SmapsArea> ReadOwnSmaps(uint64_t begin, uint64_t end);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_SMAPS_H_
