// SPDX-License-Identifier: Apache-2.0
//
// Queues and timeline fences of the simulated asynchronous device.
#ifndef HALYARD_PORTS_SIM_ASYNC_ENGINE_H_
#define HALYARD_PORTS_SIM_ASYNC_ENGINE_H_

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "halyard/hal_port.h"
#include "ports/kit/facts.h"
#include "ports/kit/object.h"
#include "ports/kit/verbs.h"

namespace halyard::sim_async {

/// The host's services; set when the port's table is asked for.
extern const hy_host_services* host;

/// Options of `open`: seed=N, delay_us=N.
struct Options {
  static hy_status Take(void* options, const char* key, const char* value);
  static constexpr port_kit::OptionFn kTake = &Take;
  uint64_t seed = 1;
  uint64_t delay_us = 20;  ///< the longest that work is held back
};

struct Device : port_kit::Object {
  static constexpr uint32_t kKind = HY_KIND_DEVICE;
  using Options = sim_async::Options;
  explicit Device(const Options& given) : Object(kKind), options(given) {}

  const Options options;
  std::mutex mutex;                 // of all fences, queues and submissions
  std::condition_variable changed;  // any of them
  uint64_t queues_made = 0;
};

struct Buffer : port_kit::Buffer {
  Buffer(Device*, uint64_t size_bytes) : port_kit::Buffer(size_bytes), pages(host) {}
  hy_status Take(const hy_alloc_desc& desc, hy_placement* out_placement);
  hy_status Query(const hy_query_desc& query, void* answer, uint64_t* inout_bytes) const;
  uint8_t* memory() const { return pages.data(); }
  port_kit::HostPages pages;
};

/// A timeline, or a failure that stays. Guarded by the device's mutex.
struct Fence : port_kit::Object {
  static constexpr uint32_t kKind = HY_KIND_FENCE;
  Fence(Device* owner, uint64_t initial) : Object(kKind), device(owner), value(initial) {}
  /// Waits until no queue is in the middle of its signals.
  ~Fence() { const std::lock_guard<std::mutex> lock(device->mutex); }

  /// As `fence_signal`; the caller wakes those who wait.
  hy_status SignalLocked(uint64_t new_value, hy_status status);

  Device* const device;
  uint64_t value;
  hy_status failure = HY_OK;
};

/// Accepted work. One allocation, with its arrays behind it.
struct Submission {
  Submission* next;
  uint64_t delay_ns;
  uint32_t wait_count;
  uint32_t op_count;
  uint32_t signal_count;
  hy_fence_point* waits;
  hy_op* ops;
  hy_fence_point* signals;
};

/// An in-order queue with a thread of its own, so that a host call which waits for another queue
/// never keeps that one from running.
class Queue : public port_kit::Object {
 public:
  static constexpr uint32_t kKind = HY_KIND_QUEUE;
  explicit Queue(Device* owner);
  /// Work whose waits can no longer be met is cancelled: its signals fail.
  ~Queue();

  /// Starts the thread. Errors: RESOURCE_EXHAUSTED.
  hy_status Start();

  /// Checks and copies a submission and returns; the thread does the rest. Errors as `submit`.
  hy_status Submit(const hy_submission* submission);

  Device* device() const { return device_; }

 private:
  static void* ThreadMain(void* queue);
  void Serve();
  hy_status AwaitLocked(std::unique_lock<std::mutex>& lock, const Submission& work);
  void FinishLocked(Submission* work, hy_status status);

  Device* const device_;
  const uint64_t index_;
  pthread_t thread_ = {};
  bool started_ = false;
  bool stopping_ = false;
  uint64_t accepted_ = 0;
  Submission* first_ = nullptr;
  Submission* last_ = nullptr;
};

/// True if `array` can be read as points of fences of this device.
bool PointsAreValid(const Device& device, const hy_array& array);

/// Whether a wait is over, and how. Needs the device's mutex.
struct WaitState {
  bool done;
  hy_status status;
};
WaitState EvaluateLocked(const hy_array& points, uint32_t mode, uint64_t* out_values);

/// As `fence_wait`.
hy_status WaitForFences(Device* device, const hy_wait_desc* desc);

}  // namespace halyard::sim_async

#endif  // HALYARD_PORTS_SIM_ASYNC_ENGINE_H_
