// SPDX-License-Identifier: Apache-2.0
//
// Handles of a port: what they point to, made from the host's memory.
#ifndef HALYARD_PORTS_KIT_OBJECT_H_
#define HALYARD_PORTS_KIT_OBJECT_H_

#include <cstdint>
#include <new>
#include <utility>

#include "halyard/hal_port.h"

namespace halyard::port_kit {

/// Base of what a handle points to. The kind is checked at each call, so that a handle of another
/// kind is INVALID_ARGUMENT and no crash.
struct Object {
  explicit Object(uint32_t object_kind) : kind(object_kind) {}
  const uint32_t kind;  ///< HY_KIND_*
};

/// Base of a port's buffer: what the checks of operations and maps need of it.
struct Buffer : Object {
  static constexpr uint32_t kKind = HY_KIND_BUFFER;
  explicit Buffer(uint64_t size_bytes) : Object(kKind), bytes(size_bytes) {}
  const uint64_t bytes;
  bool read_only = false;
};

/// The object behind a handle, or nullptr if the handle is NULL or of another kind.
template <typename T>
T* As(const void* handle) {
  const auto* object = static_cast<const Object*>(handle);
  if (object == nullptr || object->kind != T::kKind) return nullptr;
  return static_cast<T*>(const_cast<Object*>(object));
}

/// Makes an object; nullptr when the host has no memory.
template <typename T, typename... Args>
T* New(const hy_host_services* host, Args&&... args) {
  void* place = host->memory_alloc(sizeof(T), alignof(T) < 16 ? 16 : alignof(T));
  return place == nullptr ? nullptr : new (place) T(std::forward<Args>(args)...);
}

template <typename T>
void Delete(const hy_host_services* host, T* object) {
  object->~T();
  host->memory_free(object);
}

/// The opaque handle of an object, of type hy_device, hy_buffer, ...
template <typename Handle>
Handle* ToHandle(Object* object) {
  return reinterpret_cast<Handle*>(object);
}

/// Keeps a formatted message for the caller and returns `status`. Cut at 255 bytes.
hy_status Report(const hy_host_services* host, hy_status status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

}  // namespace halyard::port_kit

#endif  // HALYARD_PORTS_KIT_OBJECT_H_
