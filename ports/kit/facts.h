// SPDX-License-Identifier: Apache-2.0
//
// A device as data: its facts, and the verbs that follow from them alone.
#ifndef HALYARD_PORTS_KIT_FACTS_H_
#define HALYARD_PORTS_KIT_FACTS_H_

#include <cstdint>

#include "halyard/hal_port.h"
#include "ports/kit/object.h"

namespace halyard::port_kit {

/// What `enumerate`, `open`, `query` and the checks of `alloc` need to know of a device.
struct DeviceFacts {
  const hy_device_info* info;
  const char* vendor;
  const char* driver;
  uint64_t caps;
  const hy_memory_class* classes;
  uint32_t class_count;
  uint64_t sync_granule_bytes;
  uint64_t min_alignment;
  uint64_t max_alloc_bytes;
  uint64_t queue_tier;
  uint64_t timestamp_hz;
};

/// A table with its head filled in and every slot NULL.
constexpr hy_hal_api EmptyTable(const char* name) {
  hy_hal_api table = {};
  table.struct_size = sizeof table;
  table.abi_major = HY_HAL_ABI_MAJOR;
  table.abi_minor = HY_HAL_ABI_MINOR;
  table.name = name;
  table.version = "1.0.0";
  table.vendor = "Halyard";
  return table;
}

/// As `enumerate`, of this one device.
hy_status EnumerateOne(const hy_hal_api* self, const DeviceFacts& facts, hy_array* inout_devices);

/// Takes an option of `open`; INVALID_ARGUMENT if it does not know the key or value.
using OptionFn = hy_status (*)(void* context, const char* key, const char* value);

/// Reads the description given to `open`. Errors as `open`; `take` may be NULL: no options.
hy_status ReadOpen(const hy_host_services* host, const DeviceFacts& facts, const hy_open_desc* desc,
                   OptionFn take, void* context);

/// Reads and checks the description of a query: pointers, and that the kind fits the key.
hy_status ReadQuery(const hy_query_desc* desc, const uint64_t* inout_bytes, hy_query_desc* known);

/// As `query` of the device. Errors: UNIMPLEMENTED: another key.
hy_status AnswerDevice(const DeviceFacts& facts, const hy_query_desc& query, void* answer,
                       uint64_t* inout_bytes);

/// Reads and checks the description given to `alloc`; what the capabilities do not allow is
/// UNIMPLEMENTED. `known` has an alignment of at least the device's least. Errors as `alloc`.
hy_status ReadAlloc(const hy_host_services* host, const DeviceFacts& facts,
                    const hy_alloc_desc* desc, hy_alloc_desc* known);

/// Writes that nothing is known of where memory lies. `out` may be NULL.
hy_status WriteUnknownPlacement(hy_placement* out);

/// As WriteUnknownPlacement, as the answer of a query.
hy_status AnswerUnknownPlacement(void* answer, uint64_t* inout_bytes);

/// Parses a decimal number that fills the text. Returns false, and writes nothing, otherwise.
bool ParseU64(const char* text, uint64_t* out_value);

/// Memory of the machine, and what a process can address of it: a sound MAX_ALLOC.
uint64_t HostMemoryBytes();

}  // namespace halyard::port_kit

#endif  // HALYARD_PORTS_KIT_FACTS_H_
