// SPDX-License-Identifier: Apache-2.0
#include "hal/fence_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "base/status_macros.h"

namespace halyard::hal {
namespace {

hy_array InArray(const std::vector<hy_fence_point>& points) {
  hy_array array{};
  // The callee only reads an in-array; the type of the field is that of out-arrays.
  array.data = const_cast<hy_fence_point*>(points.data());
  array.count = static_cast<uint32_t>(points.size());
  array.stride = sizeof(hy_fence_point);
  return array;
}

absl::Status WaitOnPort(DeviceState& device, absl::Span<const ObjectPoint> points, uint32_t mode,
                        uint64_t deadline_ns, absl::Span<uint64_t> out_values) {
  std::vector<hy_fence_point> port_points;
  port_points.reserve(points.size());
  for (const ObjectPoint& point : points) {
    port_points.push_back({point.fence->port_fence(), point.value});
  }
  hy_wait_desc desc{};
  desc.struct_size = sizeof desc;
  desc.mode = mode;
  desc.points = InArray(port_points);
  desc.deadline_ns = deadline_ns;
  desc.out_values = out_values.empty() ? nullptr : out_values.data();
  // Not Check: anybody may fail a fence with DATA_LOSS, and that does not lose the device.
  return device.Describe(device.api().fence_wait(device.handle(), &desc), "fence_wait");
}

absl::Status WaitOnCore(absl::Span<const ObjectPoint> points, uint32_t mode, uint64_t deadline_ns,
                        absl::Span<uint64_t> out_values) {
  std::vector<Timeline::Point> core_points;
  core_points.reserve(points.size());
  for (const ObjectPoint& point : points) {
    core_points.push_back({&point.fence->timeline(), point.value});
  }
  return Timeline::Wait(core_points, mode, deadline_ns, out_values);
}

}  // namespace

absl::StatusOr<std::shared_ptr<FenceObject>> FenceObject::Create(
    std::shared_ptr<DeviceState> device, uint64_t initial) {
  hy_fence* port_fence = nullptr;
  if (device->has_port_fences()) {
    const hy_hal_api& api = device->api();
    HY_RETURN_IF_ERROR(
        device->Check(api.fence_create(device->handle(), initial, &port_fence), "fence_create"));
    if (port_fence == nullptr) {
      return absl::InternalError("fence_create of the port said OK and gave no fence");
    }
  }
  return std::shared_ptr<FenceObject>(new FenceObject(std::move(device), port_fence, initial));
}

FenceObject::FenceObject(std::shared_ptr<DeviceState> device, hy_fence* port_fence,
                         uint64_t initial)
    : device_(std::move(device)), port_fence_(port_fence), timeline_(initial) {}

FenceObject::~FenceObject() {
  if (port_fence_ != nullptr) device_->api().release(HY_KIND_FENCE, port_fence_);
}

absl::Status FenceObject::Signal(uint64_t value, const absl::Status& status) {
  if (port_fence_ == nullptr) return timeline_.Signal(value, status);
  return device_->Check(device_->api().fence_signal(port_fence_, value, FromStatus(status)),
                        "fence_signal");
}

absl::StatusOr<uint64_t> FenceObject::Value() const {
  if (port_fence_ == nullptr) return timeline_.Value();
  const ObjectPoint point{this, 0};
  uint64_t value = 0;
  HY_RETURN_IF_ERROR(WaitOnPort(*device_, absl::MakeConstSpan(&point, 1), HY_WAIT_ALL,
                                HY_DEADLINE_POLL, absl::MakeSpan(&value, 1)));
  return value;
}

bool FenceObject::IsSettled(uint64_t value) const {
  const absl::StatusOr<uint64_t> reached = Value();
  return !reached.ok() || *reached >= value;
}

void FenceObject::AddWait(uint64_t value) {
  std::lock_guard<std::mutex> lock(mutex_);
  waited_.push_back(value);
}

void FenceObject::RemoveWait(uint64_t value) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find(waited_.begin(), waited_.end(), value);
    if (found != waited_.end()) waited_.erase(found);
  }
  CancelIfHopeless();
}

void FenceObject::Abandon() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    abandoned_ = true;
  }
  CancelIfHopeless();
}

void FenceObject::CancelIfHopeless() {
  uint64_t least = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!abandoned_ || waited_.empty()) return;
    least = *std::min_element(waited_.begin(), waited_.end());
  }
  // A failure is seen by waits for values reached before, too: these must be over first. The value
  // can change no more, since nobody is left to signal it.
  if (IsSettled(least)) return;
  const absl::Status ignored = Signal(
      0, absl::CancelledError("cancelled: nobody can signal the fence that the work waits for"));
  (void)ignored;
}

absl::Status WaitForPoints(DeviceState& device, absl::Span<const ObjectPoint> points, uint32_t mode,
                           uint64_t deadline_ns, absl::Span<uint64_t> out_values) {
  if (points.empty()) {
    if (mode == HY_WAIT_ALL) return absl::OkStatus();
    return absl::InvalidArgumentError("a wait for any of no points can never be met");
  }
  return device.has_port_fences() ? WaitOnPort(device, points, mode, deadline_ns, out_values)
                                  : WaitOnCore(points, mode, deadline_ns, out_values);
}

}  // namespace halyard::hal
