// SPDX-License-Identifier: Apache-2.0
//
// An in-order queue with a thread of its own. On an asynchronous port the port runs the work and
// the thread only sees it end; elsewhere the thread runs it.
#ifndef HALYARD_HAL_QUEUE_STATE_H_
#define HALYARD_HAL_QUEUE_STATE_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hal/device_state.h"
#include "hal/port_submitter.h"
#include "hal/submission.h"
#include "hal/work_table.h"

namespace halyard::hal {

class QueueState : public std::enable_shared_from_this<QueueState> {
 public:
  static absl::StatusOr<std::shared_ptr<QueueState>> Create(std::shared_ptr<DeviceState> device,
                                                            int32_t priority);
  ~QueueState();
  QueueState(const QueueState&) = delete;
  QueueState& operator=(const QueueState&) = delete;

  absl::Status Submit(std::unique_ptr<SubmissionContent> content);
  absl::Status Drain(uint64_t deadline_ns);

  /// Waits for what completes by itself; the thread stays for the rest, and then ends. Needed
  /// before the last reference goes; no submission may follow.
  void Close();

 private:
  QueueState(std::shared_ptr<DeviceState> device, int32_t priority);
  absl::Status StartThread();
  /// Takes the work; true if the port is to run it.
  absl::StatusOr<bool> Accept(const std::shared_ptr<Work>& work);
  absl::Status SubmitToPort(Work& work);
  void Withdraw(const std::shared_ptr<Work>& work);
  void Serve();
  void Finish(Work& work);

  const std::shared_ptr<DeviceState> device_;
  PortSubmitter submitter_;
  // Guarded by the lock of the work table.
  QueueRecord record_;
  bool port_runs_ = false;  ///< until the port refuses an operation: then the thread runs all
  bool closed_ = false;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_QUEUE_STATE_H_
