// SPDX-License-Identifier: Apache-2.0
#include "ports/kit/facts.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <limits>

namespace halyard::port_kit {

hy_status Report(const hy_host_services* host, hy_status status, const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return host->report(status, message);
}

hy_status EnumerateOne(const hy_hal_api* self, const DeviceFacts& facts, hy_array* inout_devices) {
  if (self == nullptr) return HY_INVALID_ARGUMENT;
  return hy_fill_array(inout_devices, facts.info, sizeof *facts.info, 1);
}

namespace {

hy_status ReadOption(const hy_host_services* host, const hy_array& options, uint32_t index,
                     OptionFn take, void* context) {
  hy_option option;
  const hy_status status = hy_read_struct(&option, sizeof option, hy_array_at(&options, index));
  if (status != HY_OK) return status;
  if (option.key == nullptr || option.value == nullptr) return HY_INVALID_ARGUMENT;
  if (take != nullptr) return take(context, option.key, option.value);
  return Report(host, HY_INVALID_ARGUMENT, "unknown option '%s': this device has none", option.key);
}

bool KindFitsKey(uint32_t kind, uint32_t key) {
  switch (key) {
    case HY_QUERY_DEVICE_ADDRESS:
    case HY_QUERY_PLACEMENT:
      return kind == HY_KIND_BUFFER;
    case HY_QUERY_NATIVE_HANDLE:
      return kind == HY_KIND_DEVICE || kind == HY_KIND_BUFFER || kind == HY_KIND_QUEUE;
    default:
      return kind == HY_KIND_DEVICE || (key > HY_QUERY_EXTENSION && kind < HY_KIND_COUNT);
  }
}

bool HasClass(const DeviceFacts& facts, uint32_t id) {
  for (uint32_t i = 0; i < facts.class_count; ++i) {
    if (facts.classes[i].id == id) return true;
  }
  return id == HY_ID_NONE;
}

// Enumerators and flags that no version of this port knows.
bool AllocIsKnown(const hy_alloc_desc& desc) {
  return desc.node_policy <= HY_NODES_INTERLEAVE && desc.node_strength <= HY_REQUIRE &&
         desc.page_strength <= HY_REQUIRE && desc.usage <= HY_USE_SCRATCH &&
         (desc.flags & ~(HY_ALLOC_PREFAULT | HY_ALLOC_ZERO | HY_ALLOC_IMMUTABLE)) == 0;
}

}  // namespace

hy_status ReadOpen(const hy_host_services* host, const DeviceFacts& facts, const hy_open_desc* desc,
                   OptionFn take, void* context) {
  hy_open_desc known;
  hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (status != HY_OK) return status;
  if (known.id != nullptr && std::strcmp(known.id, facts.info->id) != 0) {
    return Report(host, HY_NOT_FOUND, "no device '%s'; the only one is '%s'", known.id,
                  facts.info->id);
  }
  if (known.options.count != 0 && known.options.data == nullptr) return HY_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < known.options.count && status == HY_OK; ++i) {
    status = ReadOption(host, known.options, i, take, context);
  }
  return status;
}

hy_status ReadQuery(const hy_query_desc* desc, const uint64_t* inout_bytes, hy_query_desc* known) {
  const hy_status status = hy_read_struct(known, sizeof *known, desc);
  if (status != HY_OK) return status;
  if (known->handle == nullptr || inout_bytes == nullptr) return HY_INVALID_ARGUMENT;
  return KindFitsKey(known->kind, known->key) ? HY_OK : HY_INVALID_ARGUMENT;
}

hy_status AnswerDevice(const DeviceFacts& facts, const hy_query_desc& query, void* answer,
                       uint64_t* inout_bytes) {
  switch (query.key) {
    case HY_QUERY_CAPS:
      return hy_answer_u64(facts.caps, answer, inout_bytes);
    case HY_QUERY_MEMORY_CLASSES:
      return hy_answer_records(facts.classes, sizeof *facts.classes, facts.class_count,
                               query.stride, answer, inout_bytes);
    case HY_QUERY_SYNC_GRANULE:
      return hy_answer_u64(facts.sync_granule_bytes, answer, inout_bytes);
    case HY_QUERY_MIN_ALIGNMENT:
      return hy_answer_u64(facts.min_alignment, answer, inout_bytes);
    case HY_QUERY_MAX_ALLOC:
      return hy_answer_u64(facts.max_alloc_bytes, answer, inout_bytes);
    case HY_QUERY_QUEUE_TIER:
      return hy_answer_u64(facts.queue_tier, answer, inout_bytes);
    case HY_QUERY_TIMESTAMP_HZ:
      return hy_answer_u64(facts.timestamp_hz, answer, inout_bytes);
    case HY_QUERY_VENDOR:
      return hy_answer_string(facts.vendor, answer, inout_bytes);
    case HY_QUERY_DRIVER:
      return hy_answer_string(facts.driver, answer, inout_bytes);
    default:
      return HY_UNIMPLEMENTED;
  }
}

hy_status ReadAlloc(const hy_host_services* host, const DeviceFacts& facts,
                    const hy_alloc_desc* desc, hy_alloc_desc* known) {
  const hy_status status = hy_read_struct(known, sizeof *known, desc);
  if (status != HY_OK) return status;
  if (!AllocIsKnown(*known)) {
    return Report(host, HY_INVALID_ARGUMENT, "alloc: unknown policy, strength, usage or flag");
  }
  if (known->bytes == 0 || (known->alignment & (known->alignment - 1)) != 0) {
    return Report(host, HY_INVALID_ARGUMENT,
                  "alloc: needs bytes, and an alignment of a power of 2");
  }
  if (!HasClass(facts, known->memory_class)) {
    return Report(host, HY_UNIMPLEMENTED, "alloc: no memory class %u; query MEMORY_CLASSES",
                  known->memory_class);
  }
  if (((facts.caps & HY_CAP_NODE_POLICY) == 0 && known->node_policy != HY_NODES_DEFAULT) ||
      ((facts.caps & HY_CAP_PAGE_POLICY) == 0 && known->pages.count != 0)) {
    return Report(host, HY_UNIMPLEMENTED, "alloc: this device has no node or page policies");
  }
  if (known->bytes > facts.max_alloc_bytes) {
    return Report(host, HY_RESOURCE_EXHAUSTED, "alloc: %llu bytes are more than MAX_ALLOC, %llu",
                  static_cast<unsigned long long>(known->bytes),
                  static_cast<unsigned long long>(facts.max_alloc_bytes));
  }
  if (known->alignment < facts.min_alignment) known->alignment = facts.min_alignment;
  return HY_OK;
}

hy_status WriteUnknownPlacement(hy_placement* out) {
  if (out == nullptr) return HY_OK;
  hy_placement known = {};
  uint32_t given_bytes = 0;
  std::memcpy(&given_bytes, out, sizeof given_bytes);
  std::memcpy(&known, out, given_bytes < sizeof known ? given_bytes : sizeof known);
  hy_array nodes = known.nodes;  // where the caller wants node records, of which there are none
  nodes.count = 0;
  known = {};
  known.nodes = nodes;
  return hy_write_struct(out, &known, sizeof known);
}

hy_status AnswerUnknownPlacement(void* answer, uint64_t* inout_bytes) {
  const uint64_t room = *inout_bytes;
  *inout_bytes = sizeof(hy_placement);
  if (answer == nullptr) return HY_OK;
  if (room < sizeof(hy_placement)) return HY_OUT_OF_RANGE;
  return WriteUnknownPlacement(static_cast<hy_placement*>(answer));
}

bool ParseU64(const char* text, uint64_t* out_value) {
  uint64_t value = 0;
  if (*text == '\0') return false;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return false;
    const uint64_t digit = static_cast<uint64_t>(*text - '0');
    if (value > (std::numeric_limits<uint64_t>::max() - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *out_value = value;
  return true;
}

uint64_t HostMemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return uint64_t{1} << 30;
  const uint64_t bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
  const uint64_t addressable = std::numeric_limits<size_t>::max() / 2;
  return bytes < addressable ? bytes : addressable;
}

}  // namespace halyard::port_kit
