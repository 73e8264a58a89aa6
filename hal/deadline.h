// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_HAL_DEADLINE_H_
#define HALYARD_HAL_DEADLINE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace halyard::hal {

/// Waits until `holds()` or until an absolute CLOCK_MONOTONIC time; returns holds().
template <typename Predicate>
bool WaitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
               uint64_t deadline_ns, Predicate holds) {
  // Beyond what a 32-bit time_t counts in seconds, a deadline is as good as none.
  if (deadline_ns / 1'000'000'000u > static_cast<uint64_t>(INT32_MAX)) {
    changed.wait(lock, holds);
    return true;
  }
  // steady_clock is CLOCK_MONOTONIC on Linux, so its epoch is that of deadlines.
  using std::chrono::steady_clock;
  const std::chrono::nanoseconds since_epoch(static_cast<int64_t>(deadline_ns));
  return changed.wait_until(lock, steady_clock::time_point(since_epoch), holds);
}

}  // namespace halyard::hal

#endif  // HALYARD_HAL_DEADLINE_H_
