// SPDX-License-Identifier: Apache-2.0
//
// For unit tests of ports: host services without the core, and short forms of the table's verbs.
#ifndef HALYARD_PORTS_KIT_TEST_HOST_H_
#define HALYARD_PORTS_KIT_TEST_HOST_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "halyard/hal_port.h"

namespace halyard::port_kit {

/// Services that count what they hand out.
const hy_host_services* TestHost();

/// Allocations (memory and pages) not given back yet, over all threads.
uint64_t HeldAllocations();

/// Makes the n-th allocation from now on fail, once; 0 disarms. Returns how many were made since.
uint64_t FailAllocation(uint64_t nth);

/// Message of the last report on this thread.
std::string LastReport();

/// An op with its size filled in; the members are set by the caller.
hy_op NewOp(uint32_t kind);
hy_op CopyIn(const void* src, hy_buffer* dst, uint64_t dst_offset, uint64_t bytes);
hy_op CopyOut(hy_buffer* src, uint64_t src_offset, void* dst, uint64_t bytes);
hy_op Fill(hy_buffer* dst, uint64_t offset, uint64_t bytes, uint32_t pattern,
           uint32_t pattern_bytes);

/// A table and an open device of it, released at the end. What fails to open is a NULL device.
class TestDevice {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;
  explicit TestDevice(hy_hal_get_fn get, const Options& options = {});
  ~TestDevice();
  TestDevice(const TestDevice&) = delete;
  TestDevice& operator=(const TestDevice&) = delete;

  const hy_hal_api& api() const { return *api_; }
  hy_device* handle() const { return device_; }
  hy_status open_status() const { return open_status_; }

  /// A zeroed buffer, released with the device; NULL when alloc fails.
  hy_buffer* NewBuffer(uint64_t bytes);

  /// `submit` with operations, waits and signals, on a queue or none.
  hy_status Submit(std::initializer_list<hy_op> ops, hy_queue* queue = nullptr,
                   std::initializer_list<hy_fence_point> waits = {},
                   std::initializer_list<hy_fence_point> signals = {});

  /// A map of a range; NULL when it fails.
  uint8_t* Map(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint64_t access);
  hy_status Unmap(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint64_t access, void* ptr);

 private:
  const hy_hal_api* api_;
  hy_device* device_ = nullptr;
  hy_status open_status_;
  std::vector<hy_buffer*> buffers_;
};

}  // namespace halyard::port_kit

#endif  // HALYARD_PORTS_KIT_TEST_HOST_H_
