// SPDX-License-Identifier: Apache-2.0
#include "hal/soft_queue.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "base/log.h"
#include "hal/fence_state.h"
#include "hal/transfer.h"

namespace halyard::hal {
namespace {

absl::Status AwaitWaits(DeviceState& device, const Work& work) {
  std::vector<ObjectPoint> points;
  points.reserve(work.waits.size());
  for (const WaitPoint& wait : work.waits) points.push_back({wait.fence.get(), wait.value});
  return WaitForPoints(device, points, HY_WAIT_ALL, HY_DEADLINE_NEVER);
}

absl::Status RunOp(DeviceState& device, PortSubmitter& submitter, const Op& op) {
  switch (op.kind) {
    case HY_OP_COPY:
      return RunCopy(device, submitter, op);
    case HY_OP_FILL:
      return RunFill(device, submitter, op);
    case HY_OP_HOST_CALL:
      return op.call();
    default:
      return absl::OkStatus();  // a barrier: each operation ends before the next begins
  }
}

absl::Status RunOps(DeviceState& device, PortSubmitter& submitter, const Work& work) {
  for (size_t i = 0; i < work.ops.size(); ++i) {
    const absl::Status status = RunOp(device, submitter, work.ops[i]);
    if (!status.ok()) {
      return WithContext(status, absl::StrCat("operation ", i, " of a submission failed"));
    }
  }
  return absl::OkStatus();
}

/// Nobody can be told of an error, and whoever waits must not wait for ever.
void SignalFence(FenceObject& fence, uint64_t value, const absl::Status& status) {
  absl::Status signalled = fence.Signal(value, status);
  const bool is_final =
      signalled.ok() || absl::IsInvalidArgument(signalled) || absl::IsFailedPrecondition(signalled);
  if (!is_final) signalled = fence.Signal(value, status);
  if (signalled.ok()) return;
  Log(LogLevel::kWarning, absl::StrCat("a submission could not signal its fence with ", value, ": ",
                                       signalled.ToString()));
}

}  // namespace

void RunWork(DeviceState& device, PortSubmitter& submitter, Work& work) {
  absl::Status status = AwaitWaits(device, work);
  {
    std::lock_guard<std::mutex> lock(device.work().mutex);
    work.stage = WorkStage::kRunning;
  }
  if (status.ok()) status = RunOps(device, submitter, work);
  // Before the signals: whoever sees them finds the buffers free.
  std::vector<Op> ops;
  {
    std::lock_guard<std::mutex> lock(device.work().mutex);
    ops.swap(work.ops);
  }
  ops.clear();
  for (const SignalPoint& signal : work.signals) {
    SignalFence(*signal.fence->object(), signal.value, status);
  }
}

}  // namespace halyard::hal
