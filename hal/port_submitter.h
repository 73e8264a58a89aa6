// SPDX-License-Identifier: Apache-2.0
//
// One queue of a port, and the core's own fences on it.
#ifndef HALYARD_HAL_PORT_SUBMITTER_H_
#define HALYARD_HAL_PORT_SUBMITTER_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/work_table.h"
#include "halyard/hal.h"

namespace halyard::hal {

class DeviceState;

/// Gives work to `submit`, with a queue where the port has queues. Threads: any.
class PortSubmitter {
 public:
  /// `device` outlives it, or Close is called before the device ends.
  PortSubmitter(DeviceState* device, int32_t priority) : device_(device), priority_(priority) {}
  ~PortSubmitter() { Close(); }
  PortSubmitter(const PortSubmitter&) = delete;
  PortSubmitter& operator=(const PortSubmitter&) = delete;

  /// Makes the port's queue, once. A port without `queue_create` takes nullptr for one.
  /// Errors   as `queue_create`; UNIMPLEMENTED when the port makes no queue.
  absl::Status Prepare();

  /// Does one operation and returns when it is done. Threads take turns.
  /// Errors   as `submit`; UNIMPLEMENTED: the port does not do this kind, and has done nothing.
  absl::Status Run(const Op& op);

  /// As `submit`, with the waits and signals of an asynchronous port. Not apart from Run: a queue
  /// is used through the one or the other. A port may run a host call before this returns, and that
  /// may submit again, so that no lock is held.
  absl::Status Submit(absl::Span<const hy_fence_point> waits, absl::Span<const hy_op> ops,
                      absl::Span<const hy_fence_point> signals);

  /// A fence for one submission to signal with its `value`. Give it back when the submission is
  /// done, or was refused: `reached` says whether the value was, else the fence is of no more use.
  absl::StatusOr<RetireFence> TakeFence();
  void ReturnFence(RetireFence fence, bool reached);

  /// Blocks until the submission is done; returns its failure, or that of the device.
  absl::Status WaitFor(const RetireFence& fence);

  /// Releases the queue and the fences. All work must be done.
  void Close();

 private:
  DeviceState* const device_;
  const int32_t priority_;
  std::mutex mutex_;  ///< one thread at a time prepares or runs
  bool prepared_ = false;
  hy_queue* queue_ = nullptr;
  std::mutex fences_mutex_;
  std::vector<RetireFence> idle_fences_;
};

/// The operation as the port takes it. A host call is the caller's to fill in.
hy_op ToPortOp(const Op& op);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_PORT_SUBMITTER_H_
