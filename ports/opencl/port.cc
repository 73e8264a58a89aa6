// SPDX-License-Identifier: Apache-2.0
//
// Devices of the OpenCL platforms of this machine, as memory that is reached by copies only. Tier
// 0: every operation is done when `submit` returns. A machine without a driver has zero devices.
#include <limits>

#include "halyard/hal_port.h"
#include "ports/kit/facts.h"
#include "ports/kit/object.h"
#include "ports/kit/verbs.h"
#include "ports/opencl/cl_devices.h"
#include "ports/opencl/cl_memory.h"
#include "ports/opencl/signal_guard.h"

namespace halyard::opencl {

const hy_host_services* host;

namespace {

using port_kit::As;
using port_kit::Report;

constexpr uint32_t kClassGlobal = 1;

// What there is to know of a device, kept with it: `query` gives the same answers each time.
struct Facts {
  explicit Facts(const FoundDevice& found);
  Facts(const Facts&) = delete;
  Facts& operator=(const Facts&) = delete;

  hy_device_info info;
  hy_memory_class memory;
  char vendor[96];
  char driver[128];
  port_kit::DeviceFacts device;
};

Facts::Facts(const FoundDevice& found) : info(found.info), memory{} {
  constexpr uint64_t kAddressable = std::numeric_limits<size_t>::max() / 2;
  const uint64_t most = DeviceNumber(found.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  const uint64_t align_bits = DeviceNumber(found.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
  DeviceText(found.device, CL_DEVICE_VENDOR, vendor, sizeof vendor);
  DeviceText(found.device, CL_DRIVER_VERSION, driver, sizeof driver);
  memory.struct_size = sizeof memory;
  memory.id = kClassGlobal;
  memory.flags = HY_MEMORY_DEVICE_LOCAL;
  memory.bytes_total = DeviceNumber(found.device, CL_DEVICE_GLOBAL_MEM_SIZE);
  memory.min_alignment = align_bits >= 8 ? align_bits / 8 : 1;
  std::memcpy(memory.name, "global", sizeof "global");
  device = {.info = &info,
            .vendor = vendor,
            .driver = driver,
            .caps = HY_CAP_REOPEN,
            .classes = &memory,
            .class_count = 1,
            .sync_granule_bytes = 1,
            .min_alignment = memory.min_alignment,
            .max_alloc_bytes = most < kAddressable ? most : kAddressable,
            .queue_tier = HY_QUEUE_TIER_INLINE,
            .timestamp_hz = 1000000000};
}

struct Device : port_kit::Object {
  static constexpr uint32_t kKind = HY_KIND_DEVICE;
  explicit Device(const FoundDevice& found) : Object(kKind), facts(found) {}
  ~Device() {
    if (link.queue != nullptr) clReleaseCommandQueue(link.queue);
    if (link.context != nullptr) clReleaseContext(link.context);
  }
  const Facts facts;
  Link link;
};

// ----------------------------------------------------------------------------------- discover ---

hy_status Enumerate(const hy_hal_api* self, hy_array* inout_devices) {
  if (self == nullptr || inout_devices == nullptr) return HY_INVALID_ARGUMENT;
  // Each device goes to its own place in the caller's array, so no list is needed here.
  inout_devices->count = 0;
  VisitDevices(
      [](void* context, const FoundDevice& found) {
        auto* out = static_cast<hy_array*>(context);
        const uint32_t index = out->count++;
        if (out->data == nullptr || index >= out->capacity) return true;
        hy_array place = *out;
        place.data = hy_array_at(out, index);
        place.capacity = 1;
        (void)hy_fill_array(&place, &found.info, sizeof found.info, 1);
        return true;
      },
      inout_devices);
  const bool short_of =
      inout_devices->data != nullptr && inout_devices->count > inout_devices->capacity;
  return short_of ? HY_OUT_OF_RANGE : HY_OK;
}

struct Search {
  const char* id;  // NULL: the first
  bool done;
  FoundDevice found;
};

Search FindDevice(const char* id) {
  Search search = {id, false, {}};
  VisitDevices(
      [](void* context, const FoundDevice& found) {
        auto* wanted = static_cast<Search*>(context);
        if (wanted->id != nullptr && std::strcmp(wanted->id, found.info.id) != 0) return true;
        wanted->found = found;
        wanted->done = true;
        return false;
      },
      &search);
  return search;
}

hy_status Connect(const FoundDevice& found, Link* link) {
  const SignalGuard guard;
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(found.platform), 0};
  cl_int error = CL_SUCCESS;
  link->context = clCreateContext(properties, 1, &found.device, nullptr, nullptr, &error);
  if (error == CL_SUCCESS) {
    link->queue = clCreateCommandQueue(link->context, found.device, 0, &error);
  }
  if (error == CL_SUCCESS) return HY_OK;
  const hy_status status =
      StatusOf(error) == HY_RESOURCE_EXHAUSTED ? HY_RESOURCE_EXHAUSTED : HY_UNAVAILABLE;
  return Report(host, status, "open: OpenCL error %d; see whether `clinfo` works", error);
}

hy_status Open(const hy_hal_api* self, const hy_open_desc* desc, hy_device** out_device) {
  if (out_device == nullptr) return HY_INVALID_ARGUMENT;
  *out_device = nullptr;
  if (self == nullptr) return HY_INVALID_ARGUMENT;
  hy_open_desc wanted;
  hy_status status = hy_read_struct(&wanted, sizeof wanted, desc);
  if (status != HY_OK) return status;
  const Search search = FindDevice(wanted.id);
  if (!search.done) {
    return Report(host, HY_NOT_FOUND, "no OpenCL device '%s'; `clinfo -l` lists those there are",
                  wanted.id == nullptr ? "" : wanted.id);
  }
  if (wanted.options.count != 0) {
    return Report(host, HY_INVALID_ARGUMENT, "an OpenCL device has no options; leave them out");
  }
  auto* device = port_kit::New<Device>(host, search.found);
  if (device == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "open: no host memory");
  status = Connect(search.found, &device->link);
  if (status != HY_OK) {
    port_kit::Delete(host, device);
    return status;
  }
  *out_device = port_kit::ToHandle<hy_device>(device);
  return HY_OK;
}

hy_status Query(const hy_query_desc* desc, void* answer, uint64_t* inout_bytes) {
  hy_query_desc query;
  const hy_status status = port_kit::ReadQuery(desc, inout_bytes, &query);
  if (status != HY_OK) return status;
  const bool native = query.key == HY_QUERY_NATIVE_HANDLE;
  const auto* device = As<const Device>(query.handle);
  if (device != nullptr && query.kind == HY_KIND_DEVICE) {
    if (!native) return port_kit::AnswerDevice(device->facts.device, query, answer, inout_bytes);
    return hy_answer_u64(reinterpret_cast<uintptr_t>(device->link.context), answer, inout_bytes);
  }
  const auto* buffer = As<const Buffer>(query.handle);
  if (buffer == nullptr || query.kind != HY_KIND_BUFFER) return HY_INVALID_ARGUMENT;
  if (native) {
    return hy_answer_u64(reinterpret_cast<uintptr_t>(buffer->memory()), answer, inout_bytes);
  }
  if (query.key == HY_QUERY_PLACEMENT) return port_kit::AnswerUnknownPlacement(answer, inout_bytes);
  return HY_UNIMPLEMENTED;  // OpenCL does not tell addresses
}

// ------------------------------------------------------------------------------------- memory ---

hy_status Alloc(hy_device* handle, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                hy_placement* out_placement) {
  if (out_buffer == nullptr) return HY_INVALID_ARGUMENT;
  *out_buffer = nullptr;
  auto* device = As<Device>(handle);
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  hy_alloc_desc known;
  hy_status status = port_kit::ReadAlloc(host, device->facts.device, desc, &known);
  if (status == HY_OK) status = port_kit::WriteUnknownPlacement(out_placement);
  if (status != HY_OK) return status;
  auto* buffer = port_kit::New<Buffer>(host, &device->link, known.bytes);
  if (buffer == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "alloc: no host memory");
  status = buffer->Take(known.flags);
  if (status != HY_OK) {
    port_kit::Delete(host, buffer);
    return status;
  }
  *out_buffer = port_kit::ToHandle<hy_buffer>(buffer);
  return HY_OK;
}

hy_status Submit(hy_device* handle, hy_queue* queue, const hy_submission* submission) {
  auto* device = As<Device>(handle);
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  ClMover mover(&device->link);
  return port_kit::RunInline(host, queue, submission, mover);
}

hy_status Timestamp(hy_device* device, hy_timestamp* out_timestamp) {
  return port_kit::ReadTimestamp<Device>(host, device, out_timestamp);
}

hy_status Release(uint32_t kind, void* handle) {
  return port_kit::ReleaseObject<Buffer, Device>(host, kind, handle);
}

constexpr hy_hal_api kTable = [] {
  hy_hal_api table = port_kit::EmptyTable("opencl");
  table.enumerate = Enumerate;
  table.open = Open;
  table.query = Query;
  table.alloc = Alloc;
  table.submit = Submit;
  table.timestamp = Timestamp;
  table.release = Release;
  return table;
}();

}  // namespace
}  // namespace halyard::opencl

HALYARD_HAL_DEFINE(halyard::opencl::kTable, halyard::opencl::host)
