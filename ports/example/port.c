// SPDX-License-Identifier: Apache-2.0
//
// The example port: a complete port of a CPU-class chip, in C11.
//
// Eight verbs are filled in here. Every slot of the table that stays NULL is served by the core:
// topology from the operating system's tables, thread teams, queues, fences, imports. So this file
// runs every operator from the first day; what you add later only makes it faster.
//
// Read halyard/hal.h beside it: the lines such as [HAL-MEM-03] are the duties, and
// `halyard conform --level hal` tests each one. Halyard calls the verbs from several threads, so
// whatever they share must be constant or locked. A port never prints, aborts or throws: it
// returns a status, and host->report keeps a message that tells the caller what to do.
#include <string.h>
#include <unistd.h>

#include "halyard/hal.h"
#include "halyard/hal_port.h"

// The services of the core: messages, memory, pages, clocks. HALYARD_HAL_DEFINE, at the end of
// this file, sets it before any verb can be called.
static const hy_host_services* host;

#define DEVICE_ID "example:0"

// What the device can do. Claim a bit only if it holds: Halyard believes you, and then tests it.
// The node and page policies are those of host->pages_alloc, which Alloc calls.
static const uint64_t kDeviceCaps = HY_CAP_COHERENT | HY_CAP_PERSISTENT_MAP | HY_CAP_NODE_POLICY |
                                    HY_CAP_PAGE_POLICY | HY_CAP_REOPEN;

// A label of the memory class; it is no index. A chip with on-chip memory has a second class.
enum { kClassDram = 1 };

// Halyard sees only pointers to these two. A real device also keeps its driver's handle here.
struct hy_device {
  uint64_t memory_bytes;
};

struct hy_buffer {
  void* ptr;
  uint64_t bytes;
};

// Looks for devices. It must be quick, start nothing, and count 0 where the chip is absent.
static hy_status Enumerate(const hy_hal_api* self, hy_array* inout_devices) {
  hy_device_info info = {.struct_size = sizeof info,
                         .kind = HY_DEVICE_CPU_CLASS,
                         .id = DEVICE_ID,
                         .name = "CPU of the example port",
                         .locator = "host"};
  if (self == NULL) return HY_INVALID_ARGUMENT;
  // hy_fill_array keeps to the rules of out-arrays: counting alone, short capacity, strides.
  return hy_fill_array(inout_devices, &info, sizeof info, 1);
}

static hy_status Open(const hy_hal_api* self, const hy_open_desc* desc, hy_device** out_device) {
  hy_open_desc wanted;
  if (out_device == NULL) return HY_INVALID_ARGUMENT;
  *out_device = NULL;  // stays so on every error below
  if (self == NULL) return HY_INVALID_ARGUMENT;
  // The struct of the caller may be older or newer than the one this file was compiled with.
  // hy_read_struct takes what both know, and refuses what would otherwise be ignored.
  const hy_status status = hy_read_struct(&wanted, sizeof wanted, desc);
  if (status != HY_OK) return status;
  if (wanted.id != NULL && strcmp(wanted.id, DEVICE_ID) != 0) {
    return host->report(HY_NOT_FOUND, "no such device; the only one is " DEVICE_ID);
  }
  if (wanted.options.count != 0) {
    return host->report(HY_INVALID_ARGUMENT, "the example port has no options; leave them out");
  }
  // Small objects come from the host too: it counts them, and tests make it run out.
  hy_device* device = host->memory_alloc(sizeof *device, 16);
  if (device == NULL) return host->report(HY_RESOURCE_EXHAUSTED, "no memory to open the device");
  device->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  *out_device = device;
  return HY_OK;
}

static hy_status Query(const hy_query_desc* desc, void* answer, uint64_t* inout_bytes) {
  hy_query_desc asked;
  hy_memory_class dram = {.struct_size = sizeof dram,
                          .id = kClassDram,
                          .flags = HY_MEMORY_HOST_VISIBLE | HY_MEMORY_COHERENT,
                          .min_alignment = 64,
                          .name = "dram"};
  const hy_status status = hy_read_struct(&asked, sizeof asked, desc);
  if (status != HY_OK) return status;
  if (asked.handle == NULL || inout_bytes == NULL ||
      asked.kind != (asked.key == HY_QUERY_PLACEMENT ? HY_KIND_BUFFER : HY_KIND_DEVICE)) {
    return HY_INVALID_ARGUMENT;
  }
  const hy_device* device = asked.handle;
  const hy_buffer* buffer = asked.handle;
  switch (asked.key) {
    case HY_QUERY_CAPS:
      return hy_answer_u64(kDeviceCaps, answer, inout_bytes);
    case HY_QUERY_MEMORY_CLASSES:
      dram.bytes_total = device->memory_bytes;
      return hy_answer_records(&dram, sizeof dram, 1, asked.stride, answer, inout_bytes);
    case HY_QUERY_MIN_ALIGNMENT:
      return hy_answer_u64(dram.min_alignment, answer, inout_bytes);
    case HY_QUERY_MAX_ALLOC:
      return hy_answer_u64(device->memory_bytes, answer, inout_bytes);
    case HY_QUERY_TIMESTAMP_HZ:  // host->timestamp counts nanoseconds
      return hy_answer_u64(1000000000u, answer, inout_bytes);
    case HY_QUERY_VENDOR:
      return hy_answer_string("Halyard", answer, inout_bytes);
    case HY_QUERY_PLACEMENT:
      return hy_answer_placement(host, buffer->ptr, buffer->bytes, answer, inout_bytes);
    default:  // normal for a key that the port does not know: the core has defaults
      return HY_UNIMPLEMENTED;
  }
}

static hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                       hy_placement* out_placement) {
  hy_alloc_desc wanted;
  if (out_buffer == NULL) return HY_INVALID_ARGUMENT;
  *out_buffer = NULL;
  hy_status status = hy_read_struct(&wanted, sizeof wanted, desc);
  if (status != HY_OK) return status;
  if (device == NULL) return HY_INVALID_ARGUMENT;
  if (wanted.memory_class != HY_ID_NONE && wanted.memory_class != kClassDram) {
    return host->report(HY_UNIMPLEMENTED, "no such memory class; query MEMORY_CLASSES lists them");
  }
  if (wanted.bytes > device->memory_bytes) {
    return host->report(HY_RESOURCE_EXHAUSTED, "more than the machine has; see query MAX_ALLOC");
  }
  wanted.memory_class = HY_ID_NONE;  // a label of this port, which the core does not know
  hy_buffer* buffer = host->memory_alloc(sizeof *buffer, 16);
  if (buffer == NULL) return host->report(HY_RESOURCE_EXHAUSTED, "no memory for the buffer record");
  buffer->bytes = wanted.bytes;
  // The core's page ladder checks the rest of the wish, tries huge pages and nodes in their order,
  // and writes what the system really gave. A vendor's own allocator would stand here instead.
  status = host->pages_alloc(&wanted, &buffer->ptr, out_placement);
  if (status == HY_OK) *out_buffer = buffer;
  if (status != HY_OK) host->memory_free(buffer);
  return status;
}

// Memory of a coherent chip is simply there, so `unmap` and `sync_range` have nothing to do and
// stay NULL. A device without shared memory leaves `map` NULL too and fills in `submit` instead.
static hy_status Map(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  const uint64_t accepted = HY_MAP_READ | HY_MAP_WRITE | HY_MAP_DISCARD | HY_MAP_PERSISTENT;
  hy_map_desc range;
  if (out_ptr == NULL) return HY_INVALID_ARGUMENT;
  *out_ptr = NULL;
  if (buffer == NULL) return HY_INVALID_ARGUMENT;
  const hy_status status = hy_read_map(&range, desc, buffer->bytes, accepted);
  if (status != HY_OK) return host->report(status, "map: a range within the buffer, known flags");
  *out_ptr = (unsigned char*)buffer->ptr + range.offset;
  return HY_OK;
}

// Runs on each worker thread when it starts (ENTER) and before it ends (LEAVE). Here belongs what
// a chip wants from its threads: its own affinity call, tightly coupled memory for
// inout_report->scratch, a hint to the power driver. LEAVE undoes ENTER in the reverse order.
static hy_status WorkerBind(hy_device* device, uint32_t pu, uint32_t mode,
                            hy_worker_report* inout_report) {
  if (device == NULL) return HY_INVALID_ARGUMENT;
  return host->worker_bind(pu, mode, inout_report);
}

// A chip with a counter of its own reads it here, next to the host's clock.
static hy_status Timestamp(hy_device* device, hy_timestamp* out_timestamp) {
  if (device == NULL || out_timestamp == NULL) return HY_INVALID_ARGUMENT;
  return host->timestamp(out_timestamp);
}

static hy_status Release(uint32_t kind, void* handle) {
  if (kind == 0 || kind >= HY_KIND_COUNT) return HY_INVALID_ARGUMENT;
  if (handle == NULL) return HY_OK;
  if (kind != HY_KIND_DEVICE && kind != HY_KIND_BUFFER) {
    return host->report(HY_INVALID_ARGUMENT, "this port makes devices and buffers only");
  }
  if (kind == HY_KIND_BUFFER) (void)host->pages_free(((hy_buffer*)handle)->ptr);
  host->memory_free(handle);
  return HY_OK;
}

static const hy_hal_api kTable = {
    HY_HAL_TABLE_HEAD(kTable),
    .name = "example",
    .version = "0.1.0",
    .vendor = "Halyard",
    .enumerate = Enumerate,
    .open = Open,
    .query = Query,
    .alloc = Alloc,
    .map = Map,
    .worker_bind = WorkerBind,
    .timestamp = Timestamp,
    .release = Release,
};

HALYARD_HAL_DEFINE(kTable, host)
