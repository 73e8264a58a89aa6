// SPDX-License-Identifier: Apache-2.0
#include "hal/fake_port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "hal/fake_objects.h"
#include "hal/host_services.h"
#include "halyard/hal_port.h"

using halyard::hal::FakePort;
using halyard::hal::HostServices;

namespace {

constexpr uint64_t kMaxAllocBytes = uint64_t{1} << 30;

hy_status Injected(FakePort& port, const char* verb) {
  const hy_status status = port.TakeInjected(verb);
  return status == HY_OK ? HY_OK : HostServices()->report(status, "injected");
}

hy_status Enumerate(const hy_hal_api* self, hy_array* out) {
  FakePort& port = FakePort::Of(self);
  std::vector<hy_device_info> infos(port.ids.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    infos[i].struct_size = sizeof infos[i];
    infos[i].kind = HY_DEVICE_DISCRETE;
    port.ids[i].copy(infos[i].id, sizeof infos[i].id - 1);
  }
  return hy_fill_array(out, infos.data(), sizeof(hy_device_info),
                       static_cast<uint32_t>(infos.size()));
}

hy_status Open(const hy_hal_api* self, const hy_open_desc* desc, hy_device** out) {
  FakePort& port = FakePort::Of(self);
  if (const hy_status status = Injected(port, "open"); status != HY_OK) return status;
  port.options.clear();
  for (uint32_t i = 0; i < desc->options.count; ++i) {
    const auto& option = *static_cast<const hy_option*>(hy_array_at(&desc->options, i));
    port.options.emplace_back(option.key, option.value);
  }
  *out = new hy_device(&port);
  return HY_OK;
}

hy_status QueryDevice(const FakePort& port, const hy_query_desc& desc, void* buffer,
                      uint64_t* bytes) {
  switch (desc.key) {
    case HY_QUERY_CAPS:
      return hy_answer_u64(port.caps, buffer, bytes);
    case HY_QUERY_MEMORY_CLASSES: {
      hy_memory_class memory{};
      memory.struct_size = sizeof memory;
      memory.id = 7;
      memory.flags = port.memory_flags;
      memory.bytes_total = kMaxAllocBytes;
      memory.min_alignment = 64;
      return hy_answer(&memory, sizeof memory, buffer, bytes);
    }
    case HY_QUERY_MIN_ALIGNMENT:
      return hy_answer_u64(64, buffer, bytes);
    case HY_QUERY_MAX_ALLOC:
      return hy_answer_u64(kMaxAllocBytes, buffer, bytes);
    case HY_QUERY_VENDOR:
      return hy_answer_string("Fake & Sons", buffer, bytes);
    case HY_QUERY_QUEUE_TIER:
      return hy_answer_u64(port.shape.is_async ? HY_QUEUE_TIER_ASYNC : HY_QUEUE_TIER_INLINE, buffer,
                           bytes);
    default:
      return HY_UNIMPLEMENTED;
  }
}

hy_status Query(const hy_query_desc* desc, void* buffer, uint64_t* bytes) {
  if (desc->kind != HY_KIND_DEVICE) return HY_UNIMPLEMENTED;
  FakePort& port = *static_cast<const hy_device*>(desc->handle)->port;
  if (const hy_status status = Injected(port, "query"); status != HY_OK) return status;
  return QueryDevice(port, *desc, buffer, bytes);
}

hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out, hy_placement*) {
  FakePort& port = *device->port;
  if (const hy_status status = Injected(port, "alloc"); status != HY_OK) return status;
  port.last_alloc = *desc;
  auto* buffer = new hy_buffer(&port);
  buffer->heap.assign(static_cast<size_t>(desc->bytes), 0xCD);
  buffer->bytes = buffer->heap.data();
  *out = buffer;
  return HY_OK;
}

hy_status ImportHost(hy_device* device, const hy_import_desc* desc, hy_buffer** out) {
  if (const hy_status status = Injected(*device->port, "import_host"); status != HY_OK) {
    return status;
  }
  auto* buffer = new hy_buffer(device->port);
  buffer->bytes = static_cast<uint8_t*>(desc->ptr);
  buffer->on_release = desc->on_release;
  buffer->context = desc->context;
  *out = buffer;
  return HY_OK;
}

hy_status Map(hy_buffer* buffer, const hy_map_desc* desc, void** out) {
  if (const hy_status status = Injected(*buffer->port, "map"); status != HY_OK) return status;
  ++buffer->port->maps_made;
  buffer->Begin({desc->offset, desc->bytes, true, (desc->access & HY_MAP_WRITE) != 0,
                 (desc->access & HY_MAP_PERSISTENT) != 0});
  *out = buffer->bytes + desc->offset;
  return HY_OK;
}

hy_status Unmap(hy_buffer* buffer, const hy_map_desc* desc, void* ptr) {
  if (ptr != buffer->bytes + desc->offset) buffer->port->Complain("unmap of another pointer");
  buffer->End({desc->offset, desc->bytes, true, (desc->access & HY_MAP_WRITE) != 0,
               (desc->access & HY_MAP_PERSISTENT) != 0});
  return Injected(*buffer->port, "unmap");
}

hy_status SyncRange(hy_buffer* buffer, uint64_t, uint64_t, uint32_t) {
  return Injected(*buffer->port, "sync_range");
}

hy_status QueueCreate(hy_device* device, const hy_queue_desc*, hy_queue** out) {
  if (const hy_status status = Injected(*device->port, "queue_create"); status != HY_OK) {
    return status;
  }
  *out = new hy_queue(device->port);
  return HY_OK;
}

hy_status Submit(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  FakePort& port = *device->port;
  if (const hy_status status = Injected(port, "submit"); status != HY_OK) return status;
  Job job = ReadJob(*submission);
  for (const hy_op& op : job.ops) {
    if ((port.refused_ops >> op.kind & 1) != 0) return HY_UNIMPLEMENTED;
  }
  if (queue != nullptr) {
    queue->Enqueue(std::move(job));
    return HY_OK;
  }
  if (port.submitting.exchange(true)) port.Complain("two threads submit to one queue");
  BeginUses(job);
  const hy_status status = RunOps(port, job.ops);
  EndUses(job);
  port.submitting = false;
  for (const auto& [fence, value] : job.signals) SignalFence(*fence, value, status);
  return job.signals.empty() ? status : HY_OK;
}

hy_status FenceCreate(hy_device* device, uint64_t initial, hy_fence** out) {
  if (const hy_status status = Injected(*device->port, "fence_create"); status != HY_OK) {
    return status;
  }
  *out = new hy_fence(device->port, initial);
  return HY_OK;
}

hy_status FenceWait(hy_device* device, const hy_wait_desc* desc) {
  if (const hy_status status = Injected(*device->port, "fence_wait"); status != HY_OK) {
    return status;
  }
  return WaitForPoints(*desc);
}

hy_status FenceSignal(hy_fence* fence, uint64_t value, hy_status status) {
  return SignalFence(*fence, value, status);
}

hy_status ReadTimestamp(hy_device* device, hy_timestamp* out) {
  if (const hy_status status = Injected(*device->port, "timestamp"); status != HY_OK) return status;
  return HostServices()->timestamp(out);
}

hy_status Release(uint32_t kind, void* handle) {
  switch (kind) {
    case HY_KIND_DEVICE:
      delete static_cast<hy_device*>(handle);
      return HY_OK;
    case HY_KIND_BUFFER:
      delete static_cast<hy_buffer*>(handle);
      return HY_OK;
    case HY_KIND_QUEUE:
      delete static_cast<hy_queue*>(handle);
      return HY_OK;
    case HY_KIND_FENCE:
      delete static_cast<hy_fence*>(handle);
      return HY_OK;
    default:
      return HY_INVALID_ARGUMENT;
  }
}

}  // namespace

namespace halyard::hal {

FakePort::FakePort(Shape shape_of_port) : shape(shape_of_port) {
  owned_.port = this;
  hy_hal_api& api = owned_.table;
  api.struct_size = sizeof api;
  api.abi_major = HY_HAL_ABI_MAJOR;
  api.name = "fake";
  api.enumerate = &Enumerate;
  api.open = &Open;
  api.query = &Query;
  api.alloc = &Alloc;
  api.timestamp = &ReadTimestamp;
  api.release = &Release;
  if (shape.imports) api.import_host = &ImportHost;
  if (shape.submits) api.submit = &Submit;
  if (shape.maps) {
    api.map = &Map;
    api.unmap = &Unmap;
    api.sync_range = &SyncRange;
  }
  if (shape.is_async) {
    api.queue_create = &QueueCreate;
    api.fence_create = &FenceCreate;
    api.fence_wait = &FenceWait;
    api.fence_signal = &FenceSignal;
  }
}

FakePort& FakePort::Of(const hy_hal_api* self) {
  return *reinterpret_cast<const OwnedTable*>(self)->port;
}

void FakePort::Inject(const std::string& verb, hy_status status) {
  std::lock_guard<std::mutex> lock(mutex_);
  injected_[verb] = status;
}

hy_status FakePort::TakeInjected(const std::string& verb) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = injected_.find(verb);
  if (found == injected_.end()) return HY_OK;
  const hy_status status = found->second;
  injected_.erase(found);
  return status;
}

void FakePort::Complain(const std::string& what) {
  std::lock_guard<std::mutex> lock(mutex_);
  complaints_.push_back(what);
}

std::vector<std::string> FakePort::complaints() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return complaints_;
}

bool FakePort::AllReleased() const {
  constexpr int kAttempts = 5000;
  for (int i = 0; i < kAttempts && live_objects != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return live_objects == 0;
}

Device OpenFake(const std::shared_ptr<FakePort>& port) {
  absl::StatusOr<Device> device = Device::Open(port);
  EXPECT_TRUE(device.ok()) << device.status();
  return *std::move(device);
}

Buffer MakeBuffer(const Device& device, uint64_t bytes, uint8_t fill) {
  AllocRequest request;
  request.bytes = bytes;
  absl::StatusOr<Buffer> buffer = device.Allocate(request);
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_TRUE(buffer->Write(0, std::vector<uint8_t>(static_cast<size_t>(bytes), fill)).ok());
  return *std::move(buffer);
}

std::vector<uint8_t> Contents(const Buffer& buffer) {
  std::vector<uint8_t> bytes(static_cast<size_t>(buffer.size_bytes()));
  const absl::Status status = buffer.Read(0, absl::MakeSpan(bytes));
  EXPECT_TRUE(status.ok()) << status;
  return bytes;
}

}  // namespace halyard::hal
