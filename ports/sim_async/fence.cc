// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>
#include <limits>

#include "ports/sim_async/engine.h"

namespace halyard::sim_async {
namespace {

using port_kit::As;
using port_kit::Report;

hy_fence_point PointAt(const hy_array& array, uint32_t index) {
  hy_fence_point point;
  std::memcpy(&point, hy_array_at(&array, index), sizeof point);
  return point;
}

}  // namespace

hy_status Fence::SignalLocked(uint64_t new_value, hy_status status) {
  if (failure != HY_OK) {
    return Report(host, HY_FAILED_PRECONDITION, "the fence has failed with %s and stays so",
                  hy_status_name(failure));
  }
  if (status != HY_OK) {
    failure = status;
    return HY_OK;
  }
  if (new_value <= value) {
    return Report(host, HY_INVALID_ARGUMENT, "a fence only grows: it is at %llu already",
                  static_cast<unsigned long long>(value));
  }
  value = new_value;
  return HY_OK;
}

bool PointsAreValid(const Device& device, const hy_array& array) {
  if (array.count == 0) return true;
  if (array.data == nullptr || array.stride < sizeof(hy_fence_point)) return false;
  for (uint32_t i = 0; i < array.count; ++i) {
    const auto* fence = As<Fence>(PointAt(array, i).fence);
    if (fence == nullptr || fence->device != &device) return false;
  }
  return true;
}

WaitState EvaluateLocked(const hy_array& points, uint32_t mode, uint64_t* out_values) {
  uint32_t reached = 0;
  hy_status failure = HY_OK;
  for (uint32_t i = 0; i < points.count; ++i) {
    const hy_fence_point point = PointAt(points, i);
    const auto* fence = As<Fence>(point.fence);
    if (out_values != nullptr) out_values[i] = fence->value;
    if (fence->failure != HY_OK) {
      if (failure == HY_OK) failure = fence->failure;
    } else if (fence->value >= point.value) {
      ++reached;
    }
  }
  if (mode == HY_WAIT_ANY && reached > 0) return {true, HY_OK};
  if (failure != HY_OK) return {true, failure};
  return {reached == points.count, HY_OK};
}

hy_status WaitForFences(Device* device, const hy_wait_desc* desc) {
  hy_wait_desc wait;
  const hy_status read = hy_read_struct(&wait, sizeof wait, desc);
  if (read != HY_OK) return read;
  if ((wait.mode != HY_WAIT_ALL && wait.mode != HY_WAIT_ANY) ||
      (wait.mode == HY_WAIT_ANY && wait.points.count == 0) ||
      !PointsAreValid(*device, wait.points)) {
    return Report(host, HY_INVALID_ARGUMENT,
                  "fence_wait: needs ALL or ANY of fences of the device");
  }
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
  const bool forever = wait.deadline_ns > uint64_t{std::numeric_limits<int64_t>::max()};
  const Clock::time_point deadline{
      std::chrono::nanoseconds(forever ? 0 : static_cast<int64_t>(wait.deadline_ns))};
  std::unique_lock<std::mutex> lock(device->mutex);
  for (;;) {
    const WaitState state = EvaluateLocked(wait.points, wait.mode, wait.out_values);
    if (state.done) return state.status;
    if (forever) {
      device->changed.wait(lock);
    } else if (Clock::now() >= deadline) {
      return HY_DEADLINE_EXCEEDED;
    } else {
      device->changed.wait_until(lock, deadline);
    }
  }
}

}  // namespace halyard::sim_async
