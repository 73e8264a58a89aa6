// SPDX-License-Identifier: Apache-2.0
#include "registry/test_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<uint64_t> g_allocations{0};

void* operator new(size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  void* data = std::malloc(bytes == 0 ? 1 : bytes);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, size_t) noexcept { std::free(data); }

namespace halyard::registry {

uint64_t AllocationsSoFar() { return g_allocations.load(std::memory_order_relaxed); }

}  // namespace halyard::registry
