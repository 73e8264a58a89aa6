// SPDX-License-Identifier: Apache-2.0
//
// Trap 3: memory that fails late, and pages that are claimed.
#include <sys/mman.h>

#include <algorithm>

#include "conformance/mutants/mutants.h"
#include "halyard/hal_port.h"

namespace halyard::conformance {
namespace {

using mutants::CopyOf;
using mutants::Good;

constexpr uint64_t kHugePage = UINT64_C(2) << 20;

hy_status AllocWithoutPrefault(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                               hy_placement* out_placement) {
  if (desc == nullptr) return Good().alloc(device, desc, out_buffer, out_placement);
  hy_alloc_desc lazy = CopyOf(desc);
  lazy.struct_size =
      desc->struct_size <= sizeof lazy ? desc->struct_size : static_cast<uint32_t>(sizeof lazy);
  lazy.flags &= ~HY_ALLOC_PREFAULT;
  return Good().alloc(device, &lazy, out_buffer, out_placement);
}

hy_status AllocClaimsHugePages(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                               hy_placement* out_placement) {
  const hy_status status = Good().alloc(device, desc, out_buffer, out_placement);
  if (status != HY_OK || out_placement == nullptr) return status;
  const hy_alloc_desc wish = CopyOf(desc);
  if (wish.pages.count == 0) return status;
  out_placement->known |= HY_KNOWN_PAGES;
  out_placement->page_bytes = kHugePage;
  out_placement->huge_bytes = wish.bytes;
  return status;
}

// Pages of a size without a reservation: the touch fails, not the call.
hy_status AllocWithoutReserve(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                              hy_placement* out_placement) {
  hy_alloc_desc wish = CopyOf(desc);
  const bool wants_huge = wish.pages.count > 0 && wish.pages.data != nullptr &&
                          *static_cast<const uint64_t*>(wish.pages.data) == kHugePage;
  if (!wants_huge || wish.bytes % kHugePage != 0) {
    return Good().alloc(device, desc, out_buffer, out_placement);
  }
  wish.struct_size = sizeof wish;
  wish.pages = hy_array{};
  wish.page_strength = HY_PREFER;
  wish.alignment = std::max(wish.alignment, kHugePage);
  const hy_status status = Good().alloc(device, &wish, out_buffer, out_placement);
  if (status != HY_OK) return status;
  hy_map_desc map{};
  map.struct_size = sizeof map;
  map.bytes = wish.bytes;
  map.access = HY_MAP_READ | HY_MAP_WRITE;
  void* pages = nullptr;
  if (Good().map(*out_buffer, &map, &pages) != HY_OK) return HY_INTERNAL;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  const auto bytes = static_cast<size_t>(wish.bytes);
  if (mmap(pages, bytes, PROT_READ | PROT_WRITE, flags | MAP_HUGETLB, -1, 0) == MAP_FAILED) {
    // A kernel without such pages: the same late fault by another means.
    mmap(pages, bytes, PROT_NONE, flags, -1, 0);
  }
  return HY_OK;
}

hy_status AllocDropsRequire(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                            hy_placement* out_placement) {
  hy_alloc_desc wish = CopyOf(desc);
  if (desc == nullptr || wish.page_strength != HY_REQUIRE) {
    return Good().alloc(device, desc, out_buffer, out_placement);
  }
  wish.struct_size = sizeof wish;
  wish.page_strength = HY_PREFER;
  return Good().alloc(device, &wish, out_buffer, out_placement);
}

hy_status AllocHidesReasons(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                            hy_placement* out_placement) {
  const hy_status status = Good().alloc(device, desc, out_buffer, out_placement);
  if (status == HY_OK && out_placement != nullptr) out_placement->reasons = 0;
  return status;
}

// Hands out memory as it was left.
hy_status AllocDirty(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                     hy_placement* out_placement) {
  const hy_status status = Good().alloc(device, desc, out_buffer, out_placement);
  if (status != HY_OK) return status;
  hy_map_desc map{};
  map.struct_size = sizeof map;
  map.bytes = 1;
  map.access = HY_MAP_WRITE;
  map.offset = CopyOf(desc).bytes - 1;
  void* last = nullptr;
  if (Good().map(*out_buffer, &map, &last) == HY_OK) *static_cast<uint8_t*>(last) = 0xff;
  return status;
}

}  // namespace

MutantTable MemoryMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM11", 3, "alloc leaves the pages to the first touch although PREFAULT is asked for",
       "linux", "HAL-MEM-*", [](hy_hal_api* table) { table->alloc = &AllocWithoutPrefault; }},
      {"HM12", 3, "alloc reports huge pages for whoever wished for any", "linux", "HAL-MEM-*",
       [](hy_hal_api* table) { table->alloc = &AllocClaimsHugePages; }},
      {"HM13", 3, "alloc of huge pages reserves none: the touch faults", "linux", "HAL-MEM-*",
       [](hy_hal_api* table) { table->alloc = &AllocWithoutReserve; }},
      {"HM14", 3, "alloc takes a required page size as a preference", "linux", "HAL-MEM-*",
       [](hy_hal_api* table) { table->alloc = &AllocDropsRequire; }},
      {"HM15", 3, "alloc falls back without a reason", "linux", "HAL-MEM-*",
       [](hy_hal_api* table) { table->alloc = &AllocHidesReasons; }},
      {"HM16", 3, "memory asked for as zero is not zero at its end", "linux", "HAL-MEM-*",
       [](hy_hal_api* table) { table->alloc = &AllocDirty; }},
  };
  return kMutants;
}

}  // namespace halyard::conformance
