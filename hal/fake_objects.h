// SPDX-License-Identifier: Apache-2.0
//
// The objects of the fake port, with the checks of how the core uses them.
#ifndef HALYARD_HAL_FAKE_OBJECTS_H_
#define HALYARD_HAL_FAKE_OBJECTS_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "hal/fake_port.h"
#include "hal/timeline.h"
#include "halyard/hal.h"

/// Counts an object of the port.
struct FakeObject {
  explicit FakeObject(halyard::hal::FakePort* owner) : port(owner) { ++port->live_objects; }
  ~FakeObject() { --port->live_objects; }
  FakeObject(const FakeObject&) = delete;
  FakeObject& operator=(const FakeObject&) = delete;
  halyard::hal::FakePort* const port;
};

struct hy_device : FakeObject {
  explicit hy_device(halyard::hal::FakePort* owner) : FakeObject(owner) { ++port->open_devices; }
  ~hy_device() {
    if (port->open_devices.fetch_sub(1) == 1 && port->live_objects != 1) {
      port->Complain("device released before its children");
    }
  }
};

struct hy_fence : FakeObject {
  hy_fence(halyard::hal::FakePort* owner, uint64_t initial)
      : FakeObject(owner), timeline(initial) {}
  halyard::hal::Timeline timeline;
};

/// A use of a range, by a map or by work.
struct FakeUse {
  uint64_t offset;
  uint64_t bytes;
  bool is_map;
  bool writes;
  bool is_persistent;
  bool operator==(const FakeUse&) const = default;
};

struct hy_buffer : FakeObject {
  using FakeObject::FakeObject;
  ~hy_buffer();
  void Begin(const FakeUse& use);
  void End(const FakeUse& use);

  std::vector<uint8_t> heap;
  uint8_t* bytes = nullptr;
  void (*on_release)(void* context) = nullptr;
  void* context = nullptr;
  std::mutex mutex;
  std::vector<FakeUse> uses;
};

struct Job {
  std::vector<halyard::hal::Timeline::Point> waits;
  std::vector<hy_op> ops;
  std::vector<std::pair<hy_fence*, uint64_t>> signals;
};

struct hy_queue : FakeObject {
  explicit hy_queue(halyard::hal::FakePort* owner);
  ~hy_queue();
  void Enqueue(Job job);
  void Serve();
  void Run(const Job& job);

  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool is_busy = false;
  bool is_closed = false;
};

Job ReadJob(const hy_submission& submission);
void BeginUses(const Job& job);
void EndUses(const Job& job);
hy_status RunOps(halyard::hal::FakePort& port, const std::vector<hy_op>& ops);
hy_status WaitForPoints(const hy_wait_desc& desc);
hy_status SignalFence(hy_fence& fence, uint64_t value, hy_status status);

#endif  // HALYARD_HAL_FAKE_OBJECTS_H_
