// SPDX-License-Identifier: Apache-2.0
#include "hal/page_wish.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

// Longer lists are a mistake: no machine has so many nodes or page sizes.
constexpr uint32_t kMaxListed = 65'536;
constexpr uint64_t kKnownFlags = HY_ALLOC_PREFAULT | HY_ALLOC_ZERO | HY_ALLOC_IMMUTABLE;

bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

template <typename T>
absl::StatusOr<std::vector<T>> ReadList(const hy_array& array, const char* what) {
  if (array.count == 0) return std::vector<T>{};
  if (array.data == nullptr || array.stride < sizeof(T) || array.count > kMaxListed) {
    return absl::InvalidArgumentError(absl::StrCat("the list of ", what, " is malformed"));
  }
  std::vector<T> values(array.count);
  for (uint32_t i = 0; i < array.count; ++i) {
    std::memcpy(&values[i], hy_array_at(&array, i), sizeof(T));
  }
  return values;
}

absl::Status CheckEnums(const hy_alloc_desc& desc) {
  if (desc.node_policy > HY_NODES_INTERLEAVE) {
    return absl::InvalidArgumentError(absl::StrCat("no node policy ", desc.node_policy));
  }
  if (desc.node_strength > HY_REQUIRE || desc.page_strength > HY_REQUIRE) {
    return absl::InvalidArgumentError("strength is neither PREFER nor REQUIRE");
  }
  if (desc.usage > HY_USE_SCRATCH) {
    return absl::InvalidArgumentError(absl::StrCat("no usage ", desc.usage));
  }
  if ((desc.flags & ~kKnownFlags) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("unknown flags 0x", absl::Hex(desc.flags)));
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const hy_alloc_desc& desc) {
  if (desc.bytes == 0) return absl::InvalidArgumentError("an allocation of 0 bytes");
  if (desc.alignment != 0 && !IsPowerOfTwo(desc.alignment)) {
    return absl::InvalidArgumentError(
        absl::StrCat("alignment ", desc.alignment, " is no power of two"));
  }
  // Half the address space, so that sums with alignments and guard pages cannot overflow.
  constexpr uint64_t kMost = std::numeric_limits<size_t>::max() / 4;
  if (desc.bytes > kMost || desc.alignment > kMost) {
    return absl::ResourceExhaustedError(absl::StrCat(
        desc.bytes, " bytes aligned to ", desc.alignment, " do not fit into the address space"));
  }
  return absl::OkStatus();
}

absl::Status CheckNodes(const PageWish& wish) {
  const bool names_nodes =
      wish.node_policy == HY_NODES_BIND || wish.node_policy == HY_NODES_INTERLEAVE;
  if (!names_nodes && !wish.nodes.empty()) {
    return absl::InvalidArgumentError("nodes are listed, but the policy takes none");
  }
  if (wish.node_policy == HY_NODES_BIND && wish.nodes.empty()) {
    return absl::InvalidArgumentError("the policy BIND needs a list of nodes");
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t BasePageBytes() {
  static const uint64_t bytes = static_cast<uint64_t>(std::max(sysconf(_SC_PAGESIZE), 4'096L));
  return bytes;
}

absl::StatusOr<PageWish> ReadPageWish(const hy_alloc_desc& desc) {
  HY_RETURN_IF_ERROR(CheckSizes(desc));
  HY_RETURN_IF_ERROR(CheckEnums(desc));
  PageWish wish;
  wish.bytes = desc.bytes;
  wish.alignment = std::max(desc.alignment, BasePageBytes());
  wish.node_policy = desc.node_policy;
  wish.nodes_required = desc.node_strength == HY_REQUIRE;
  wish.pages_required = desc.page_strength == HY_REQUIRE;
  wish.prefault = (desc.flags & HY_ALLOC_PREFAULT) != 0;
  HY_ASSIGN_OR_RETURN(wish.nodes, ReadList<uint32_t>(desc.nodes, "nodes"));
  HY_ASSIGN_OR_RETURN(wish.rungs, ReadList<uint64_t>(desc.pages, "page sizes"));
  HY_RETURN_IF_ERROR(CheckNodes(wish));
  for (const uint64_t rung : wish.rungs) {
    if (rung != HY_PAGE_BASE && !IsPowerOfTwo(rung)) {
      return absl::InvalidArgumentError(absl::StrCat("page size ", rung, " is no power of two"));
    }
  }
  if (wish.rungs.empty() || !wish.pages_required) wish.rungs.push_back(HY_PAGE_BASE);
  return wish;
}

}  // namespace halyard::hal
