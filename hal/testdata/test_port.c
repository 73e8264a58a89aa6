// SPDX-License-Identifier: Apache-2.0
//
// A port of the needed verbs in C11, and, by a TEST_* definition, the ways in which a plugin can be
// wrong. Each variant is a plugin of its own.
#include "halyard/hal_port.h"

static const hy_host_services* host;

static const hy_device_info kInfo = {sizeof(hy_device_info), HY_DEVICE_CPU_CLASS, "test:0",
                                     "Device for tests", ""};

// The one device needs no state: its handle is the address of this.
static int device_mark;

struct hy_buffer {
  void* data;
  uint64_t bytes;
};

static hy_status Enumerate(const hy_hal_api* self, hy_array* inout_devices) {
  (void)self;
  return hy_fill_array(inout_devices, &kInfo, sizeof kInfo, 1);
}

static hy_status Open(const hy_hal_api* self, const hy_open_desc* desc, hy_device** out_device) {
  hy_open_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  (void)self;
  if (out_device == NULL) return HY_INVALID_ARGUMENT;
  *out_device = NULL;
  if (status != HY_OK) return status;
  if (known.id != NULL && strcmp(known.id, kInfo.id) != 0) {
    return host->report(HY_NOT_FOUND, "the only device is test:0");
  }
  *out_device = (hy_device*)&device_mark;
  return HY_OK;
}

static hy_status Query(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes) {
  static const hy_memory_class kClass = {
      sizeof(hy_memory_class), 1, HY_MEMORY_HOST_VISIBLE | HY_MEMORY_COHERENT, 0, 16, "host"};
  hy_query_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (status != HY_OK) return status;
  switch (known.key) {
    case HY_QUERY_CAPS:
      return hy_answer_u64(HY_CAP_COHERENT | HY_CAP_REOPEN, buffer, inout_bytes);
    case HY_QUERY_MEMORY_CLASSES:
      return hy_answer(&kClass, sizeof kClass, buffer, inout_bytes);
    case HY_QUERY_MIN_ALIGNMENT:
      return hy_answer_u64(16, buffer, inout_bytes);
    case HY_QUERY_MAX_ALLOC:
      return hy_answer_u64(UINT64_C(1) << 30, buffer, inout_bytes);
    case HY_QUERY_VENDOR:
      return hy_answer_string("Test", buffer, inout_bytes);
    default:
      return HY_UNIMPLEMENTED;
  }
}

#ifndef TEST_MISSING_VERB
static hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                       hy_placement* out_placement) {
  hy_alloc_desc known;
  hy_buffer* buffer;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  (void)out_placement;
  if (device == NULL || out_buffer == NULL) return HY_INVALID_ARGUMENT;
  *out_buffer = NULL;
  if (status != HY_OK || known.bytes == 0) return status != HY_OK ? status : HY_INVALID_ARGUMENT;
  buffer = (hy_buffer*)host->memory_alloc(sizeof *buffer, 0);
  if (buffer == NULL) return HY_RESOURCE_EXHAUSTED;
  buffer->bytes = known.bytes;
  buffer->data = host->memory_alloc(known.bytes, known.alignment);
  if (buffer->data == NULL) {
    host->memory_free(buffer);
    return HY_RESOURCE_EXHAUSTED;
  }
  *out_buffer = buffer;
  return HY_OK;
}

static hy_status Map(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  hy_map_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (buffer == NULL || out_ptr == NULL) return HY_INVALID_ARGUMENT;
  *out_ptr = NULL;
  if (status != HY_OK) return status;
  if (!hy_range_ok(known.offset, known.bytes, buffer->bytes)) return HY_OUT_OF_RANGE;
  *out_ptr = (unsigned char*)buffer->data + known.offset;
  return HY_OK;
}
#endif

static hy_status Timestamp(hy_device* device, hy_timestamp* out_timestamp) {
  return device == NULL ? HY_INVALID_ARGUMENT : host->timestamp(out_timestamp);
}

static hy_status Release(uint32_t kind, void* handle) {
  if (kind < HY_KIND_DEVICE || kind >= HY_KIND_COUNT) return HY_INVALID_ARGUMENT;
  if (kind == HY_KIND_BUFFER && handle != NULL) {
    host->memory_free(((hy_buffer*)handle)->data);
    host->memory_free(handle);
  }
  return HY_OK;
}

#ifdef TEST_PARTIAL_FENCE
static hy_status FenceSignal(hy_fence* fence, uint64_t value, hy_status status) {
  (void)fence, (void)value, (void)status;
  return HY_OK;
}
#endif

// A table of a later minor version, with slots that this host has never heard of.
struct later_api {
  hy_hal_api now;
  hy_status (*later_verb)(void);
  uint64_t later_word;
};

#ifdef TEST_UNDEFINED
extern int acme_driver_start(void);
#endif

#ifdef TEST_NEEDS_LIBRARY
extern int test_library_answer(void);
#endif

static const struct later_api kApi = {
    .now =
        {
#if defined(TEST_SMALL)
            .struct_size = offsetof(hy_hal_api, timestamp) + sizeof(void*) / 2,
#elif defined(TEST_LARGE)
            .struct_size = sizeof(struct later_api),
#else
            .struct_size = sizeof(hy_hal_api),
#endif
#ifdef TEST_WRONG_MAJOR
            .abi_major = HY_HAL_ABI_MAJOR + 1,
#else
            .abi_major = HY_HAL_ABI_MAJOR,
#endif
#ifdef TEST_LARGE
            .abi_minor = HY_HAL_ABI_MINOR + 7,
#else
            .abi_minor = HY_HAL_ABI_MINOR,
#endif
#ifdef TEST_UPPER_CASE
            .name = "Test_Port",
#else
            .name = "test_port",
#endif
            .version = "1.2.3",
            .vendor = "Halyard tests",
            .enumerate = Enumerate,
            .open = Open,
            .query = Query,
#ifndef TEST_MISSING_VERB
            .alloc = Alloc,
            .map = Map,
#endif
#ifdef TEST_PARTIAL_FENCE
            .fence_signal = FenceSignal,
#endif
            .timestamp = Timestamp,
            .release = Release,
        },
    .later_word = UINT64_C(0x1234567890abcdef),
};

#if defined(TEST_WRONG_MAJOR) || defined(TEST_REFUSES)
HY_EXPORT const hy_hal_api* halyard_hal_get(uint32_t host_major, uint32_t host_minor,
                                            const hy_host_services* services, uint32_t* out_reason);
HY_EXPORT const hy_hal_api* halyard_hal_get(uint32_t host_major, uint32_t host_minor,
                                            const hy_host_services* services,
                                            uint32_t* out_reason) {
  (void)host_major, (void)host_minor, (void)kApi;
  host = services;
#ifdef TEST_REFUSES
  *out_reason = HY_REFUSED_PLATFORM;
  host->report(HY_UNAVAILABLE, "no acme bus here");
  return NULL;
#else
  *out_reason = HY_REFUSED_NONE;
  return &kApi.now;
#endif
}
#elif defined(TEST_NO_ENTRY)
HY_EXPORT const hy_hal_api* acme_table(const hy_host_services* services);
HY_EXPORT const hy_hal_api* acme_table(const hy_host_services* services) {
  host = services;
  return &kApi.now;
}
#else
HALYARD_HAL_DEFINE(kApi.now, host)
#endif

#ifdef TEST_UNDEFINED
HY_EXPORT int test_uses_driver(void);
HY_EXPORT int test_uses_driver(void) { return acme_driver_start(); }
#endif

#ifdef TEST_NEEDS_LIBRARY
HY_EXPORT int test_uses_library(void);
HY_EXPORT int test_uses_library(void) { return test_library_answer(); }
#endif
