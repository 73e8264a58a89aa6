// SPDX-License-Identifier: Apache-2.0
#include "registry/test_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<uint64_t> g_allocations{0};

#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

// A sanitizer has operators of its own, and tells of each allocation.
extern "C" void __sanitizer_malloc_hook(const volatile void*, size_t);
extern "C" void __sanitizer_malloc_hook(const volatile void*, size_t) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
}

#else

void* operator new(size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  void* data = std::malloc(bytes == 0 ? 1 : bytes);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, size_t) noexcept { std::free(data); }

#endif

namespace halyard::registry {

uint64_t AllocationsSoFar() { return g_allocations.load(std::memory_order_relaxed); }

}  // namespace halyard::registry
