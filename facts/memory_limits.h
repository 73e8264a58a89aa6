// SPDX-License-Identifier: Apache-2.0
//
// How much memory this process can still have, and who limits it.
#ifndef HALYARD_FACTS_MEMORY_LIMITS_H_
#define HALYARD_FACTS_MEMORY_LIMITS_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "hal/system_view.h"

namespace halyard::facts {

/// All in bytes; what the system does not tell is empty.
struct MemoryLimits {
  std::optional<uint64_t> total;
  std::optional<uint64_t> available;  ///< free, or in caches that can go
  std::optional<uint64_t> cgroup;     ///< the least limit on the way up, if below the total
  std::optional<uint64_t> fillable;   ///< what machine and group leave, without swap
  std::optional<uint64_t> swap_used;
  std::optional<uint64_t> address_space;  ///< of this process (ulimit -v)
  std::optional<uint64_t> commit_left;    ///< with vm.overcommit_memory=2: left to promise
};

MemoryLimits ReadMemoryLimits(const hal::SystemView& view);

/// The bytes of a line "MemFree:  1024 kB" of a meminfo file. Lines of a node begin "Node 0 ".
std::optional<uint64_t> MeminfoBytes(absl::string_view text, absl::string_view key);

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_MEMORY_LIMITS_H_
