// SPDX-License-Identifier: Apache-2.0
//
// A simulated CPU device with nearly every verb, one of which can be told to fail at its n-th call,
// or to lose the device. Without options it is a port like any other.
#include "halyard/hal_port.h"
#include "ports/kit/object.h"
#include "ports/kit/one_device.h"
#include "ports/kit/ops.h"
#include "ports/kit/verbs.h"
#include "ports/sim_faulty/faults.h"

namespace halyard::sim_faulty {

const hy_host_services* host;

namespace {

using port_kit::As;
using port_kit::Report;

struct Device : port_kit::Object {
  static constexpr uint32_t kKind = HY_KIND_DEVICE;
  using Options = sim_faulty::Options;
  explicit Device(const Options& options) : Object(kKind), faults(options) {}
  Faults faults;
};

struct Buffer : port_kit::Buffer {
  Buffer(Device* owner, uint64_t size_bytes)
      : port_kit::Buffer(size_bytes), device(owner), pages(host) {}
  ~Buffer() {
    if (import.on_release != nullptr) import.on_release(import.context);
  }
  hy_status Take(const hy_alloc_desc& desc, hy_placement* out_placement) {
    return pages.Take(desc, out_placement);
  }
  hy_status Query(const hy_query_desc& query, void* answer, uint64_t* inout_bytes) const {
    if (query.key != HY_QUERY_PLACEMENT) {
      return port_kit::AnswerBuffer(memory(), query, answer, inout_bytes);
    }
    return hy_answer_placement(host, memory(), bytes, answer, inout_bytes);
  }
  uint8_t* memory() const {
    return import.ptr == nullptr ? pages.data() : static_cast<uint8_t*>(import.ptr);
  }

  Device* const device;
  port_kit::HostPages pages;
  hy_import_desc import = {};  // ptr is NULL unless the memory is the caller's
};

struct Port {
  using Device = sim_faulty::Device;
  using Buffer = sim_faulty::Buffer;
  static const hy_host_services* Host() { return host; }
  static const port_kit::DeviceFacts& Facts();
};
using Verbs = port_kit::OneDevicePort<Port>;

const port_kit::DeviceFacts& Port::Facts() {
  static const port_kit::DeviceRecord kRecord(
      {.port = "sim_faulty",
       .title = "Simulated CPU that can be told to fail",
       .kind = HY_DEVICE_CPU_CLASS,
       .caps = HY_CAP_COHERENT | HY_CAP_PERSISTENT_MAP | HY_CAP_IMPORT | HY_CAP_NODE_POLICY |
               HY_CAP_PAGE_POLICY | HY_CAP_REOPEN,
       .class_id = 5,
       .class_name = "dram",
       .class_flags = HY_MEMORY_HOST_VISIBLE | HY_MEMORY_COHERENT,
       .min_alignment = 64,
       .memory_bytes = port_kit::HostMemoryBytes()});
  return kRecord.facts();
}

// The fault of this call of a verb on a device, if it has one.
hy_status Enter(hy_device* handle, Verb verb) {
  auto* device = As<Device>(handle);
  return device == nullptr ? HY_INVALID_ARGUMENT : device->faults.Enter(verb);
}

hy_status Enter(hy_buffer* handle, Verb verb) {
  auto* buffer = As<Buffer>(handle);
  return buffer == nullptr ? HY_INVALID_ARGUMENT : buffer->device->faults.Enter(verb);
}

hy_status Open(const hy_hal_api* self, const hy_open_desc* desc, hy_device** out_device) {
  hy_status status = Verbs::Open(self, desc, out_device);
  if (status != HY_OK) return status;
  status = Enter(*out_device, Verb::kOpen);
  if (status == HY_OK) return HY_OK;
  port_kit::Delete(host, As<Device>(*out_device));
  *out_device = nullptr;
  return status;
}

hy_status Query(const hy_query_desc* desc, void* answer, uint64_t* inout_bytes) {
  hy_query_desc query;
  hy_status status = port_kit::ReadQuery(desc, inout_bytes, &query);
  if (status != HY_OK) return status;
  Device* device = As<Device>(query.handle);
  if (const auto* buffer = As<Buffer>(query.handle)) device = buffer->device;
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  status = device->faults.Enter(Verb::kQuery);
  if (status != HY_OK) return status;
  return Verbs::Query(desc, answer, inout_bytes);
}

hy_status Topology(hy_device* device, hy_topology* inout_topology) {
  const hy_status status = Enter(device, Verb::kTopology);
  return status != HY_OK ? status : host->topology_read(inout_topology);
}

hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                hy_placement* out_placement) {
  if (out_buffer == nullptr) return HY_INVALID_ARGUMENT;
  *out_buffer = nullptr;
  const hy_status status = Enter(device, Verb::kAlloc);
  if (status != HY_OK) return status;
  return Verbs::Alloc(device, desc, out_buffer, out_placement);
}

hy_status ImportHost(hy_device* handle, const hy_import_desc* desc, hy_buffer** out_buffer) {
  if (out_buffer == nullptr) return HY_INVALID_ARGUMENT;
  *out_buffer = nullptr;
  hy_status status = Enter(handle, Verb::kImportHost);
  if (status != HY_OK) return status;
  hy_import_desc import;
  status = hy_read_struct(&import, sizeof import, desc);
  if (status != HY_OK) return status;
  if (import.ptr == nullptr || import.bytes == 0 || (import.flags & ~HY_IMPORT_READ_ONLY) != 0 ||
      import.bytes > Port::Facts().max_alloc_bytes) {
    return Report(host, HY_INVALID_ARGUMENT, "import_host: needs memory, and known flags");
  }
  auto* buffer = port_kit::New<Buffer>(host, As<Device>(handle), import.bytes);
  if (buffer == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "import_host: no host memory");
  buffer->import = import;
  buffer->read_only = (import.flags & HY_IMPORT_READ_ONLY) != 0;
  *out_buffer = port_kit::ToHandle<hy_buffer>(buffer);
  return HY_OK;
}

constexpr uint64_t kMapFlags = HY_MAP_READ | HY_MAP_WRITE | HY_MAP_DISCARD | HY_MAP_PERSISTENT;

hy_status Map(hy_buffer* handle, const hy_map_desc* desc, void** out_ptr) {
  if (out_ptr == nullptr) return HY_INVALID_ARGUMENT;
  *out_ptr = nullptr;
  hy_status status = Enter(handle, Verb::kMap);
  if (status != HY_OK) return status;
  const auto* buffer = As<Buffer>(handle);
  hy_map_desc range;
  status = hy_read_map(&range, desc, buffer->bytes, kMapFlags);
  if (status != HY_OK) return Report(host, status, "map: needs a range within the buffer");
  if (buffer->read_only && (range.access & HY_MAP_WRITE) != 0) {
    return Report(host, HY_PERMISSION_DENIED, "map: the import is read-only; map it without WRITE");
  }
  *out_ptr = buffer->memory() + range.offset;
  return HY_OK;
}

// The memory is the host's, so nothing has to be done here; the fault is what it is for.
hy_status Unmap(hy_buffer* handle, const hy_map_desc* desc, void* ptr) {
  hy_status status = Enter(handle, Verb::kUnmap);
  if (status != HY_OK) return status;
  const auto* buffer = As<Buffer>(handle);
  hy_map_desc range;
  status = hy_read_map(&range, desc, buffer->bytes, kMapFlags);
  if (status == HY_UNIMPLEMENTED) return status;
  if (status == HY_OK && ptr == buffer->memory() + range.offset) return HY_OK;
  return Report(host, HY_INVALID_ARGUMENT, "unmap: not a map of this buffer");
}

hy_status SyncRange(hy_buffer* handle, uint64_t offset, uint64_t bytes, uint32_t direction) {
  const hy_status status = Enter(handle, Verb::kSyncRange);
  if (status != HY_OK) return status;
  return port_kit::CheckSync(host, As<Buffer>(handle)->bytes, offset, bytes, direction);
}

hy_status WorkerBind(hy_device* device, uint32_t pu, uint32_t mode,
                     hy_worker_report* inout_report) {
  const hy_status status = Enter(device, Verb::kWorkerBind);
  return status != HY_OK ? status : host->worker_bind(pu, mode, inout_report);
}

hy_status Submit(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  const hy_status status = Enter(device, Verb::kSubmit);
  if (status != HY_OK) return status;
  class Engine final : public port_kit::MemoryMover<Buffer> {
  } engine;
  return port_kit::RunInline(host, queue, submission, engine);
}

hy_status Timestamp(hy_device* device, hy_timestamp* out_timestamp) {
  const hy_status status = Enter(device, Verb::kTimestamp);
  if (status != HY_OK) return status;
  return Verbs::Timestamp(device, out_timestamp);
}

constexpr hy_hal_api kTable = [] {
  hy_hal_api table = Verbs::Table("sim_faulty");
  table.open = Open;
  table.query = Query;
  table.topology = Topology;
  table.alloc = Alloc;
  table.import_host = ImportHost;
  table.map = Map;
  table.unmap = Unmap;
  table.sync_range = SyncRange;
  table.worker_bind = WorkerBind;
  table.submit = Submit;
  table.timestamp = Timestamp;
  return table;
}();

}  // namespace
}  // namespace halyard::sim_faulty

HALYARD_HAL_DEFINE(halyard::sim_faulty::kTable, halyard::sim_faulty::host)
