// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_BASE_MONOTONIC_CLOCK_H_
#define HALYARD_BASE_MONOTONIC_CLOCK_H_

#include <cstdint>
#include <ctime>

namespace halyard {

/// Nanoseconds of a clock of clock_gettime(2); 0 if the system has no such clock.
inline uint64_t ClockNs(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

/// CLOCK_MONOTONIC, the clock of deadlines.
inline uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }

/// CLOCK_MONOTONIC_RAW, the clock of timestamps: not slewed.
inline uint64_t MonotonicRawNs() { return ClockNs(CLOCK_MONOTONIC_RAW); }

}  // namespace halyard

#endif  // HALYARD_BASE_MONOTONIC_CLOCK_H_
