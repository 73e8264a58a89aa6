// SPDX-License-Identifier: Apache-2.0
#include "hal/fake_objects.h"

#include <algorithm>
#include <cstring>

#include "base/c_status.h"
#include "hal/host_services.h"
#include "halyard/hal_port.h"

using halyard::FromStatus;
using halyard::ToStatus;
using halyard::hal::FakePort;
using halyard::hal::HostServices;
using halyard::hal::Timeline;

namespace {

template <typename Record>
std::vector<Record> ToVector(const hy_array& array) {
  std::vector<Record> records;
  for (uint32_t i = 0; i < array.count; ++i) {
    records.push_back(*static_cast<const Record*>(hy_array_at(&array, i)));
  }
  return records;
}

bool Overlap(const FakeUse& a, const FakeUse& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool Clash(const FakeUse& a, const FakeUse& b) {
  if (!Overlap(a, b) || (!a.is_map && !b.is_map)) return false;
  if (a.is_map && b.is_map) {
    return (a.writes || b.writes) && !a.is_persistent && !b.is_persistent;
  }
  return !a.is_persistent && !b.is_persistent;
}

template <typename Function>
void ForEachUse(const Job& job, Function function) {
  for (const hy_op& op : job.ops) {
    if (op.src != nullptr) function(*op.src, FakeUse{op.src_offset, op.bytes, false, false, false});
    if (op.dst != nullptr) function(*op.dst, FakeUse{op.dst_offset, op.bytes, false, true, false});
  }
}

void Fill(const hy_op& op) {
  uint8_t pattern[4];
  const uint16_t half = static_cast<uint16_t>(op.pattern);
  const uint8_t byte = static_cast<uint8_t>(op.pattern);
  const void* from = &op.pattern;
  if (op.pattern_bytes == 2) from = &half;
  if (op.pattern_bytes == 1) from = &byte;
  std::memcpy(pattern, from, op.pattern_bytes);
  for (uint64_t i = 0; i < op.bytes; ++i) {
    op.dst->bytes[op.dst_offset + i] = pattern[i % op.pattern_bytes];
  }
}

hy_status RunOp(FakePort& port, const hy_op& op) {
  const hy_status injected = port.TakeInjected("op");
  if (injected != HY_OK) return HostServices()->report(injected, "injected");
  if (op.kind == HY_OP_HOST_CALL) return op.call(op.context);
  if (op.kind == HY_OP_FILL) Fill(op);
  if (op.kind != HY_OP_COPY) return HY_OK;
  if (op.bytes == 0) port.Complain("a copy of no bytes");
  ++port.copies_made;
  const void* src = op.src != nullptr ? op.src->bytes + op.src_offset : op.src_host;
  void* dst = op.dst != nullptr ? op.dst->bytes + op.dst_offset : op.dst_host;
  std::memcpy(dst, src, static_cast<size_t>(op.bytes));
  return HY_OK;
}

}  // namespace

hy_buffer::~hy_buffer() {
  if (!uses.empty()) port->Complain("buffer released while in use");
  if (on_release != nullptr) on_release(context);
}

void hy_buffer::Begin(const FakeUse& use) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const FakeUse& other : uses) {
    if (Clash(use, other)) port->Complain("a map clashes with a map or with work");
  }
  uses.push_back(use);
}

void hy_buffer::End(const FakeUse& use) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = std::find(uses.begin(), uses.end(), use);
  if (found == uses.end()) return port->Complain("the end of a use that never began");
  uses.erase(found);
}

Job ReadJob(const hy_submission& submission) {
  Job job;
  for (const auto& point : ToVector<hy_fence_point>(submission.waits)) {
    job.waits.push_back({&point.fence->timeline, point.value});
  }
  job.ops = ToVector<hy_op>(submission.ops);
  for (const auto& point : ToVector<hy_fence_point>(submission.signals)) {
    job.signals.emplace_back(point.fence, point.value);
  }
  return job;
}

void BeginUses(const Job& job) {
  ForEachUse(job, [](hy_buffer& buffer, const FakeUse& use) { buffer.Begin(use); });
}

void EndUses(const Job& job) {
  ForEachUse(job, [](hy_buffer& buffer, const FakeUse& use) { buffer.End(use); });
}

hy_status RunOps(FakePort& port, const std::vector<hy_op>& ops) {
  for (const hy_op& op : ops) {
    const hy_status status = RunOp(port, op);
    if (status != HY_OK) return status;
  }
  return HY_OK;
}

hy_status WaitForPoints(const hy_wait_desc& desc) {
  std::vector<Timeline::Point> points;
  for (const auto& point : ToVector<hy_fence_point>(desc.points)) {
    points.push_back({&point.fence->timeline, point.value});
  }
  absl::Span<uint64_t> values;
  if (desc.out_values != nullptr) values = absl::MakeSpan(desc.out_values, points.size());
  return FromStatus(Timeline::Wait(points, desc.mode, desc.deadline_ns, values));
}

hy_status SignalFence(hy_fence& fence, uint64_t value, hy_status status) {
  return FromStatus(fence.timeline.Signal(value, ToStatus(status, "failed")));
}

hy_queue::hy_queue(FakePort* owner) : FakeObject(owner) {
  thread = std::thread([this] { Serve(); });
}

hy_queue::~hy_queue() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!jobs.empty() || is_busy) port->Complain("queue released with work");
    is_closed = true;
  }
  changed.notify_one();
  thread.join();
}

void hy_queue::Enqueue(Job job) {
  BeginUses(job);
  std::lock_guard<std::mutex> lock(mutex);
  jobs.push_back(std::move(job));
  changed.notify_one();
}

void hy_queue::Serve() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return is_closed || !jobs.empty(); });
    if (jobs.empty()) return;
    const Job job = std::move(jobs.front());
    jobs.pop_front();
    is_busy = true;
    lock.unlock();
    Run(job);
    lock.lock();
  }
}

void hy_queue::Run(const Job& job) {
  absl::Status status = Timeline::Wait(job.waits, HY_WAIT_ALL, HY_DEADLINE_NEVER);
  if (status.ok()) status = ToStatus(RunOps(*port, job.ops), "an operation failed");
  EndUses(job);
  {
    std::lock_guard<std::mutex> lock(mutex);
    is_busy = false;  // before the signals: once they are seen, the queue may be released
  }
  for (const auto& [fence, value] : job.signals) {
    fence->timeline.Signal(value, status).IgnoreError();
  }
}
