// SPDX-License-Identifier: Apache-2.0
//
// A simulated device that shares memory with the host, but not its caches: what one side writes is
// not seen by the other until it is handed over, line by line. A missing sync_range shows as stale
// bytes and false sharing as lost ones, on any machine and each time. Tier 0.
//
// Scoped maps hide all this, as the contract wants; persistent maps do not.
#include <cstring>
#include <mutex>

#include "halyard/hal_port.h"
#include "ports/kit/object.h"
#include "ports/kit/one_device.h"
#include "ports/kit/ops.h"
#include "ports/kit/verbs.h"
#include "ports/sim_noncoherent/two_views.h"

namespace halyard::sim_noncoherent {
namespace {

using port_kit::As;
using port_kit::Report;

const hy_host_services* host;

struct Device : port_kit::Object {
  static constexpr uint32_t kKind = HY_KIND_DEVICE;
  using Options = port_kit::NoOptions;
  explicit Device(Options) : Object(kKind) {}
  std::mutex mutex;  // of the views of all its buffers
};

struct Buffer : port_kit::Buffer {
  Buffer(Device* owner, uint64_t size_bytes)
      : port_kit::Buffer(size_bytes),
        device(owner),
        host_pages(host),
        device_pages(host),
        clean_pages(host) {}
  hy_status Take(hy_alloc_desc desc, hy_placement* out_placement);
  hy_status Query(const hy_query_desc& query, void* answer, uint64_t* inout_bytes) const;

  TwoViews views() const {
    return {host_pages.data(), device_pages.data(), clean_pages.data(), bytes};
  }
  uint8_t* memory() const { return device_pages.data(); }  // what submitted work sees

  Device* const device;
  port_kit::HostPages host_pages;
  port_kit::HostPages device_pages;
  port_kit::HostPages clean_pages;
};

hy_status Buffer::Take(hy_alloc_desc desc, hy_placement* out_placement) {
  desc.flags |= HY_ALLOC_ZERO;  // the views must begin alike
  hy_status status = port_kit::WriteUnknownPlacement(out_placement);
  if (status == HY_OK) status = host_pages.Take(desc, nullptr);
  if (status == HY_OK) status = device_pages.Take(desc, nullptr);
  if (status == HY_OK) status = clean_pages.Take(desc, nullptr);
  return status;
}

hy_status Buffer::Query(const hy_query_desc& query, void* answer, uint64_t* inout_bytes) const {
  return port_kit::AnswerBuffer(memory(), query, answer, inout_bytes);
}

struct Port {
  using Device = sim_noncoherent::Device;
  using Buffer = sim_noncoherent::Buffer;
  static const hy_host_services* Host() { return host; }
  static const port_kit::DeviceFacts& Facts();
};
using Verbs = port_kit::OneDevicePort<Port>;

const port_kit::DeviceFacts& Port::Facts() {
  static const port_kit::DeviceRecord kRecord({.port = "sim_noncoherent",
                                               .title = "Simulated device without cache coherence",
                                               .kind = HY_DEVICE_DISCRETE,
                                               .caps = HY_CAP_PERSISTENT_MAP | HY_CAP_REOPEN,
                                               .class_id = 3,
                                               .class_name = "shared",
                                               .class_flags = HY_MEMORY_HOST_VISIBLE,
                                               .min_alignment = kGranuleBytes,
                                               .memory_bytes = port_kit::HostMemoryBytes() / 3,
                                               .sync_granule_bytes = kGranuleBytes});
  return kRecord.facts();
}

hy_status ReadRange(const Buffer& buffer, const hy_map_desc* desc, hy_map_desc* known) {
  const hy_status status = hy_read_map(
      known, desc, buffer.bytes, HY_MAP_READ | HY_MAP_WRITE | HY_MAP_DISCARD | HY_MAP_PERSISTENT);
  if (status == HY_OK) return HY_OK;
  return Report(host, status, "map: needs a range within the buffer, and known flags");
}

hy_status Map(hy_buffer* handle, const hy_map_desc* desc, void** out_ptr) {
  if (out_ptr == nullptr) return HY_INVALID_ARGUMENT;
  *out_ptr = nullptr;
  auto* buffer = As<Buffer>(handle);
  if (buffer == nullptr) return HY_INVALID_ARGUMENT;
  hy_map_desc range;
  const hy_status status = ReadRange(*buffer, desc, &range);
  if (status != HY_OK) return status;
  const std::lock_guard<std::mutex> lock(buffer->device->mutex);
  TwoViews views = buffer->views();
  if ((range.access & HY_MAP_DISCARD) != 0) {
    // Whoever reads old contents after all should not be lucky.
    std::memset(views.host() + range.offset, 0xDD, static_cast<size_t>(range.bytes));
  } else if ((range.access & HY_MAP_PERSISTENT) != 0) {
    views.Refresh(range.offset, range.bytes);
  } else {
    views.Fetch(range.offset, range.bytes);
  }
  *out_ptr = views.host() + range.offset;
  return HY_OK;
}

hy_status Unmap(hy_buffer* handle, const hy_map_desc* desc, void* ptr) {
  auto* buffer = As<Buffer>(handle);
  if (buffer == nullptr || ptr == nullptr) return HY_INVALID_ARGUMENT;
  hy_map_desc range;
  const hy_status status = ReadRange(*buffer, desc, &range);
  if (status != HY_OK) return status == HY_OUT_OF_RANGE ? HY_INVALID_ARGUMENT : status;
  const std::lock_guard<std::mutex> lock(buffer->device->mutex);
  TwoViews views = buffer->views();
  if (ptr != views.host() + range.offset) {
    return Report(host, HY_INVALID_ARGUMENT, "unmap: not the pointer that map gave for this range");
  }
  if ((range.access & HY_MAP_WRITE) == 0) {
    views.Forget(range.offset, range.bytes);
  } else if ((range.access & HY_MAP_PERSISTENT) == 0) {
    views.Publish(range.offset, range.bytes);
  } else {
    views.WriteBackWithin(range.offset, range.bytes);
  }
  return HY_OK;
}

hy_status SyncRange(hy_buffer* handle, uint64_t offset, uint64_t bytes, uint32_t direction) {
  auto* buffer = As<Buffer>(handle);
  if (buffer == nullptr) return HY_INVALID_ARGUMENT;
  const hy_status status = port_kit::CheckSync(host, buffer->bytes, offset, bytes, direction);
  if (status != HY_OK || bytes == 0) return status;
  const std::lock_guard<std::mutex> lock(buffer->device->mutex);
  TwoViews views = buffer->views();
  if (direction == HY_SYNC_TO_DEVICE) {
    views.WriteBack(offset, bytes);
  } else {
    views.Invalidate(offset, bytes);
  }
  return HY_OK;
}

// Copies and fills act on the device's view.
class Engine final : public port_kit::MemoryMover<Buffer> {
 public:
  explicit Engine(Device* device) : device_(device) {}
  hy_status Copy(const hy_op& op) override {
    const std::lock_guard<std::mutex> lock(device_->mutex);
    return MemoryMover::Copy(op);
  }
  hy_status Fill(const hy_op& op) override {
    const std::lock_guard<std::mutex> lock(device_->mutex);
    return MemoryMover::Fill(op);
  }

 private:
  Device* const device_;
};

hy_status Submit(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  return port_kit::SubmitInline<Device, Engine>(host, device, queue, submission);
}

constexpr hy_hal_api kTable = [] {
  hy_hal_api table = Verbs::Table("sim_noncoherent");
  table.map = Map;
  table.unmap = Unmap;
  table.sync_range = SyncRange;
  table.submit = Submit;
  return table;
}();

}  // namespace
}  // namespace halyard::sim_noncoherent

HALYARD_HAL_DEFINE(halyard::sim_noncoherent::kTable, halyard::sim_noncoherent::host)
