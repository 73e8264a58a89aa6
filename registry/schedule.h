// SPDX-License-Identifier: Apache-2.0
//
// When each step of a plan runs, and where its scratch lies: as few levels as the data needs.
#ifndef HALYARD_REGISTRY_SCHEDULE_H_
#define HALYARD_REGISTRY_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "registry/registry.h"

namespace halyard::registry {

/// An op and its args, as large as they may become.
struct Call {
  const Op* op = nullptr;
  const void* args = nullptr;
};

/// For each call, the earlier ones that it has to wait for: it reads what they write, or writes what
/// they read or write. Those that follow from others are left out.
using Dependencies = std::vector<std::vector<uint32_t>>;
Dependencies FindDependencies(absl::Span<const Call> calls);

struct ScheduleStep {
  uint32_t phases = 1;  ///< levels that it takes, one after the other
  uint64_t bytes = 0;   ///< of memory that is its own while it runs
};

struct Slot {
  size_t first_level = 0;
  uint64_t offset = 0;  ///< of its bytes, a multiple of 64
};

struct Schedule {
  std::vector<Slot> slots;  ///< one a step
  size_t levels = 0;
  uint64_t bytes = 0;
};

/// Each step as early as what it waits for allows. Steps whose levels overlap have memory apart.
Schedule MakeSchedule(absl::Span<const ScheduleStep> steps, const Dependencies& dependencies);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_SCHEDULE_H_
