// SPDX-License-Identifier: Apache-2.0
//
// Trap 10: how failures are told, and what is done to the process.
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <cfenv>
#include <cstdio>
#include <cstdlib>

#include "conformance/mutants/mutants.h"

namespace halyard::conformance {
namespace {

using mutants::CopyOf;
using mutants::Good;

hy_status AllocAbortsAtNull(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                            hy_placement* out_placement) {
  if (device == nullptr || desc == nullptr || out_buffer == nullptr) std::abort();
  return Good().alloc(device, desc, out_buffer, out_placement);
}

// Compares offset + bytes with the size, which a wrapped sum passes.
hy_status MapAddsUp(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  hy_map_desc copy = CopyOf(desc);
  const bool wraps = desc != nullptr && copy.offset + copy.bytes < copy.bytes;
  if (!wraps) return Good().map(buffer, desc, out_ptr);
  copy.struct_size = sizeof copy;
  copy.offset = 0;
  copy.bytes = 1;
  return Good().map(buffer, &copy, out_ptr);
}

hy_status AllocPrints(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                      hy_placement* out_placement) {
  const hy_status status = Good().alloc(device, desc, out_buffer, out_placement);
  if (status != HY_OK) std::fprintf(stderr, "alloc failed\n");
  return status;
}

hy_status OpenCatchesSignals(const hy_hal_api*, const hy_open_desc* desc, hy_device** out_device) {
  signal(SIGUSR2, [](int) {});
  return mutants::GoodOpen(nullptr, desc, out_device);
}

hy_status AllocIgnoresUnknownFlags(hy_device* device, const hy_alloc_desc* desc,
                                   hy_buffer** out_buffer, hy_placement* out_placement) {
  hy_alloc_desc copy = CopyOf(desc);
  if (desc == nullptr) return Good().alloc(device, desc, out_buffer, out_placement);
  copy.flags &= HY_ALLOC_PREFAULT | HY_ALLOC_ZERO | HY_ALLOC_IMMUTABLE;
  if (copy.struct_size > sizeof copy) return Good().alloc(device, desc, out_buffer, out_placement);
  return Good().alloc(device, &copy, out_buffer, out_placement);
}

hy_status AllocAbortsWhenMemoryIsOut(hy_device* device, const hy_alloc_desc* desc,
                                     hy_buffer** out_buffer, hy_placement* out_placement) {
  const hy_status status = Good().alloc(device, desc, out_buffer, out_placement);
  if (status == HY_RESOURCE_EXHAUSTED && CopyOf(desc).bytes < (1u << 20)) std::abort();
  return status;
}

hy_status AllocInventsACode(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                            hy_placement* out_placement) {
  const hy_status status = Good().alloc(device, desc, out_buffer, out_placement);
  const bool is_odd = desc != nullptr && CopyOf(desc).alignment > (UINT64_C(1) << 40);
  return status == HY_INVALID_ARGUMENT && is_odd ? HY_INTERNAL : status;
}

hy_status TimestampRoundsUp(hy_device* device, hy_timestamp* out_timestamp) {
  std::fesetround(FE_UPWARD);
  return Good().timestamp(device, out_timestamp);
}

hy_status AllocBindsTheCaller(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                              hy_placement* out_placement) {
  cpu_set_t set;
  const int unit = sched_getcpu();
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(unit < 0 ? 0 : unit), &set);
  sched_setaffinity(0, sizeof set, &set);
  return Good().alloc(device, desc, out_buffer, out_placement);
}

hy_status AllocLeavesAHandle(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                             hy_placement* out_placement) {
  hy_buffer* const before = out_buffer == nullptr ? nullptr : *out_buffer;
  const hy_status status = Good().alloc(device, desc, out_buffer, out_placement);
  if (status != HY_OK && out_buffer != nullptr) *out_buffer = before;
  return status;
}

hy_status TimestampGoesBack(hy_device* device, hy_timestamp* out_timestamp) {
  const hy_status status = Good().timestamp(device, out_timestamp);
  static std::atomic<uint64_t> calls{0};
  if (status == HY_OK && ++calls % 97 == 0) out_timestamp->ticks -= out_timestamp->hz / 1000;
  return status;
}

hy_status TimestampRunsFast(hy_device* device, hy_timestamp* out_timestamp) {
  const hy_status status = Good().timestamp(device, out_timestamp);
  if (status == HY_OK) out_timestamp->ticks += out_timestamp->ticks / 256;
  return status;
}

hy_status TimestampReadsTheWallClock(hy_device* device, hy_timestamp* out_timestamp) {
  const hy_status status = Good().timestamp(device, out_timestamp);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (status == HY_OK) {
    out_timestamp->host_ns =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
  }
  return status;
}

// One place for all calls at once.
hy_status AllocSharesState(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                           hy_placement* out_placement) {
  static hy_alloc_desc shared;
  if (desc == nullptr || desc->struct_size != sizeof shared) {
    return Good().alloc(device, desc, out_buffer, out_placement);
  }
  shared = *desc;
  sched_yield();
  return Good().alloc(device, &shared, out_buffer, out_placement);
}

}  // namespace

MutantTable DisciplineMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM63", 10, "alloc aborts at NULL", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->alloc = &AllocAbortsAtNull; }},
      {"HM64", 10, "map adds offset and bytes without thought of the overflow", "linux",
       "HAL-ERR-*", [](hy_hal_api* table) { table->map = &MapAddsUp; }},
      {"HM65", 10, "alloc prints when it fails", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->alloc = &AllocPrints; }},
      {"HM66", 10, "open installs a signal handler", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->open = &OpenCatchesSignals; }},
      {"HM67", 10, "alloc passes over flags that it does not know", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->alloc = &AllocIgnoresUnknownFlags; }},
      {"HM68", 10, "alloc aborts when host memory runs out", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->alloc = &AllocAbortsWhenMemoryIsOut; }},
      {"HM69", 10, "alloc gives a code that is not documented", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->alloc = &AllocInventsACode; }},
      {"HM70", 10, "timestamp leaves another rounding mode", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->timestamp = &TimestampRoundsUp; }},
      {"HM71", 10, "alloc binds the calling thread", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->alloc = &AllocBindsTheCaller; }},
      {"HM72", 10, "an alloc that fails leaves the out-handle as it was", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->alloc = &AllocLeavesAHandle; }},
      {"HM73", 10, "ticks go back now and then", "linux", "HAL-TIM-*",
       [](hy_hal_api* table) { table->timestamp = &TimestampGoesBack; }},
      {"HM74", 10, "ticks run faster than hz says", "linux", "HAL-TIM-*",
       [](hy_hal_api* table) { table->timestamp = &TimestampRunsFast; }},
      {"HM75", 10, "the host's time is that of another clock", "linux", "HAL-TIM-*",
       [](hy_hal_api* table) { table->timestamp = &TimestampReadsTheWallClock; }},
      {"HM76", 10, "calls of several threads share one place", "linux", "HAL-ERR-*",
       [](hy_hal_api* table) { table->alloc = &AllocSharesState; }},
  };
  return kMutants;
}

}  // namespace halyard::conformance
