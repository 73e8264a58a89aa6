// SPDX-License-Identifier: Apache-2.0
//
// The core's timeline fence: the default of the fence verbs.
#ifndef HALYARD_HAL_TIMELINE_H_
#define HALYARD_HAL_TIMELINE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// A 64-bit value that only grows, or a failure that stays. Threads: any.
class Timeline {
 public:
  explicit Timeline(uint64_t initial);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// As `fence_signal`; a status that is not OK fails the timeline and the value is not used.
  absl::Status Signal(uint64_t value, const absl::Status& status = absl::OkStatus());

  /// The value reached, or the failure.
  absl::StatusOr<uint64_t> Value() const;

  struct Point {
    const Timeline* timeline;
    uint64_t value;
  };

  /// As `fence_wait`; `out_values` is empty or has one place for each point.
  static absl::Status Wait(absl::Span<const Point> points, uint32_t mode, uint64_t deadline_ns,
                           absl::Span<uint64_t> out_values = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_TIMELINE_H_
