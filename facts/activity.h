// SPDX-License-Identifier: Apache-2.0
//
// What else goes on: whether figures measured now can be believed.
#ifndef HALYARD_FACTS_ACTIVITY_H_
#define HALYARD_FACTS_ACTIVITY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "facts/findings.h"
#include "hal/system_view.h"

namespace halyard::facts {

/// Counters since the machine or the group started. The difference of two tells what happened in
/// between; what the system does not count is empty.
struct Activity {
  std::optional<uint64_t> throttled_times;  ///< over all levels of the CPU controller
  std::optional<uint64_t> throttled_us;
  std::optional<uint64_t> busy_ns;    ///< of all CPUs and all processes, without what was stolen
  std::optional<uint64_t> stolen_ns;  ///< CPUs that were wanted, and given to other machines
  uint64_t own_ns = 0;                ///< CPU time of this process
  uint64_t at_ns = 0;
};

/// Reads the counters of a live view; `own_ns` and `at_ns` are of this process.
Activity ReadActivity(const hal::SystemView& view);

/// Load at the start, from the file alone: figures taken beside other work are noisy.
std::vector<Finding> LookAtLoad(const hal::SystemView& view, const hal::Topology& whole);

/// What disturbed the time between two readings, on a machine with `cpus` CPUs online.
std::vector<Finding> LookAtActivity(const Activity& before, const Activity& after, uint32_t cpus);

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_ACTIVITY_H_
