// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <chrono>
#include <cstring>

#include "ports/kit/ops.h"
#include "ports/sim_async/engine.h"

namespace halyard::sim_async {
namespace {

using port_kit::Report;

// SplitMix64 (Steele, Lea, Flood 2014): the same seed holds back the same work for as long.
uint64_t Mix(uint64_t state) {
  state += 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}

hy_array ArrayOf(const hy_fence_point* points, uint32_t count) {
  hy_array array = {};
  array.data = const_cast<hy_fence_point*>(points);
  array.count = count;
  array.stride = sizeof *points;
  return array;
}

void CopyPoints(const hy_array& from, hy_fence_point* to) {
  for (uint32_t i = 0; i < from.count; ++i) {
    std::memcpy(&to[i], hy_array_at(&from, i), sizeof to[i]);
  }
}

// Copies a checked submission; nullptr when the host has no memory.
Submission* CopySubmission(const hy_submission& given) {
  const uint64_t bytes =
      sizeof(Submission) + uint64_t{given.ops.count} * sizeof(hy_op) +
      (uint64_t{given.waits.count} + given.signals.count) * sizeof(hy_fence_point);
  void* place = host->memory_alloc(bytes, 16);
  if (place == nullptr) return nullptr;
  auto* work = new (place) Submission{};
  work->op_count = given.ops.count;
  work->wait_count = given.waits.count;
  work->signal_count = given.signals.count;
  work->ops = reinterpret_cast<hy_op*>(work + 1);
  work->waits = reinterpret_cast<hy_fence_point*>(work->ops + work->op_count);
  work->signals = work->waits + work->wait_count;
  for (uint32_t i = 0; i < given.ops.count; ++i) {
    (void)port_kit::ReadOp(given.ops, i, &work->ops[i]);
  }
  CopyPoints(given.waits, work->waits);
  CopyPoints(given.signals, work->signals);
  return work;
}

hy_status RunOps(const Submission& work) {
  class Engine final : public port_kit::MemoryMover<Buffer> {
  } engine;
  hy_status status = HY_OK;
  for (uint32_t i = 0; i < work.op_count && status == HY_OK; ++i) {
    status = port_kit::RunOp(work.ops[i], engine);
  }
  return status;
}

}  // namespace

Queue::Queue(Device* owner)
    : Object(kKind), device_(owner), index_([owner] {
        const std::lock_guard<std::mutex> lock(owner->mutex);
        return owner->queues_made++;
      }()) {}

Queue::~Queue() {
  if (!started_) return;
  {
    const std::lock_guard<std::mutex> lock(device_->mutex);
    stopping_ = true;
    device_->changed.notify_all();
  }
  pthread_join(thread_, nullptr);
}

hy_status Queue::Start() {
  // Signals of the process are for its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  started_ = pthread_create(&thread_, nullptr, &Queue::ThreadMain, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started_) return HY_OK;
  return Report(host, HY_RESOURCE_EXHAUSTED, "queue_create: the system gave no thread");
}

hy_status Queue::Submit(const hy_submission* submission) {
  hy_submission given;
  hy_status status = hy_read_struct(&given, sizeof given, submission);
  if (status != HY_OK) return status;
  if (!PointsAreValid(*device_, given.waits) || !PointsAreValid(*device_, given.signals)) {
    return Report(host, HY_INVALID_ARGUMENT, "submit: waits and signals need fences of the device");
  }
  status = port_kit::CheckOps(host, given.ops);
  if (status != HY_OK) return status;
  Submission* work = CopySubmission(given);
  if (work == nullptr) return Report(host, HY_RESOURCE_EXHAUSTED, "submit: no host memory");
  const std::lock_guard<std::mutex> lock(device_->mutex);
  const uint64_t delay_us = device_->options.delay_us;
  const uint64_t random = Mix(Mix(device_->options.seed + index_) + accepted_++);
  work->delay_ns = delay_us == 0 ? 0 : random % (delay_us * 1000);
  (first_ == nullptr ? first_ : last_->next) = work;
  last_ = work;
  device_->changed.notify_all();
  return HY_OK;
}

void* Queue::ThreadMain(void* queue) {
  static_cast<Queue*>(queue)->Serve();
  return nullptr;
}

void Queue::Serve() {
  std::unique_lock<std::mutex> lock(device_->mutex);
  for (;;) {
    device_->changed.wait(lock, [this] { return stopping_ || first_ != nullptr; });
    if (first_ == nullptr) return;
    Submission* work = first_;
    hy_status status = AwaitLocked(lock, *work);
    if (status == HY_OK) {
      // Other queues overtake while this one sleeps.
      const std::chrono::nanoseconds delay(work->delay_ns);
      if (work->delay_ns != 0) device_->changed.wait_for(lock, delay, [this] { return stopping_; });
      lock.unlock();
      status = RunOps(*work);
      lock.lock();
    }
    FinishLocked(work, status);
  }
}

hy_status Queue::AwaitLocked(std::unique_lock<std::mutex>& lock, const Submission& work) {
  const hy_array waits = ArrayOf(work.waits, work.wait_count);
  WaitState state = {};
  device_->changed.wait(lock, [&] {
    state = EvaluateLocked(waits, HY_WAIT_ALL, nullptr);
    return state.done || stopping_;
  });
  return state.done ? state.status : HY_CANCELLED;
}

void Queue::FinishLocked(Submission* work, hy_status status) {
  for (uint32_t i = 0; i < work->signal_count; ++i) {
    const hy_fence_point& point = work->signals[i];
    const hy_status signalled = port_kit::As<Fence>(point.fence)->SignalLocked(point.value, status);
    if (signalled != HY_OK) {
      host->log(HY_LOG_WARNING,
                "sim_async: a submission could not signal a fence: it has failed, "
                "or has passed the value");
    }
  }
  first_ = work->next;
  host->memory_free(work);
  device_->changed.notify_all();
}

}  // namespace halyard::sim_async
