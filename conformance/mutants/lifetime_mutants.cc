// SPDX-License-Identifier: Apache-2.0
//
// Trap 8: lifetime, and the end of the process.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "conformance/mutants/mutants.h"

namespace halyard::conformance {
namespace {

using mutants::CopyOf;
using mutants::Good;
using mutants::Services;

struct Callback {
  void (*on_release)(void*);
  void* context;
};

void CallTwice(void* context) {
  const auto* const callback = static_cast<const Callback*>(context);
  callback->on_release(callback->context);
  callback->on_release(callback->context);
  delete callback;
}

hy_status ImportCallsBackTwice(hy_device* device, const hy_import_desc* desc,
                               hy_buffer** out_buffer) {
  hy_import_desc copy = CopyOf(desc);
  if (desc == nullptr || copy.on_release == nullptr) {
    return Good().import_host(device, desc, out_buffer);
  }
  auto* const callback = new Callback{copy.on_release, copy.context};
  copy.struct_size = sizeof copy;
  copy.on_release = &CallTwice;
  copy.context = callback;
  const hy_status status = Good().import_host(device, &copy, out_buffer);
  if (status != HY_OK) delete callback;
  return status;
}

hy_status ImportCallsBackAtOnce(hy_device* device, const hy_import_desc* desc,
                                hy_buffer** out_buffer) {
  hy_import_desc copy = CopyOf(desc);
  if (desc == nullptr || copy.on_release == nullptr) {
    return Good().import_host(device, desc, out_buffer);
  }
  copy.struct_size = sizeof copy;
  copy.on_release = nullptr;
  const hy_status status = Good().import_host(device, &copy, out_buffer);
  if (status == HY_OK) CopyOf(desc).on_release(CopyOf(desc).context);
  return status;
}

hy_status OpenLeaksADescriptor(const hy_hal_api*, const hy_open_desc* desc,
                               hy_device** out_device) {
  static_cast<void>(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return mutants::GoodOpen(nullptr, desc, out_device);
}

hy_status OpenLeavesAThread(const hy_hal_api*, const hy_open_desc* desc, hy_device** out_device) {
  const hy_status status = mutants::GoodOpen(nullptr, desc, out_device);
  static int opened = 0;
  // As many as a machine bears: enough to be seen.
  if (status == HY_OK && ++opened < 200) std::thread([] { pause(); }).detach();
  return status;
}

hy_status AllocLeaksAtErrors(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                             hy_placement* out_placement) {
  const hy_status status = Good().alloc(device, desc, out_buffer, out_placement);
  if (status != HY_OK) static_cast<void>(Services().memory_alloc(64, 16));
  return status;
}

hy_status ReleaseLeaksMemory(uint32_t kind, void* handle) {
  if (kind == HY_KIND_BUFFER && handle != nullptr) {
    static_cast<void>(Services().memory_alloc(32, 16));
  }
  return Good().release(kind, handle);
}

[[noreturn]] void AbortAtExit() { std::abort(); }

hy_status OpenAbortsAtExit(const hy_hal_api*, const hy_open_desc* desc, hy_device** out_device) {
  const hy_status status = mutants::GoodOpen(nullptr, desc, out_device);
  static const int registered = std::atexit(&AbortAtExit);
  static_cast<void>(registered);
  return status;
}

void SleepAtExit() {
  for (;;) pause();
}

hy_status OpenHangsAtExit(const hy_hal_api*, const hy_open_desc* desc, hy_device** out_device) {
  const hy_status status = mutants::GoodOpen(nullptr, desc, out_device);
  static const int registered = std::atexit(&SleepAtExit);
  static_cast<void>(registered);
  return status;
}

hy_status ReleaseReadsNull(uint32_t kind, void* handle) {
  if (handle == nullptr) return *static_cast<volatile hy_status*>(handle);
  return Good().release(kind, handle);
}

hy_status ReleaseTakesAnyKind(uint32_t kind, void* handle) {
  const hy_status status = Good().release(kind, handle);
  return kind == HY_KIND_COUNT || kind == 0 ? HY_OK : status;
}

}  // namespace

MutantTable LifetimeMutants() {
  static constexpr Mutant kMutants[] = {
      {"HM45", 8, "the callback of an import comes twice", "linux", "HAL-IMP-*",
       [](hy_hal_api* table) { table->import_host = &ImportCallsBackTwice; }},
      {"HM46", 8, "the callback of an import comes before the last use", "linux", "HAL-IMP-*",
       [](hy_hal_api* table) { table->import_host = &ImportCallsBackAtOnce; }},
      {"HM47", 8, "open leaves a descriptor", "linux", "HAL-DEV-*",
       [](hy_hal_api* table) { table->open = &OpenLeaksADescriptor; }},
      {"HM48", 8, "open leaves a thread", "linux", "HAL-DEV-*",
       [](hy_hal_api* table) { table->open = &OpenLeavesAThread; }},
      {"HM49", 8, "an alloc that fails leaves memory", "linux", "HAL-ERR-*:HAL-REL-*",
       [](hy_hal_api* table) { table->alloc = &AllocLeaksAtErrors; }},
      {"HM50", 8, "release of a buffer leaves memory", "linux", "HAL-REL-*",
       [](hy_hal_api* table) { table->release = &ReleaseLeaksMemory; }},
      {"HM51", 8, "the process aborts at exit with a device open", "linux", "HAL-ERR-1*",
       [](hy_hal_api* table) { table->open = &OpenAbortsAtExit; }},
      {"HM52", 8, "the process hangs at exit with a device open", "linux", "HAL-ERR-1*",
       [](hy_hal_api* table) { table->open = &OpenHangsAtExit; }},
      {"HM53", 8, "release reads what NULL points to", "linux", "HAL-REL-*",
       [](hy_hal_api* table) { table->release = &ReleaseReadsNull; }},
      {"HM54", 8, "release takes kinds that do not exist", "linux", "HAL-REL-*",
       [](hy_hal_api* table) { table->release = &ReleaseTakesAnyKind; }},
  };
  return kMutants;
}

}  // namespace halyard::conformance
