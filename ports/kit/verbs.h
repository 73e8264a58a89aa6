// SPDX-License-Identifier: Apache-2.0
//
// Verbs of a port with one device, over the C++ types of its objects.
//
// A Device type has Options (default constructible, with kTake, an OptionFn or nullptr) and is made
// from them. A Buffer type derives from port_kit::Buffer, is made from (Device*, bytes), takes its
// memory in Take(const hy_alloc_desc&, hy_placement*), answers Query(const hy_query_desc&, void*,
// uint64_t*), and gives its memory back in its destructor.
#ifndef HALYARD_PORTS_KIT_VERBS_H_
#define HALYARD_PORTS_KIT_VERBS_H_

#include <cstdint>

#include "halyard/hal_port.h"
#include "ports/kit/facts.h"
#include "ports/kit/object.h"

namespace halyard::port_kit {

/// Options of a device that has none.
struct NoOptions {
  static constexpr OptionFn kTake = nullptr;
};

/// Pages of the host, given back at the end.
class HostPages {
 public:
  explicit HostPages(const hy_host_services* host) : host_(host) {}
  ~HostPages() {
    if (data_ != nullptr) (void)host_->pages_free(data_);
  }
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  /// Errors as pages_alloc; `out_placement` may be NULL.
  hy_status Take(hy_alloc_desc desc, hy_placement* out_placement) {
    desc.memory_class = HY_ID_NONE;  // a label of the port
    void* data = nullptr;
    const hy_status status = host_->pages_alloc(&desc, &data, out_placement);
    if (status == HY_OK) data_ = data;
    return status;
  }
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }

 private:
  const hy_host_services* const host_;
  void* data_ = nullptr;
};

/// As `open`.
template <typename Device>
hy_status OpenDevice(const hy_host_services* host, const DeviceFacts& facts, const hy_hal_api* self,
                     const hy_open_desc* desc, hy_device** out_device) {
  if (out_device == nullptr) return HY_INVALID_ARGUMENT;
  *out_device = nullptr;
  if (self == nullptr) return HY_INVALID_ARGUMENT;
  typename Device::Options options;
  const hy_status status = ReadOpen(host, facts, desc, Device::Options::kTake, &options);
  if (status != HY_OK) return status;
  auto* device = New<Device>(host, options);
  if (device == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "open: no host memory");
  *out_device = ToHandle<hy_device>(device);
  return HY_OK;
}

/// As `alloc`.
template <typename Device, typename Buffer>
hy_status AllocBuffer(const hy_host_services* host, const DeviceFacts& facts, hy_device* handle,
                      const hy_alloc_desc* desc, hy_buffer** out_buffer,
                      hy_placement* out_placement) {
  if (out_buffer == nullptr) return HY_INVALID_ARGUMENT;
  *out_buffer = nullptr;
  auto* device = As<Device>(handle);
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  hy_alloc_desc known;
  hy_status status = ReadAlloc(host, facts, desc, &known);
  if (status != HY_OK) return status;
  auto* buffer = New<Buffer>(host, device, known.bytes);
  if (buffer == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "alloc: no host memory");
  status = buffer->Take(known, out_placement);
  if (status != HY_OK) {
    Delete(host, buffer);
    return status;
  }
  *out_buffer = ToHandle<hy_buffer>(buffer);
  return HY_OK;
}

/// As `query`, of devices and buffers.
template <typename Device, typename Buffer>
hy_status QueryObject(const DeviceFacts& facts, const hy_query_desc* desc, void* answer,
                      uint64_t* inout_bytes) {
  hy_query_desc query;
  const hy_status status = ReadQuery(desc, inout_bytes, &query);
  if (status != HY_OK) return status;
  if (query.kind == HY_KIND_DEVICE && As<Device>(query.handle) != nullptr) {
    return AnswerDevice(facts, query, answer, inout_bytes);
  }
  const auto* buffer = As<const Buffer>(query.handle);
  if (query.kind != HY_KIND_BUFFER || buffer == nullptr) return HY_INVALID_ARGUMENT;
  return buffer->Query(query, answer, inout_bytes);
}

/// Answers about a buffer of a device: its address there, and that its placement is not known.
inline hy_status AnswerBuffer(const void* address, const hy_query_desc& query, void* answer,
                              uint64_t* inout_bytes) {
  switch (query.key) {
    case HY_QUERY_DEVICE_ADDRESS:
      return hy_answer_u64(reinterpret_cast<uintptr_t>(address), answer, inout_bytes);
    case HY_QUERY_PLACEMENT:
      return AnswerUnknownPlacement(answer, inout_bytes);
    default:
      return HY_UNIMPLEMENTED;
  }
}

/// As `timestamp`, with the host's clock.
template <typename Device>
hy_status ReadTimestamp(const hy_host_services* host, hy_device* handle,
                        hy_timestamp* out_timestamp) {
  if (As<Device>(handle) == nullptr || out_timestamp == nullptr) return HY_INVALID_ARGUMENT;
  return host->timestamp(out_timestamp);
}

/// As `release`, of objects of the types listed.
template <typename... Types>
hy_status ReleaseObject(const hy_host_services* host, uint32_t kind, void* handle) {
  if (kind == 0 || kind >= HY_KIND_COUNT) return HY_INVALID_ARGUMENT;
  if (handle == nullptr) return HY_OK;
  const auto release_as = [&]<typename T>(T* object) {
    if (kind != T::kKind || object == nullptr) return false;
    Delete(host, object);
    return true;
  };
  const bool released = (release_as(As<Types>(handle)) || ...);
  return released ? HY_OK : Report(host, HY_INVALID_ARGUMENT, "release: no object of that kind");
}

}  // namespace halyard::port_kit

#endif  // HALYARD_PORTS_KIT_VERBS_H_
