// SPDX-License-Identifier: Apache-2.0
//
// A fence in two parts: the timeline itself, kept by whoever waits for it, and the right to signal
// it, kept by handles and by accepted work. When the right is gone, waiting work is cancelled.
#ifndef HALYARD_HAL_FENCE_STATE_H_
#define HALYARD_HAL_FENCE_STATE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/device_state.h"
#include "hal/timeline.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// A timeline of the port, or of the core where the port has none. Threads: any.
class FenceObject {
 public:
  static absl::StatusOr<std::shared_ptr<FenceObject>> Create(std::shared_ptr<DeviceState> device,
                                                             uint64_t initial);
  ~FenceObject();
  FenceObject(const FenceObject&) = delete;
  FenceObject& operator=(const FenceObject&) = delete;

  absl::Status Signal(uint64_t value, const absl::Status& status);
  absl::StatusOr<uint64_t> Value() const;

  /// True if a wait for `value` would return at once, with success or failure.
  bool IsSettled(uint64_t value) const;

  /// Accepted work begins and ends to wait for a value.
  void AddWait(uint64_t value);
  void RemoveWait(uint64_t value);

  /// Nobody can signal any more. Work that waits for a value not reached fails with CANCELLED; work
  /// whose value was reached, and has not noticed yet, goes first.
  void Abandon();

  const std::shared_ptr<DeviceState>& device() const { return device_; }
  hy_fence* port_fence() const { return port_fence_; }  ///< nullptr: the core's
  const Timeline& timeline() const { return timeline_; }

 private:
  FenceObject(std::shared_ptr<DeviceState> device, hy_fence* port_fence, uint64_t initial);
  void CancelIfHopeless();

  const std::shared_ptr<DeviceState> device_;
  hy_fence* const port_fence_;
  Timeline timeline_;
  std::mutex mutex_;
  std::vector<uint64_t> waited_;  ///< values that accepted work waits for, in no order
  bool abandoned_ = false;
};

/// The right to signal.
class FenceState {
 public:
  explicit FenceState(std::shared_ptr<FenceObject> object) : object_(std::move(object)) {}
  ~FenceState() { object_->Abandon(); }
  FenceState(const FenceState&) = delete;
  FenceState& operator=(const FenceState&) = delete;

  const std::shared_ptr<FenceObject>& object() const { return object_; }

 private:
  const std::shared_ptr<FenceObject> object_;
};

struct ObjectPoint {
  const FenceObject* fence = nullptr;
  uint64_t value = 0;
};

/// As `fence_wait`, for fences of one device. `out_values` is empty or has one place for each.
absl::Status WaitForPoints(DeviceState& device, absl::Span<const ObjectPoint> points, uint32_t mode,
                           uint64_t deadline_ns, absl::Span<uint64_t> out_values = {});

}  // namespace halyard::hal

#endif  // HALYARD_HAL_FENCE_STATE_H_
