// SPDX-License-Identifier: Apache-2.0
//
// Simulated machines: a device for each fixture, whose topology is that of the fixture. Memory is
// the host's, where it lies is not known, and workers run unbound: their units are not here. The
// option system=PATH takes any captured image (`halyard info --capture`) or root folder instead.
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/c_status.h"
#include "hal/bind.h"
#include "halyard/hal_port.h"
#include "ports/kit/facts.h"
#include "ports/kit/object.h"
#include "ports/kit/verbs.h"
#include "ports/sim_topology/fixtures.h"
#include "ports/sim_topology/machine.h"

namespace halyard::sim_topology {
namespace {

using port_kit::As;
using port_kit::Report;

const hy_host_services* host;

// The reader allocates as C++ does; at the boundary that becomes a status.
template <typename Verb>
hy_status Guarded(const Verb& verb) {
  try {
    return verb();
  } catch (...) {
    return Report(host, HY_RESOURCE_EXHAUSTED, "no host memory to read the machine");
  }
}

// The machine is made when it is first asked for, so that opening a device costs little.
struct Device : port_kit::Object {
  static constexpr uint32_t kKind = HY_KIND_DEVICE;
  Device(const char* fixture_image, std::unique_ptr<const Machine> opened)
      : Object(kKind), image(fixture_image), machine(std::move(opened)) {}

  // Errors: INTERNAL: the image is broken.
  hy_status GetMachine(const Machine** out_machine) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (machine == nullptr) {
      absl::StatusOr<std::unique_ptr<Machine>> made = Machine::FromImage(image);
      if (!made.ok()) {
        return Report(host, HY_INTERNAL, "%s", std::string(made.status().message()).c_str());
      }
      machine = *std::move(made);
    }
    *out_machine = machine.get();
    return HY_OK;
  }

  std::mutex mutex;
  const char* const image;
  std::unique_ptr<const Machine> machine;
};

struct Buffer : port_kit::Buffer {
  Buffer(Device*, uint64_t size_bytes) : port_kit::Buffer(size_bytes), pages(host) {}
  hy_status Take(const hy_alloc_desc& desc, hy_placement* out_placement) {
    const hy_status status = port_kit::WriteUnknownPlacement(out_placement);
    return status != HY_OK ? status : pages.Take(desc, nullptr);
  }
  hy_status Query(const hy_query_desc& query, void* answer, uint64_t* inout_bytes) const {
    return port_kit::AnswerBuffer(pages.data(), query, answer, inout_bytes);
  }
  port_kit::HostPages pages;
};

// The line "@machine NAME" of an image, without parsing the rest: enumerating must be cheap.
void CopyMachineName(const char* image, char* out, size_t out_bytes) {
  constexpr char kWord[] = "\n@machine ";
  const char* line = std::strstr(image, kWord);
  if (line == nullptr) return;
  line += sizeof kWord - 1;
  std::snprintf(out, out_bytes, "%.*s", static_cast<int>(std::strcspn(line, "\n")), line);
}

hy_device_info InfoOf(const Fixture& fixture) {
  hy_device_info info = {};
  info.struct_size = sizeof info;
  info.kind = HY_DEVICE_CPU_CLASS;
  std::snprintf(info.id, sizeof info.id, "%s", fixture.name);
  std::snprintf(info.locator, sizeof info.locator, "sim");
  CopyMachineName(fixture.image, info.name, sizeof info.name);
  return info;
}

port_kit::DeviceFacts FactsOf(const hy_device_info* info) {
  static const uint64_t kMemoryBytes = port_kit::HostMemoryBytes();
  static const hy_memory_class kClass = {.struct_size = sizeof kClass,
                                         .id = 0,
                                         .flags = HY_MEMORY_HOST_VISIBLE | HY_MEMORY_COHERENT,
                                         .bytes_total = kMemoryBytes,
                                         .min_alignment = 64,
                                         .name = "host"};
  return {.info = info,
          .vendor = "Halyard",
          .driver = "sim_topology 1.0",
          .caps = HY_CAP_COHERENT | HY_CAP_PERSISTENT_MAP | HY_CAP_REOPEN,
          .classes = &kClass,
          .class_count = 1,
          .sync_granule_bytes = 1,
          .min_alignment = kClass.min_alignment,
          .max_alloc_bytes = kMemoryBytes,
          .queue_tier = HY_QUEUE_TIER_INLINE,
          .timestamp_hz = 1000000000};
}

hy_status Enumerate(const hy_hal_api* self, hy_array* inout_devices) {
  if (self == nullptr) return HY_INVALID_ARGUMENT;
  return Guarded([&] {
    std::vector<hy_device_info> infos;
    for (const Fixture& fixture : Fixtures()) infos.push_back(InfoOf(fixture));
    return hy_fill_array(inout_devices, infos.data(), sizeof(hy_device_info),
                         static_cast<uint32_t>(infos.size()));
  });
}

const Fixture* FindFixture(const char* id) {
  for (const Fixture& fixture : Fixtures()) {
    if (id == nullptr || std::strcmp(id, fixture.name) == 0) return &fixture;
  }
  return nullptr;
}

hy_status TakeOption(void* context, const char* key, const char* value) {
  if (std::strcmp(key, "system") != 0) {
    return Report(host, HY_INVALID_ARGUMENT, "unknown option '%s'; there is: system=PATH", key);
  }
  auto* machine = static_cast<std::unique_ptr<const Machine>*>(context);
  return Guarded([&]() -> hy_status {
    absl::StatusOr<std::unique_ptr<Machine>> opened = Machine::FromPath(value);
    if (opened.ok()) {
      *machine = *std::move(opened);
      return HY_OK;
    }
    return Report(host, FromStatus(opened.status()), "%s",
                  std::string(opened.status().message()).c_str());
  });
}

hy_status Open(const hy_hal_api* self, const hy_open_desc* desc, hy_device** out_device) {
  if (out_device == nullptr) return HY_INVALID_ARGUMENT;
  *out_device = nullptr;
  if (self == nullptr) return HY_INVALID_ARGUMENT;
  hy_open_desc known;
  hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (status != HY_OK) return status;
  const Fixture* fixture = FindFixture(known.id);
  if (fixture == nullptr) {
    return Report(host, HY_NOT_FOUND, "no fixture '%s'; enumerate lists them", known.id);
  }
  const hy_device_info info = InfoOf(*fixture);
  std::unique_ptr<const Machine> machine;
  status = port_kit::ReadOpen(host, FactsOf(&info), desc, TakeOption, &machine);
  if (status != HY_OK) return status;
  auto* device = port_kit::New<Device>(host, fixture->image, std::move(machine));
  if (device == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "open: no host memory");
  *out_device = port_kit::ToHandle<hy_device>(device);
  return HY_OK;
}

hy_status AnswerPageSizes(Device* device, void* answer, uint64_t* inout_bytes) {
  const Machine* machine = nullptr;
  const hy_status status = device->GetMachine(&machine);
  if (status != HY_OK) return status;
  const std::vector<uint64_t>& sizes = machine->page_sizes_bytes();
  return hy_answer(sizes.data(), sizes.size() * sizeof sizes[0], answer, inout_bytes);
}

hy_status Query(const hy_query_desc* desc, void* answer, uint64_t* inout_bytes) {
  hy_query_desc query;
  const hy_status status = port_kit::ReadQuery(desc, inout_bytes, &query);
  if (status != HY_OK) return status;
  auto* device = As<Device>(query.handle);
  if (query.key == HY_QUERY_PAGE_SIZES && device != nullptr) {
    return Guarded([&] { return AnswerPageSizes(device, answer, inout_bytes); });
  }
  return port_kit::QueryObject<Device, Buffer>(FactsOf(nullptr), desc, answer, inout_bytes);
}

hy_status Topology(hy_device* handle, hy_topology* inout_topology) {
  auto* device = As<Device>(handle);
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  hy_topology known;
  hy_status status = hy_read_struct(&known, sizeof known, inout_topology);
  if (status != HY_OK) return status;
  return Guarded([&] {
    const Machine* machine = nullptr;
    status = device->GetMachine(&machine);
    if (status != HY_OK) return status;
    return hal::ExportTopology(machine->topology((known.flags & HY_TOPOLOGY_ALL) != 0),
                               inout_topology);
  });
}

hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                hy_placement* out_placement) {
  return port_kit::AllocBuffer<Device, Buffer>(host, FactsOf(nullptr), device, desc, out_buffer,
                                               out_placement);
}

hy_status ReadRange(const Buffer& buffer, const hy_map_desc* desc, hy_map_desc* range) {
  constexpr uint64_t kKnown = HY_MAP_READ | HY_MAP_WRITE | HY_MAP_DISCARD | HY_MAP_PERSISTENT;
  const hy_status status = hy_read_struct(range, sizeof *range, desc);
  if (status != HY_OK) return status;
  const bool discards_unwritten =
      (range->access & (HY_MAP_DISCARD | HY_MAP_WRITE)) == HY_MAP_DISCARD;
  if ((range->access & ~kKnown) != 0 || (range->access & (HY_MAP_READ | HY_MAP_WRITE)) == 0 ||
      discards_unwritten || range->bytes == 0) {
    return Report(host, HY_INVALID_ARGUMENT, "map: needs bytes, and READ or WRITE");
  }
  if (hy_range_ok(range->offset, range->bytes, buffer.bytes)) return HY_OK;
  return Report(host, HY_OUT_OF_RANGE, "map: the range leaves the buffer");
}

hy_status Map(hy_buffer* handle, const hy_map_desc* desc, void** out_ptr) {
  if (out_ptr == nullptr) return HY_INVALID_ARGUMENT;
  *out_ptr = nullptr;
  const auto* buffer = As<const Buffer>(handle);
  if (buffer == nullptr) return HY_INVALID_ARGUMENT;
  hy_map_desc range;
  const hy_status status = ReadRange(*buffer, desc, &range);
  if (status == HY_OK) *out_ptr = buffer->pages.data() + range.offset;
  return status;
}

hy_status Unmap(hy_buffer* handle, const hy_map_desc* desc, void* ptr) {
  const auto* buffer = As<const Buffer>(handle);
  if (buffer == nullptr) return HY_INVALID_ARGUMENT;
  hy_map_desc range;
  const hy_status status = ReadRange(*buffer, desc, &range);
  if (status != HY_OK) return status;
  return ptr == buffer->pages.data() + range.offset ? HY_OK : HY_INVALID_ARGUMENT;
}

// The unit is not on this machine: the worker keeps the mask that it has, and the report says so.
hy_status RunUnbound(uint32_t pu, uint32_t mode, hy_worker_report* inout_report) {
  if (mode == HY_BIND_LEAVE && inout_report == nullptr) return HY_OK;
  hy_worker_report given;
  const hy_status status = hy_read_struct(&given, sizeof given, inout_report);
  if (status != HY_OK) return status;
  hal::WorkerReport report;
  report.index = given.index;
  report.requested_pu = pu;
  hal::ReadBackThisThread(&report);
  // Units of the host may have the same numbers.
  report.flags &= ~HY_WORKER_BOUND;
  report.node_id = HY_ID_NONE;
  hal::ExportReport(report, inout_report);
  return HY_OK;
}

hy_status WorkerBind(hy_device* handle, uint32_t pu, uint32_t mode,
                     hy_worker_report* inout_report) {
  auto* device = As<Device>(handle);
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  if (mode != HY_BIND_ENTER && mode != HY_BIND_LEAVE) return HY_INVALID_ARGUMENT;
  return Guarded([&] {
    const Machine* machine = nullptr;
    const hy_status status = device->GetMachine(&machine);
    if (status != HY_OK) return status;
    if (machine->topology(false).FindPu(pu) == nullptr) {
      return Report(host, HY_NOT_FOUND, "the simulated machine has no allowed unit %u", pu);
    }
    return RunUnbound(pu, mode, inout_report);
  });
}

hy_status Timestamp(hy_device* device, hy_timestamp* out_timestamp) {
  return port_kit::ReadTimestamp<Device>(host, device, out_timestamp);
}

hy_status Release(uint32_t kind, void* handle) {
  return port_kit::ReleaseObject<Buffer, Device>(host, kind, handle);
}

constexpr hy_hal_api kTable = [] {
  hy_hal_api table = port_kit::EmptyTable("sim_topology");
  table.enumerate = Enumerate;
  table.open = Open;
  table.query = Query;
  table.topology = Topology;
  table.alloc = Alloc;
  table.map = Map;
  table.unmap = Unmap;
  table.worker_bind = WorkerBind;
  table.timestamp = Timestamp;
  table.release = Release;
  return table;
}();

}  // namespace
}  // namespace halyard::sim_topology

HALYARD_HAL_DEFINE(halyard::sim_topology::kTable, halyard::sim_topology::host)
