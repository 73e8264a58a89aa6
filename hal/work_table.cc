// SPDX-License-Identifier: Apache-2.0
#include "hal/work_table.h"

#include <algorithm>
#include <unordered_map>

#include "hal/fence_state.h"

namespace halyard::hal {
namespace {

thread_local const HostCallScope* current_host_call = nullptr;

bool Touches(const Op& op, const BufferRange& range) {
  return (op.src.get() == range.buffer &&
          Overlaps(op.src_offset, op.bytes, range.offset, range.bytes)) ||
         (op.dst.get() == range.buffer &&
          Overlaps(op.dst_offset, op.bytes, range.offset, range.bytes));
}

bool Touches(const Work& work, const BufferRange& range) {
  return std::any_of(work.ops.begin(), work.ops.end(),
                     [&range](const Op& op) { return Touches(op, range); });
}

/// A copy of what decides whether work can finish. Holds fences, but no right to signal them.
struct WorkView {
  uint64_t sequence;
  bool is_running;
  std::vector<WaitPoint> waits;
  std::vector<WaitPoint> signals;
};

/// The work of one queue, oldest first, and how much of it is bound to finish.
struct QueueView {
  bool is_asked_for;
  std::vector<WorkView> pending;
  size_t completable = 0;
};

WorkView ViewOf(const Work& work) {
  WorkView view{work.sequence, work.stage == WorkStage::kRunning, work.waits, {}};
  for (const SignalPoint& signal : work.signals) {
    view.signals.push_back({signal.fence->object(), signal.value});
  }
  return view;
}

/// Values that fences are bound to reach.
using Promises = std::unordered_map<const FenceObject*, uint64_t>;

bool CanComplete(const WorkView& work, const Promises& promises) {
  const auto will_be_met = [&promises](const WaitPoint& wait) {
    const auto promise = promises.find(wait.fence.get());
    return (promise != promises.end() && promise->second >= wait.value) ||
           wait.fence->IsSettled(wait.value);
  };
  return work.is_running || std::all_of(work.waits.begin(), work.waits.end(), will_be_met);
}

/// Goes on from the oldest work while it can complete. True if it got anywhere.
bool Advance(QueueView& queue, Promises& promises) {
  const size_t before = queue.completable;
  while (queue.completable < queue.pending.size() &&
         CanComplete(queue.pending[queue.completable], promises)) {
    for (const WaitPoint& signal : queue.pending[queue.completable].signals) {
      uint64_t& promise = promises[signal.fence.get()];
      promise = std::max(promise, signal.value);
    }
    ++queue.completable;
  }
  return queue.completable > before;
}

}  // namespace

void WorkTable::Register(QueueRecord* record) {
  std::lock_guard<std::mutex> lock(mutex);
  record->table = this;
  record->id = ++last_id_;
  records_.push_back(record);
}

void WorkTable::Unregister(QueueRecord* record) {
  std::lock_guard<std::mutex> lock(mutex);
  records_.erase(std::find(records_.begin(), records_.end(), record));
}

WorkTable::Use WorkTable::FindUseLocked(const BufferRange& range) const {
  for (const QueueRecord* record : records_) {
    for (auto work = record->pending.rbegin(); work != record->pending.rend(); ++work) {
      if (Touches(**work, range)) return {record, record->id, (*work)->sequence};
    }
  }
  return {};
}

void WorkTable::WaitUntilRetired(std::unique_lock<std::mutex>& lock, const Use& use) {
  retired.wait(lock, [this, &use] {
    const auto found =
        std::find_if(records_.begin(), records_.end(),
                     [&use](const QueueRecord* record) { return record->id == use.record_id; });
    return found == records_.end() || (*found)->retired() >= use.sequence;
  });
}

uint64_t WorkTable::FindLastCompletable(const QueueRecord& record) {
  std::vector<QueueView> queues;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (const QueueRecord* other : records_) {
      if (HostCallScope::IsInside(other)) continue;
      QueueView& queue = queues.emplace_back(QueueView{other == &record, {}, 0});
      for (const auto& work : other->pending) queue.pending.push_back(ViewOf(*work));
    }
  }
  // The least set that is closed under "its waits are promised": two queues that wait for each
  // other are not in it.
  Promises promises;
  for (bool progress = true; progress;) {
    progress = false;
    for (QueueView& queue : queues) progress = Advance(queue, promises) || progress;
  }
  for (const QueueView& queue : queues) {
    if (!queue.is_asked_for || queue.completable == 0) continue;
    return queue.pending[queue.completable - 1].sequence;
  }
  return 0;
}

bool WorkTable::WillSignalLocked(const QueueRecord& record, const FenceObject& fence,
                                 uint64_t value) const {
  for (const auto& work : record.pending) {
    for (const SignalPoint& signal : work->signals) {
      if (signal.fence->object().get() == &fence && signal.value >= value) return true;
    }
  }
  return false;
}

HostCallScope::HostCallScope(const QueueRecord* record)
    : record_(record), outer_(current_host_call) {
  current_host_call = this;
}

HostCallScope::~HostCallScope() { current_host_call = outer_; }

const HostCallScope* HostCallScope::Current() { return current_host_call; }

bool HostCallScope::IsInside(const QueueRecord* record) {
  for (const HostCallScope* scope = current_host_call; scope != nullptr; scope = scope->outer()) {
    if (scope->record() == record) return true;
  }
  return false;
}

}  // namespace halyard::hal
