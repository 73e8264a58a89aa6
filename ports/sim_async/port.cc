// SPDX-License-Identifier: Apache-2.0
//
// A simulated device that works on its own time: `submit` returns at once, each queue runs on a
// thread of its own, and work is held back for as long as a seed says, so that queues overtake each
// other in every way that fences do not forbid. Code that waits for too little fails here. Tier 1.
//
// Its memory can be reached by copies only.
#include <cstring>

#include "halyard/hal_port.h"
#include "ports/kit/object.h"
#include "ports/kit/one_device.h"
#include "ports/kit/verbs.h"
#include "ports/sim_async/engine.h"

namespace halyard::sim_async {

const hy_host_services* host;

hy_status Options::Take(void* options, const char* key, const char* value) {
  auto* self = static_cast<Options*>(options);
  constexpr uint64_t kMostDelayUs = 10000000;
  if (std::strcmp(key, "seed") == 0 && port_kit::ParseU64(value, &self->seed)) return HY_OK;
  if (std::strcmp(key, "delay_us") == 0 && port_kit::ParseU64(value, &self->delay_us) &&
      self->delay_us <= kMostDelayUs) {
    return HY_OK;
  }
  return port_kit::Report(host, HY_INVALID_ARGUMENT,
                          "option %s=%s: sim_async knows seed=N and delay_us=N, up to 10000000",
                          key, value);
}

hy_status Buffer::Take(const hy_alloc_desc& desc, hy_placement* out_placement) {
  const hy_status status = port_kit::WriteUnknownPlacement(out_placement);
  return status == HY_OK ? pages.Take(desc, nullptr) : status;
}

hy_status Buffer::Query(const hy_query_desc& query, void* answer, uint64_t* inout_bytes) const {
  return port_kit::AnswerBuffer(memory(), query, answer, inout_bytes);
}

namespace {

using port_kit::As;
using port_kit::Report;

struct Port {
  using Device = sim_async::Device;
  using Buffer = sim_async::Buffer;
  static const hy_host_services* Host() { return host; }
  static const port_kit::DeviceFacts& Facts();
};
using Verbs = port_kit::OneDevicePort<Port, Queue, Fence>;

const port_kit::DeviceFacts& Port::Facts() {
  static const port_kit::DeviceRecord kRecord({.port = "sim_async",
                                               .title = "Simulated asynchronous device",
                                               .kind = HY_DEVICE_DISCRETE,
                                               .caps = HY_CAP_ASYNC | HY_CAP_REOPEN,
                                               .class_id = 11,
                                               .class_name = "device",
                                               .class_flags = HY_MEMORY_DEVICE_LOCAL,
                                               .min_alignment = 256,
                                               .memory_bytes = port_kit::HostMemoryBytes(),
                                               .queue_tier = HY_QUEUE_TIER_ASYNC});
  return kRecord.facts();
}

hy_status QueueCreate(hy_device* handle, const hy_queue_desc* desc, hy_queue** out_queue) {
  if (out_queue == nullptr) return HY_INVALID_ARGUMENT;
  *out_queue = nullptr;
  auto* device = As<Device>(handle);
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  hy_queue_desc known;
  hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (status != HY_OK) return status;
  if (known.flags != 0) return Report(host, HY_INVALID_ARGUMENT, "queue_create: unknown flags");
  auto* queue = port_kit::New<Queue>(host, device);
  if (queue == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "queue_create: no host memory");
  status = queue->Start();
  if (status != HY_OK) {
    port_kit::Delete(host, queue);
    return status;
  }
  *out_queue = port_kit::ToHandle<hy_queue>(queue);
  return HY_OK;
}

hy_status Submit(hy_device* device, hy_queue* handle, const hy_submission* submission) {
  auto* queue = As<Queue>(handle);
  if (queue == nullptr || As<Device>(device) != queue->device()) {
    return Report(host, HY_INVALID_ARGUMENT, "submit: needs a queue of this device");
  }
  return queue->Submit(submission);
}

hy_status FenceCreate(hy_device* handle, uint64_t initial_value, hy_fence** out_fence) {
  if (out_fence == nullptr) return HY_INVALID_ARGUMENT;
  *out_fence = nullptr;
  auto* device = As<Device>(handle);
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  auto* fence = port_kit::New<Fence>(host, device, initial_value);
  if (fence == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "fence_create: no host memory");
  *out_fence = port_kit::ToHandle<hy_fence>(fence);
  return HY_OK;
}

hy_status FenceWait(hy_device* handle, const hy_wait_desc* desc) {
  auto* device = As<Device>(handle);
  return device == nullptr ? HY_INVALID_ARGUMENT : WaitForFences(device, desc);
}

hy_status FenceSignal(hy_fence* handle, uint64_t value, hy_status status) {
  auto* fence = As<Fence>(handle);
  if (fence == nullptr || status < HY_OK || status >= HY_STATUS_COUNT) return HY_INVALID_ARGUMENT;
  const std::lock_guard<std::mutex> lock(fence->device->mutex);
  const hy_status signalled = fence->SignalLocked(value, status);
  fence->device->changed.notify_all();
  return signalled;
}

constexpr hy_hal_api kTable = [] {
  hy_hal_api table = Verbs::Table("sim_async");
  table.queue_create = QueueCreate;
  table.submit = Submit;
  table.fence_create = FenceCreate;
  table.fence_wait = FenceWait;
  table.fence_signal = FenceSignal;
  return table;
}();

}  // namespace
}  // namespace halyard::sim_async

HALYARD_HAL_DEFINE(halyard::sim_async::kTable, halyard::sim_async::host)
