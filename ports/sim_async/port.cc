// SPDX-License-Identifier: Apache-2.0
//
// A simulated device that works on its own time: `submit` returns at once, each queue runs on a
// thread of its own, and work is held back for as long as a seed says, so that queues overtake each
// other in every way that fences do not forbid. Code that waits for too little fails here. Tier 1.
//
// Its memory can be reached by copies only.
#include <cstring>

#include "halyard/hal_port.h"
#include "ports/kit/facts.h"
#include "ports/kit/object.h"
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

const port_kit::DeviceFacts& Facts() {
  static const hy_device_info kInfo = {.struct_size = sizeof kInfo,
                                       .kind = HY_DEVICE_DISCRETE,
                                       .id = "sim_async:0",
                                       .name = "Simulated asynchronous device",
                                       .locator = "sim"};
  static const uint64_t kMemoryBytes = port_kit::HostMemoryBytes();
  static const hy_memory_class kClass = {.struct_size = sizeof kClass,
                                         .id = 11,  // a label, on purpose not its index
                                         .flags = HY_MEMORY_DEVICE_LOCAL,
                                         .bytes_total = kMemoryBytes,
                                         .min_alignment = 256,
                                         .name = "device"};
  static const port_kit::DeviceFacts kFacts = {.info = &kInfo,
                                               .vendor = "Halyard",
                                               .driver = "sim_async 1.0",
                                               .caps = HY_CAP_ASYNC | HY_CAP_REOPEN,
                                               .classes = &kClass,
                                               .class_count = 1,
                                               .sync_granule_bytes = 1,
                                               .min_alignment = kClass.min_alignment,
                                               .max_alloc_bytes = kMemoryBytes,
                                               .queue_tier = HY_QUEUE_TIER_ASYNC,
                                               .timestamp_hz = 1000000000};
  return kFacts;
}

hy_status Enumerate(const hy_hal_api* self, hy_array* inout_devices) {
  return port_kit::EnumerateOne(self, Facts(), inout_devices);
}

hy_status Open(const hy_hal_api* self, const hy_open_desc* desc, hy_device** out_device) {
  return port_kit::OpenDevice<Device>(host, Facts(), self, desc, out_device);
}

hy_status Query(const hy_query_desc* desc, void* answer, uint64_t* inout_bytes) {
  return port_kit::QueryObject<Device, Buffer>(Facts(), desc, answer, inout_bytes);
}

hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                hy_placement* out_placement) {
  return port_kit::AllocBuffer<Device, Buffer>(host, Facts(), device, desc, out_buffer,
                                               out_placement);
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

hy_status Timestamp(hy_device* device, hy_timestamp* out_timestamp) {
  return port_kit::ReadTimestamp<Device>(host, device, out_timestamp);
}

hy_status Release(uint32_t kind, void* handle) {
  return port_kit::ReleaseObject<Buffer, Queue, Fence, Device>(host, kind, handle);
}

constexpr hy_hal_api kTable = [] {
  hy_hal_api table = port_kit::EmptyTable("sim_async");
  table.enumerate = Enumerate;
  table.open = Open;
  table.query = Query;
  table.alloc = Alloc;
  table.queue_create = QueueCreate;
  table.submit = Submit;
  table.fence_create = FenceCreate;
  table.fence_wait = FenceWait;
  table.fence_signal = FenceSignal;
  table.timestamp = Timestamp;
  table.release = Release;
  return table;
}();

}  // namespace
}  // namespace halyard::sim_async

HALYARD_HAL_DEFINE(halyard::sim_async::kTable, halyard::sim_async::host)
