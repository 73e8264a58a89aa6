// SPDX-License-Identifier: Apache-2.0
//
// Helpers for whoever writes a port, all inline: the exported entry, the size rule, typed wrappers.
// C11 and C++20.
#ifndef HALYARD_HAL_PORT_H_
#define HALYARD_HAL_PORT_H_

#include <string.h>

#include "halyard/hal.h"

#ifdef __cplusplus
#define HY_EXTERN_C extern "C"
extern "C" {
#else
#define HY_EXTERN_C
#endif

#if defined(__GNUC__)
#define HY_EXPORT __attribute__((visibility("default")))
#else
#define HY_EXPORT
#endif

/// Name of the entry. In-tree ports are linked into one program, so the build names each apart.
#ifndef HALYARD_PORT_ENTRY
#define HALYARD_PORT_ENTRY halyard_hal_get
#endif

/// Writes the exported entry. `table` is the port's `static const hy_hal_api`; after the first call
/// `host_variable`, a `static const hy_host_services*` of the port, holds the host's services.
#define HALYARD_HAL_DEFINE(table, host_variable)                                  \
  HY_EXTERN_C HY_EXPORT const hy_hal_api* HALYARD_PORT_ENTRY(                     \
      uint32_t host_major, uint32_t host_minor, const hy_host_services* services, \
      uint32_t* out_reason);                                                      \
  HY_EXTERN_C HY_EXPORT const hy_hal_api* HALYARD_PORT_ENTRY(                     \
      uint32_t host_major, uint32_t host_minor, const hy_host_services* services, \
      uint32_t* out_reason) {                                                     \
    const uint32_t reason = hy_negotiate(host_major, host_minor, services);       \
    if (out_reason != NULL) *out_reason = reason;                                 \
    if (reason != HY_REFUSED_NONE) return NULL;                                   \
    (host_variable) = services;                                                   \
    return &(table);                                                              \
  }

/// First members of the table, as designated initialisers: the versions that the port was built with.
#define HY_HAL_TABLE_HEAD(table)                                         \
  .struct_size = (uint32_t)sizeof(table), .abi_major = HY_HAL_ABI_MAJOR, \
  .abi_minor = HY_HAL_ABI_MINOR

/// Services that a host of ABI 1.0 gives at least.
#define HY_HOST_SERVICES_SIZE_V1_0 \
  ((uint32_t)(offsetof(hy_host_services, timestamp) + sizeof(void*)))

/// HY_REFUSED_* for a host; a port built for minor 0 runs on every host of its major version.
static inline uint32_t hy_negotiate(uint32_t host_major, uint32_t host_minor,
                                    const hy_host_services* services) {
  (void)host_minor;
  if (host_major != HY_HAL_ABI_MAJOR) return HY_REFUSED_MAJOR;
  if (services == NULL || services->struct_size < HY_HOST_SERVICES_SIZE_V1_0) {
    return HY_REFUSED_SERVICES;
  }
  return HY_REFUSED_NONE;
}

/// The size rule for inputs: copies what the caller gave into `known` (known_bytes, zeroed first).
/// A tail that this port does not know must be all zero. `given` may be shorter or longer; `known`
/// then says its own size, so that it can be handed on to a host service.
/// Errors   INVALID_ARGUMENT: NULL or no struct_size; UNIMPLEMENTED: a non-zero unknown tail.
static inline hy_status hy_read_struct(void* known, uint32_t known_bytes, const void* given) {
  uint32_t given_bytes = 0;
  uint32_t i;
  memset(known, 0, known_bytes);
  if (given == NULL) return HY_INVALID_ARGUMENT;
  memcpy(&given_bytes, given, sizeof given_bytes);
  if (given_bytes < sizeof given_bytes) return HY_INVALID_ARGUMENT;
  for (i = known_bytes; i < given_bytes; ++i) {
    if (((const unsigned char*)given)[i] != 0) return HY_UNIMPLEMENTED;
  }
  memcpy(known, given, given_bytes < known_bytes ? given_bytes : known_bytes);
  memcpy(known, &known_bytes, sizeof known_bytes);
  return HY_OK;
}

/// The size rule for outputs: copies `known` to the caller's struct, no further than its
/// struct_size, zeroes what the caller knows beyond it, and keeps its struct_size.
static inline hy_status hy_write_struct(void* given, const void* known, uint32_t known_bytes) {
  uint32_t given_bytes = 0;
  if (given == NULL) return HY_INVALID_ARGUMENT;
  memcpy(&given_bytes, given, sizeof given_bytes);
  if (given_bytes < sizeof given_bytes) return HY_INVALID_ARGUMENT;
  memcpy(given, known, given_bytes < known_bytes ? given_bytes : known_bytes);
  if (given_bytes > known_bytes) {
    memset((unsigned char*)given + known_bytes, 0, given_bytes - known_bytes);
  }
  memcpy(given, &given_bytes, sizeof given_bytes);
  return HY_OK;
}

/// Address of record `index` of an array; honours the stride.
static inline void* hy_array_at(const hy_array* array, uint32_t index) {
  return (unsigned char*)array->data + (size_t)index * array->stride;
}

/// Fills an out-array with `count` records of `record_bytes` from `records` (packed), each at most
/// `stride` bytes; the bytes between records stay. Each record written says its own struct_size.
/// Errors   INVALID_ARGUMENT: NULL; OUT_OF_RANGE: capacity too small (count is set all the same).
static inline hy_status hy_fill_array(hy_array* array, const void* records, uint32_t record_bytes,
                                      uint32_t count) {
  uint32_t i;
  uint32_t bytes;
  if (array == NULL) return HY_INVALID_ARGUMENT;
  array->count = count;
  if (array->data == NULL) return HY_OK;
  bytes = array->stride < record_bytes ? array->stride : record_bytes;
  for (i = 0; i < count && i < array->capacity; ++i) {
    unsigned char* out = (unsigned char*)hy_array_at(array, i);
    memcpy(out, (const unsigned char*)records + (size_t)i * record_bytes, bytes);
  }
  return count > array->capacity ? HY_OUT_OF_RANGE : HY_OK;
}

/// Answers a query with `bytes` at `answer`: size alone if buffer is NULL, OUT_OF_RANGE if short.
static inline hy_status hy_answer(const void* answer, uint64_t bytes, void* buffer,
                                  uint64_t* inout_bytes) {
  uint64_t room;
  if (inout_bytes == NULL) return HY_INVALID_ARGUMENT;
  room = *inout_bytes;
  *inout_bytes = bytes;
  if (buffer == NULL) return HY_OK;
  if (room < bytes) return HY_OUT_OF_RANGE;
  memcpy(buffer, answer, (size_t)bytes);
  return HY_OK;
}

static inline hy_status hy_answer_u64(uint64_t answer, void* buffer, uint64_t* inout_bytes) {
  return hy_answer(&answer, sizeof answer, buffer, inout_bytes);
}

static inline hy_status hy_answer_string(const char* answer, void* buffer, uint64_t* inout_bytes) {
  return hy_answer(answer, (uint64_t)strlen(answer) + 1u, buffer, inout_bytes);
}

/// Answers a query with an array of structs: `count` packed records, written hy_query_desc::stride
/// bytes apart (0: packed too), each cut at the stride; the bytes between records stay.
static inline hy_status hy_answer_records(const void* records, uint32_t record_bytes,
                                          uint32_t count, uint32_t stride, void* buffer,
                                          uint64_t* inout_bytes) {
  hy_array array;
  uint64_t room;
  if (inout_bytes == NULL) return HY_INVALID_ARGUMENT;
  if (stride == 0) stride = record_bytes;
  room = *inout_bytes;
  *inout_bytes = (uint64_t)count * stride;
  if (buffer == NULL) return HY_OK;
  if (room < *inout_bytes) return HY_OUT_OF_RANGE;
  memset(&array, 0, sizeof array);
  array.data = buffer;
  array.capacity = count;
  array.stride = stride;
  return hy_fill_array(&array, records, record_bytes, count);
}

/// True if [offset, offset + bytes) lies in an object of `size` bytes; never overflows.
static inline int hy_range_ok(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

/// Answers HY_QUERY_PLACEMENT for host memory. The record has an array of the caller's in it, so the
/// core fills it in place, with what the system says now.
static inline hy_status hy_answer_placement(const hy_host_services* services, const void* ptr,
                                            uint64_t bytes, void* buffer, uint64_t* inout_bytes) {
  uint64_t room;
  if (inout_bytes == NULL) return HY_INVALID_ARGUMENT;
  room = *inout_bytes;
  *inout_bytes = sizeof(hy_placement);
  if (buffer == NULL) return HY_OK;
  if (room < sizeof(hy_placement)) return HY_OUT_OF_RANGE;
  return services->pages_query(ptr, bytes, (hy_placement*)buffer);
}

/// Reads and checks the description of a map of a buffer: known flags among `accepted` (HY_MAP_*),
/// READ or WRITE, DISCARD only with WRITE, bytes that lie within the buffer.
/// Errors   as `map`.
static inline hy_status hy_read_map(hy_map_desc* known, const hy_map_desc* given,
                                    uint64_t buffer_bytes, uint64_t accepted) {
  const hy_status status = hy_read_struct(known, (uint32_t)sizeof *known, given);
  if (status != HY_OK) return status;
  if ((known->access & ~accepted) != 0) return HY_INVALID_ARGUMENT;
  if ((known->access & (HY_MAP_READ | HY_MAP_WRITE)) == 0) return HY_INVALID_ARGUMENT;
  if ((known->access & HY_MAP_DISCARD) != 0 && (known->access & HY_MAP_WRITE) == 0) {
    return HY_INVALID_ARGUMENT;
  }
  if (known->bytes == 0) return HY_INVALID_ARGUMENT;
  return hy_range_ok(known->offset, known->bytes, buffer_bytes) ? HY_OK : HY_OUT_OF_RANGE;
}

// Typed wrappers over `query` and `release`, for callers of a table.

static inline hy_status hy_query_u64(const hy_hal_api* api, uint32_t kind, const void* handle,
                                     uint32_t key, uint64_t* out_value) {
  hy_query_desc desc;
  uint64_t bytes = sizeof *out_value;
  memset(&desc, 0, sizeof desc);
  desc.struct_size = (uint32_t)sizeof desc;
  desc.kind = kind;
  desc.handle = handle;
  desc.key = key;
  return api->query(&desc, out_value, &bytes);
}

static inline hy_status hy_device_release(const hy_hal_api* api, hy_device* device) {
  return api->release(HY_KIND_DEVICE, device);
}
static inline hy_status hy_buffer_release(const hy_hal_api* api, hy_buffer* buffer) {
  return api->release(HY_KIND_BUFFER, buffer);
}
static inline hy_status hy_team_release(const hy_hal_api* api, hy_team* team) {
  return api->release(HY_KIND_TEAM, team);
}
static inline hy_status hy_queue_release(const hy_hal_api* api, hy_queue* queue) {
  return api->release(HY_KIND_QUEUE, queue);
}
static inline hy_status hy_fence_release(const hy_hal_api* api, hy_fence* fence) {
  return api->release(HY_KIND_FENCE, fence);
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_HAL_PORT_H_
