// SPDX-License-Identifier: Apache-2.0
//
// What the handles of one device share: the port, the answers to its queries, and the core's own
// machinery. Held by shared_ptr from every child, so the port's device is released last.
#ifndef HALYARD_HAL_DEVICE_STATE_H_
#define HALYARD_HAL_DEVICE_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hal/loader.h"
#include "hal/port_submitter.h"
#include "hal/staging.h"
#include "hal/topology.h"
#include "hal/work_table.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// Answers to `query` that do not change while the device is open.
struct DeviceFacts {
  hy_device_info info{};
  uint64_t caps = 0;
  std::vector<hy_memory_class> memory_classes;  ///< never empty
  std::vector<uint64_t> page_sizes;
  uint64_t sync_granule_bytes = 1;
  uint64_t min_alignment = 1;
  uint64_t max_alloc_bytes = 0;
  uint32_t queue_tier = HY_QUEUE_TIER_INLINE;
  std::string vendor;
  std::string driver;
};

class DeviceState {
 public:
  static absl::StatusOr<std::shared_ptr<DeviceState>> Open(
      std::shared_ptr<Port> port, absl::string_view id,
      const std::vector<std::pair<std::string, std::string>>& options);
  ~DeviceState();
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  const Port& port() const { return *port_; }
  const hy_hal_api& api() const { return port_->api(); }
  hy_device* handle() const { return handle_; }
  const DeviceFacts& facts() const { return facts_; }

  /// The port has all three fence verbs.
  bool has_port_fences() const;
  /// The port has all three verbs of teams.
  bool has_port_teams() const;
  /// `submit` can be used: it is there, and one that is asynchronous has fences to wait on.
  bool can_submit() const;
  bool is_async() const { return facts_.queue_tier == HY_QUEUE_TIER_ASYNC; }

  /// The status of a verb that was called on this thread, with what the port reported and what to
  /// do about it.
  absl::Status Describe(hy_status status, absl::string_view verb) const;
  /// The same, and DATA_LOSS marks the device as lost.
  absl::Status Check(hy_status status, absl::string_view verb);
  /// DATA_LOSS once the device is lost.
  absl::Status CheckUsable() const;

  absl::StatusOr<Topology> ReadTopology(bool all);

  WorkTable& work() { return work_; }
  StagingPool& staging() { return staging_; }
  /// For the core's own copies, apart from the queues of the user.
  PortSubmitter& submitter() { return submitter_; }
  /// Held while submitting to a port that has no queues.
  std::mutex& null_queue_mutex() { return null_queue_mutex_; }

 private:
  DeviceState(std::shared_ptr<Port> port, const hy_device_info& info, hy_device* handle);
  absl::Status ReadFacts();
  absl::Status CheckFacts() const;

  const std::shared_ptr<Port> port_;
  hy_device* const handle_;
  DeviceFacts facts_;
  std::atomic<bool> lost_{false};
  WorkTable work_;
  StagingPool staging_;
  std::mutex null_queue_mutex_;
  PortSubmitter submitter_;
};

/// What to do about an error of a verb, to end its message with; may be empty.
absl::string_view Advice(hy_status status);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_DEVICE_STATE_H_
