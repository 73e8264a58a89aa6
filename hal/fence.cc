// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hal/device.h"
#include "hal/fence_state.h"

namespace halyard::hal {
namespace {

/// True if a wait for points that are not reached waits for work that cannot go on before this
/// thread does: for ALL one such point is enough, for ANY each must be one.
bool WaitsForItself(absl::Span<const ObjectPoint> points, uint32_t mode) {
  for (const HostCallScope* scope = HostCallScope::Current(); scope != nullptr;
       scope = scope->outer()) {
    const QueueRecord& record = *scope->record();
    size_t own = 0;
    for (const ObjectPoint& point : points) {
      if (point.fence->IsSettled(point.value)) continue;
      std::lock_guard<std::mutex> lock(record.table->mutex);
      if (record.table->WillSignalLocked(record, *point.fence, point.value)) ++own;
    }
    if (own > 0 && (mode == HY_WAIT_ALL || own == points.size())) return true;
  }
  return false;
}

absl::Status Wait(DeviceState& device, absl::Span<const ObjectPoint> points, uint32_t mode,
                  uint64_t deadline_ns, absl::Span<uint64_t> out_values = {}) {
  HY_RETURN_IF_ERROR(device.CheckUsable());
  if (HostCallScope::Current() != nullptr && deadline_ns != HY_DEADLINE_POLL) {
    const absl::Status polled = WaitForPoints(device, points, mode, HY_DEADLINE_POLL, out_values);
    if (!absl::IsDeadlineExceeded(polled)) return polled;
    if (WaitsForItself(points, mode)) {
      return absl::FailedPreconditionError(
          "a host call cannot wait for a signal of its own queue: it would wait for itself");
    }
  }
  return WaitForPoints(device, points, mode, deadline_ns, out_values);
}

}  // namespace

Fence::Fence(std::shared_ptr<FenceState> state) : state_(std::move(state)) {}
Fence::Fence(Fence&&) noexcept = default;
Fence& Fence::operator=(Fence&&) noexcept = default;
Fence::~Fence() = default;

absl::Status Fence::Signal(uint64_t value, const absl::Status& status) const {
  return state_->object()->Signal(value, status);
}

absl::StatusOr<uint64_t> Fence::Value() const {
  HY_RETURN_IF_ERROR(state_->object()->device()->CheckUsable());
  return state_->object()->Value();
}

absl::Status Fence::Wait(uint64_t value, uint64_t deadline_ns) const {
  const ObjectPoint point{state_->object().get(), value};
  return hal::Wait(*state_->object()->device(), absl::MakeConstSpan(&point, 1), HY_WAIT_ALL,
                   deadline_ns);
}

absl::StatusOr<Fence> Device::CreateFence(uint64_t initial) const {
  HY_RETURN_IF_ERROR(state_->CheckUsable());
  HY_ASSIGN_OR_RETURN(std::shared_ptr<FenceObject> object, FenceObject::Create(state_, initial));
  return Fence(std::make_shared<FenceState>(std::move(object)));
}

absl::StatusOr<std::vector<ObjectPoint>> Device::ResolvePoints(
    absl::Span<const FencePoint> points) const {
  std::vector<ObjectPoint> resolved;
  resolved.reserve(points.size());
  for (const FencePoint& point : points) {
    if (point.fence == nullptr) return absl::InvalidArgumentError("a point without a fence");
    const FenceObject* object = point.fence->state_->object().get();
    if (object->device() != state_) {
      return absl::InvalidArgumentError("the fence belongs to another device: wait for it there");
    }
    resolved.push_back({object, point.value});
  }
  return resolved;
}

absl::Status Device::WaitAll(absl::Span<const FencePoint> points, uint64_t deadline_ns) const {
  HY_ASSIGN_OR_RETURN(const std::vector<ObjectPoint> resolved, ResolvePoints(points));
  return hal::Wait(*state_, resolved, HY_WAIT_ALL, deadline_ns);
}

absl::StatusOr<size_t> Device::WaitAny(absl::Span<const FencePoint> points,
                                       uint64_t deadline_ns) const {
  HY_ASSIGN_OR_RETURN(const std::vector<ObjectPoint> resolved, ResolvePoints(points));
  HY_RETURN_IF_ERROR(hal::Wait(*state_, resolved, HY_WAIT_ANY, deadline_ns));
  // Asked one by one: the value reached of a fence that has failed would not tell that it has.
  absl::Status failure;
  for (size_t i = 0; i < resolved.size(); ++i) {
    const absl::StatusOr<uint64_t> value = resolved[i].fence->Value();
    if (value.ok() && *value >= resolved[i].value) return i;
    if (failure.ok()) failure = value.status();
  }
  return failure.ok() ? absl::InternalError("the wait ended though no point holds") : failure;
}

}  // namespace halyard::hal
