// SPDX-License-Identifier: Apache-2.0
//
// The port of every CPU that Linux drives. Pages, binding and the topology come from the core's
// services, node sets from libnuma; queues, fences and teams are the core's own, which are made for
// CPUs.
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "halyard/hal_port.h"
#include "ports/kit/facts.h"
#include "ports/kit/object.h"
#include "ports/kit/one_device.h"
#include "ports/kit/ops.h"
#include "ports/kit/verbs.h"
#include "ports/linux/cpu_name.h"
#include "ports/linux/linux.h"
#include "ports/linux/nodes.h"
#include "ports/linux/page_sizes.h"

namespace halyard::linux_port {

const hy_host_services* host;

namespace {

using port_kit::As;
using port_kit::Report;

constexpr char kDeviceId[] = "cpu";
constexpr uint32_t kClassHost = 1;
constexpr uint64_t kMinAlignment = 64;  // a cache line on nearly all: no two buffers share one
constexpr uint64_t kMapFlags = HY_MAP_READ | HY_MAP_WRITE | HY_MAP_DISCARD | HY_MAP_PERSISTENT;

struct Device : port_kit::Object {
  static constexpr uint32_t kKind = HY_KIND_DEVICE;
  using Options = port_kit::NoOptions;
  explicit Device(const Options&) : Object(kKind) {}
};

struct Buffer : port_kit::Buffer {
  Buffer(Device*, uint64_t size_bytes) : port_kit::Buffer(size_bytes), pages(host) {}
  ~Buffer() {
    if (import.on_release != nullptr) import.on_release(import.context);
  }

  hy_status Take(const hy_alloc_desc& desc, hy_placement* out_placement) {
    const bool named = desc.node_policy == HY_NODES_BIND || desc.node_policy == HY_NODES_INTERLEAVE;
    if (named && desc.node_strength == HY_REQUIRE) {
      const uint32_t node_id = FirstForbidden(desc.nodes);
      if (node_id != HY_ID_NONE) {
        return Report(host, HY_NOT_FOUND,
                      "alloc: node %u is not there or not allowed to this process; `halyard info` "
                      "lists the nodes",
                      node_id);
      }
    }
    return pages.Take(desc, out_placement);
  }

  hy_status Query(const hy_query_desc& query, void* answer, uint64_t* inout_bytes) const {
    switch (query.key) {
      case HY_QUERY_PLACEMENT:
        return hy_answer_placement(host, memory(), bytes, answer, inout_bytes);
      case HY_QUERY_NATIVE_HANDLE:
      case HY_QUERY_DEVICE_ADDRESS:
        return hy_answer_u64(reinterpret_cast<uintptr_t>(memory()), answer, inout_bytes);
      default:
        return HY_UNIMPLEMENTED;
    }
  }

  uint8_t* memory() const {
    return import.ptr == nullptr ? pages.data() : static_cast<uint8_t*>(import.ptr);
  }

  port_kit::HostPages pages;
  hy_import_desc import = {};  // ptr is NULL unless the memory is the caller's
};

/// The facts of this machine, with the records that they point to.
class Machine {
 public:
  Machine() {
    info_.struct_size = sizeof info_;
    info_.kind = HY_DEVICE_CPU_CLASS;
    std::strncpy(info_.id, kDeviceId, sizeof info_.id - 1);
    std::strncpy(info_.name, CpuName().c_str(), sizeof info_.name - 1);
    std::strncpy(info_.locator, "host", sizeof info_.locator - 1);
    memory_.struct_size = sizeof memory_;
    memory_.id = kClassHost;
    memory_.flags = HY_MEMORY_HOST_VISIBLE | HY_MEMORY_COHERENT;
    memory_.bytes_total = port_kit::HostMemoryBytes();
    memory_.min_alignment = kMinAlignment;
    std::strncpy(memory_.name, "host", sizeof memory_.name - 1);
    facts_ = {.info = &info_,
              .vendor = "Halyard",
              .driver = "linux 1.0.0",
              .caps = HY_CAP_COHERENT | HY_CAP_PERSISTENT_MAP | HY_CAP_IMPORT | HY_CAP_PAGE_POLICY |
                      HY_CAP_REOPEN | (HasNodeCalls() ? HY_CAP_NODE_POLICY : 0),
              .classes = &memory_,
              .class_count = 1,
              .sync_granule_bytes = 1,
              .min_alignment = kMinAlignment,
              .max_alloc_bytes = memory_.bytes_total,
              .queue_tier = HY_QUEUE_TIER_INLINE,
              .timestamp_hz = 1'000'000'000};
  }
  const port_kit::DeviceFacts& facts() const { return facts_; }

 private:
  hy_device_info info_ = {};
  hy_memory_class memory_ = {};
  port_kit::DeviceFacts facts_ = {};
};

struct Port {
  using Device = linux_port::Device;
  using Buffer = linux_port::Buffer;
  static const hy_host_services* Host() { return host; }
  static const port_kit::DeviceFacts& Facts() {
    static const Machine kMachine;
    return kMachine.facts();
  }
};
using Verbs = port_kit::OneDevicePort<Port>;

hy_status Query(const hy_query_desc* desc, void* answer, uint64_t* inout_bytes) {
  hy_query_desc query;
  const hy_status status = port_kit::ReadQuery(desc, inout_bytes, &query);
  if (status != HY_OK) return status;
  if (query.key != HY_QUERY_PAGE_SIZES) return Verbs::Query(desc, answer, inout_bytes);
  if (As<Device>(query.handle) == nullptr) return HY_INVALID_ARGUMENT;
  // Never destroyed: a query may come while the process ends.
  static const std::vector<uint64_t>& sizes = *new std::vector<uint64_t>(PageSizes());
  return hy_answer(sizes.data(), sizes.size() * sizeof sizes[0], answer, inout_bytes);
}

hy_status Topology(hy_device* device, hy_topology* inout_topology) {
  if (As<Device>(device) == nullptr) return HY_INVALID_ARGUMENT;
  const hy_status status = host->topology_read(inout_topology);
  constexpr size_t kNeeded = offsetof(hy_topology, nodes) + sizeof(hy_array);
  // A fixture given in place of /sys is another machine, of which libnuma knows nothing.
  if (status == HY_OK && inout_topology->struct_size >= kNeeded &&
      inout_topology->source != HY_SOURCE_FIXTURE) {
    MarkAllowedNodes(&inout_topology->nodes);
  }
  return status;
}

hy_status ImportHost(hy_device* device, const hy_import_desc* desc, hy_buffer** out_buffer) {
  if (out_buffer == nullptr) return HY_INVALID_ARGUMENT;
  *out_buffer = nullptr;
  if (As<Device>(device) == nullptr) return HY_INVALID_ARGUMENT;
  hy_import_desc import;
  const hy_status status = hy_read_struct(&import, sizeof import, desc);
  if (status != HY_OK) return status;
  if (import.ptr == nullptr || import.bytes == 0 || (import.flags & ~HY_IMPORT_READ_ONLY) != 0 ||
      import.bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(import.ptr)) {
    return Report(host, HY_INVALID_ARGUMENT,
                  "import_host: give memory of at least one byte, and known flags");
  }
  auto* buffer = port_kit::New<Buffer>(host, As<Device>(device), import.bytes);
  if (buffer == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "import_host: no host memory");
  buffer->import = import;
  buffer->read_only = (import.flags & HY_IMPORT_READ_ONLY) != 0;
  *out_buffer = port_kit::ToHandle<hy_buffer>(buffer);
  return HY_OK;
}

hy_status Map(hy_buffer* handle, const hy_map_desc* desc, void** out_ptr) {
  if (out_ptr == nullptr) return HY_INVALID_ARGUMENT;
  *out_ptr = nullptr;
  const auto* buffer = As<Buffer>(handle);
  if (buffer == nullptr) return HY_INVALID_ARGUMENT;
  hy_map_desc range;
  const hy_status status = hy_read_map(&range, desc, buffer->bytes, kMapFlags);
  if (status != HY_OK) return Report(host, status, "map: give a range within the buffer");
  if (buffer->read_only && (range.access & HY_MAP_WRITE) != 0) {
    return Report(host, HY_PERMISSION_DENIED, "map: the import is read-only; map it without WRITE");
  }
  *out_ptr = buffer->memory() + range.offset;
  return HY_OK;
}

hy_status WorkerBind(hy_device* device, uint32_t pu, uint32_t mode,
                     hy_worker_report* inout_report) {
  if (As<Device>(device) == nullptr) return HY_INVALID_ARGUMENT;
  return host->worker_bind(pu, mode, inout_report);
}

hy_status Submit(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  if (As<Device>(device) == nullptr) return HY_INVALID_ARGUMENT;
  class Engine final : public port_kit::MemoryMover<Buffer> {
  } engine;
  return port_kit::RunInline(host, queue, submission, engine);
}

constexpr hy_hal_api kTable = [] {
  hy_hal_api table = Verbs::Table("linux");
  table.query = Query;
  table.topology = Topology;
  table.import_host = ImportHost;
  table.map = Map;
  table.worker_bind = WorkerBind;
  table.submit = Submit;
  return table;
}();

}  // namespace
}  // namespace halyard::linux_port

const hy_hal_api* hy_linux_api(const hy_host_services* services) {
  static std::once_flag once;
  std::call_once(once, [services] {
    if (halyard::linux_port::host == nullptr) halyard::linux_port::host = services;
  });
  return &halyard::linux_port::kTable;
}

HALYARD_HAL_DEFINE(halyard::linux_port::kTable, halyard::linux_port::host)
