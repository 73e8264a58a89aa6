// SPDX-License-Identifier: Apache-2.0
//
// Accepted and unfinished work of a device: who uses which range, who will signal which fence.
#ifndef HALYARD_HAL_WORK_TABLE_H_
#define HALYARD_HAL_WORK_TABLE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "halyard/hal.h"

namespace halyard::hal {

class BufferState;
class FenceObject;
class FenceState;

/// One operation. hy_op with its buffers kept alive.
struct Op {
  uint32_t kind = HY_OP_BARRIER;
  std::shared_ptr<BufferState> src;
  std::shared_ptr<BufferState> dst;
  const void* src_host = nullptr;
  void* dst_host = nullptr;
  uint64_t src_offset = 0;
  uint64_t dst_offset = 0;
  uint64_t bytes = 0;
  uint32_t pattern = 0;
  uint32_t pattern_bytes = 0;
  std::function<absl::Status()> call;
};

struct WaitPoint {
  std::shared_ptr<FenceObject> fence;
  uint64_t value = 0;
};

/// Keeps its fence alive as one that somebody can still signal.
struct SignalPoint {
  std::shared_ptr<FenceState> fence;
  uint64_t value = 0;
};

/// A core-owned fence of the port that one piece of work at a time signals when it is done.
struct RetireFence {
  hy_fence* fence = nullptr;
  uint64_t value = 0;
};

/// Who runs a piece of work.
enum class WorkStage {
  kSubmitting,  ///< being given to the port
  kPort,        ///< the port
  kCore,        ///< the thread of its queue, not begun
  kRunning,     ///< the thread of its queue, its waits being met
};

struct QueueRecord;

/// What a port is given as the context of a host call.
struct HostCallContext {
  const std::function<absl::Status()>* call = nullptr;
  const QueueRecord* record = nullptr;
};

/// One accepted submission. All but `retire` and `host_calls` changes only under the lock of the
/// table once it is accepted.
struct Work {
  std::vector<WaitPoint> waits;
  std::vector<Op> ops;
  std::vector<SignalPoint> signals;
  uint64_t sequence = 0;
  WorkStage stage = WorkStage::kCore;
  RetireFence retire;
  std::vector<HostCallContext> host_calls;
};

class WorkTable;

/// The unfinished work of one queue, oldest first. Guarded by the lock of its table.
struct QueueRecord {
  WorkTable* table = nullptr;  ///< given by Register
  uint64_t id = 0;             ///< given by Register; never used twice
  std::deque<std::shared_ptr<Work>> pending;
  uint64_t accepted = 0;  ///< sequence of the newest accepted work

  /// All work up to this sequence is done.
  uint64_t retired() const { return pending.empty() ? accepted : pending.front()->sequence - 1; }
};

/// A range of a buffer.
struct BufferRange {
  const BufferState* buffer = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// True if two ranges share a byte.
inline bool Overlaps(uint64_t a_offset, uint64_t a_bytes, uint64_t b_offset, uint64_t b_bytes) {
  return a_offset < b_offset + b_bytes && b_offset < a_offset + a_bytes;
}

/// Threads: any. Methods that end in Locked need `mutex` held.
class WorkTable {
 public:
  std::mutex mutex;
  std::condition_variable retired;  ///< some work is done

  void Register(QueueRecord* record);
  void Unregister(QueueRecord* record);

  /// The newest unfinished work of some queue that touches a range, or no record.
  struct Use {
    const QueueRecord* record = nullptr;
    uint64_t record_id = 0;
    uint64_t sequence = 0;
  };
  Use FindUseLocked(const BufferRange& range) const;

  /// Sleeps until the work of a use is done. The queue may end meanwhile.
  void WaitUntilRetired(std::unique_lock<std::mutex>& lock, const Use& use);

  /// The newest work of `record` that is bound to finish without a further signal or submission by
  /// anybody, or 0: its waits are met or will be by other such work, of any queue, and so are those
  /// of all work before it. Work of a queue that cannot go on without the calling thread is not
  /// bound to finish. Takes the lock; asks fences without it.
  uint64_t FindLastCompletable(const QueueRecord& record);

  /// True if unfinished work of `record` signals `fence` with `value` or more.
  bool WillSignalLocked(const QueueRecord& record, const FenceObject& fence, uint64_t value) const;

 private:
  std::vector<QueueRecord*> records_;
  uint64_t last_id_ = 0;
};

/// Marks the calling thread as one that the work of a queue cannot go on without while it lives: it
/// is in a host call, or is the thread of the queue. Such a thread may not wait for that queue.
class HostCallScope {
 public:
  explicit HostCallScope(const QueueRecord* record);
  ~HostCallScope();
  HostCallScope(const HostCallScope&) = delete;
  HostCallScope& operator=(const HostCallScope&) = delete;

  /// True if the calling thread is marked with this queue.
  static bool IsInside(const QueueRecord* record);
  /// The innermost one of this thread, or nullptr.
  static const HostCallScope* Current();
  const HostCallScope* outer() const { return outer_; }
  const QueueRecord* record() const { return record_; }

 private:
  const QueueRecord* const record_;
  const HostCallScope* const outer_;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_WORK_TABLE_H_
