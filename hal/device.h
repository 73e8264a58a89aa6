// SPDX-License-Identifier: Apache-2.0
//
// The HAL as C++ code uses it: every verb works on every port, whatever its table leaves out.
//
// Handles are move-only and own their object; a child keeps its device open, and submitted work
// keeps what it uses, so destruction in any order is safe. All methods give absl::Status with a
// message that says what to do; none aborts, throws or prints. Methods may be called from any
// thread, but one Queue and one Team by one thread at a time.
#ifndef HALYARD_HAL_DEVICE_H_
#define HALYARD_HAL_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/bind.h"
#include "hal/loader.h"
#include "hal/pages.h"
#include "hal/topology.h"
#include "hal/worker_team.h"
#include "halyard/hal.h"

namespace halyard::hal {

class DeviceState;
class BufferState;
class FenceState;
class QueueState;
class TeamState;
class MappingState;
struct ObjectPoint;
struct SubmissionContent;

/// What to allocate; hy_alloc_desc with its lists owned.
struct AllocRequest {
  uint64_t bytes = 0;
  uint64_t alignment = 0;  ///< 0: the device's least
  uint32_t memory_class = HY_ID_NONE;
  uint32_t node_policy = HY_NODES_DEFAULT;
  bool require_nodes = false;
  std::vector<uint32_t> nodes;
  std::vector<uint64_t> pages;  ///< most wanted first; empty: base pages
  bool require_pages = false;
  uint32_t usage = HY_USE_GENERAL;
  uint64_t flags = HY_ALLOC_PREFAULT;
};

/// A host pointer to a range of a buffer. Unmaps when destroyed; Unmap says whether that worked.
class Mapping {
 public:
  Mapping(Mapping&&) noexcept;
  Mapping& operator=(Mapping&&) noexcept;
  ~Mapping();

  void* data() const;
  uint64_t size_bytes() const;
  template <typename T>
  absl::Span<T> as() const {
    return absl::MakeSpan(static_cast<T*>(data()), static_cast<size_t>(size_bytes() / sizeof(T)));
  }

  /// Persistent maps only: hands [offset, offset + bytes) of the map over. As `sync_range`.
  absl::Status Sync(uint64_t offset, uint64_t bytes, uint32_t direction);

  /// Ends the map. Further calls are FAILED_PRECONDITION.
  absl::Status Unmap();

 private:
  friend class Buffer;
  explicit Mapping(std::unique_ptr<MappingState> state);
  std::unique_ptr<MappingState> state_;
};

/// Memory of a device.
class Buffer {
 public:
  /// Unique in this process and never used again: a name for what is remembered of its contents.
  uint64_t id() const;
  uint64_t size_bytes() const;
  uint32_t memory_class() const;  ///< HY_ID_NONE if it shares host memory

  /// Placement, read from the system at each call; empty `known` where the port cannot tell.
  absl::StatusOr<Placement> QueryPlacement() const;

  /// What `alloc` said: reasons and page size obtained.
  const Placement& alloc_placement() const;

  /// Maps a range; stages through copies where the port has no `map`. Waits for submitted work that
  /// touches the range. Conflicting maps (either writes) may not overlap, and work that touches a
  /// mapped range is refused, unless the map is persistent.
  /// Errors   OUT_OF_RANGE, INVALID_ARGUMENT, FAILED_PRECONDITION: overlaps a map, or would wait in
  ///          a host call for work of its own queue; as `map`.
  absl::StatusOr<Mapping> Map(uint64_t offset, uint64_t bytes, uint64_t access) const;

  /// Copies, under the rules of Map. No bytes are OK.
  absl::Status Write(uint64_t offset, absl::Span<const uint8_t> bytes) const;
  absl::Status Read(uint64_t offset, absl::Span<uint8_t> bytes) const;

  /// uint64_t answers of `query` about this buffer (NATIVE_HANDLE, DEVICE_ADDRESS).
  absl::StatusOr<uint64_t> QueryU64(uint32_t key) const;

  /// True if import_host shares the caller's memory; false if the core had to copy.
  bool shares_host_memory() const;

 private:
  friend class Device;
  friend class Submission;
  explicit Buffer(std::shared_ptr<BufferState> state);
  std::shared_ptr<BufferState> state_;

 public:
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();
};

/// A timeline. See fence_create.
///
/// Handles, submissions that are being built and accepted work that signals it can signal a fence.
/// When the last of these is gone, work that still waits for a value not reached is cancelled: the
/// fence fails with CANCELLED, and so do the signals of that work.
class Fence {
 public:
  Fence(Fence&&) noexcept;
  Fence& operator=(Fence&&) noexcept;
  ~Fence();

  /// As `fence_signal`. A status that is not OK fails the fence.
  absl::Status Signal(uint64_t value, const absl::Status& status = absl::OkStatus()) const;

  /// The value reached now, or the failure.
  absl::StatusOr<uint64_t> Value() const;

  /// Waits for `value` until an absolute CLOCK_MONOTONIC time.
  /// Errors   as `fence_wait`; FAILED_PRECONDITION: in a host call, for a signal of its own queue.
  absl::Status Wait(uint64_t value, uint64_t deadline_ns = HY_DEADLINE_NEVER) const;

 private:
  friend class Device;
  friend class Submission;
  explicit Fence(std::shared_ptr<FenceState> state);
  std::shared_ptr<FenceState> state_;
};

struct FencePoint {
  const Fence* fence;
  uint64_t value;
};

/// Work for a queue, built step by step. Buffers and fences given to it are kept until the work is
/// done; host pointers are borrowed until then. Copies and fills of no bytes are left out; the two
/// ranges of a copy may not overlap.
class Submission {
 public:
  Submission();
  Submission(Submission&&) noexcept;
  Submission& operator=(Submission&&) noexcept;
  ~Submission();

  Submission& WaitFor(const Fence& fence, uint64_t value);
  Submission& CopyToDevice(const void* src, const Buffer& dst, uint64_t dst_offset, uint64_t bytes);
  Submission& CopyToHost(const Buffer& src, uint64_t src_offset, void* dst, uint64_t bytes);
  Submission& Copy(const Buffer& src, uint64_t src_offset, const Buffer& dst, uint64_t dst_offset,
                   uint64_t bytes);
  Submission& Fill(const Buffer& dst, uint64_t offset, uint64_t bytes, uint32_t pattern,
                   uint32_t pattern_bytes);
  /// A failed call fails the submission's signals. It may signal fences and submit; it may not wait
  /// for its own queue, by a fence, a map or Drain: that is FAILED_PRECONDITION.
  Submission& HostCall(std::function<absl::Status()> call);
  Submission& Barrier();
  Submission& Signal(const Fence& fence, uint64_t value);

 private:
  friend class Queue;
  std::unique_ptr<SubmissionContent> content_;
};

/// An in-order queue.
class Queue {
 public:
  Queue(Queue&&) noexcept;
  Queue& operator=(Queue&&) noexcept;
  /// Waits for the work that is bound to finish: its waits are met, or will be by accepted work, of
  /// any queue of the device, that is bound to finish itself. Work that needs a signal by the host
  /// is not waited for, so this cannot deadlock: it stays in the background with all that it holds,
  /// and its host pointers stay borrowed, until its fences are signalled or nobody can signal them
  /// any more (see Fence). In a host call of this very queue it waits for nothing.
  ~Queue();

  /// As `submit`: on an error nothing was done. Waits that cannot be met yet do not block.
  /// Errors   as `submit`; PERMISSION_DENIED: writes to a read-only import; FAILED_PRECONDITION:
  ///          touches a mapped range.
  absl::Status Submit(Submission submission) const;

  /// Waits until everything submitted so far is done or failed. Does not report their failures.
  absl::Status Drain(uint64_t deadline_ns = HY_DEADLINE_NEVER) const;

 private:
  friend class Device;
  explicit Queue(std::shared_ptr<QueueState> state);
  std::shared_ptr<QueueState> state_;
};

/// A thread team.
class Team {
 public:
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;
  ~Team();

  /// Runs fn(index, count) on every worker; returns when all have. As `team_run`.
  absl::Status Run(absl::FunctionRef<void(uint32_t index, uint32_t count)> fn) const;

  /// As `team_readback`.
  absl::StatusOr<std::vector<WorkerReport>> Readback() const;

  uint32_t size() const;

  /// What every worker executes: the intersection over the team. Kernels are chosen by this.
  IsaMask isa() const;

 private:
  friend class Device;
  explicit Team(std::shared_ptr<TeamState> state);
  std::shared_ptr<TeamState> state_;
};

struct Timestamp {
  uint64_t ticks = 0;
  uint64_t host_ns = 0;
  uint64_t hz = 0;
  uint64_t uncertainty_ns = 0;
};

/// An open device.
class Device {
 public:
  /// Opens a device of a port. `id` empty: its first device.
  /// Errors   as `open`; NOT_FOUND when the port lists none. UNAVAILABLE means skip.
  static absl::StatusOr<Device> Open(
      std::shared_ptr<Port> port, absl::string_view id = "",
      const std::vector<std::pair<std::string, std::string>>& options = {});

  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  ~Device();

  const hy_device_info& info() const;
  const Port& port() const;
  hy_device* handle() const;  ///< borrowed; for vendor kernels and tests

  uint64_t caps() const;  ///< HY_CAP_*
  const std::vector<hy_memory_class>& memory_classes() const;
  std::vector<uint64_t> page_sizes() const;
  uint64_t sync_granule_bytes() const;
  uint64_t min_alignment() const;
  uint64_t max_alloc_bytes() const;
  uint32_t queue_tier() const;
  std::string vendor() const;
  std::string driver() const;
  absl::StatusOr<uint64_t> QueryU64(uint32_t key) const;

  absl::StatusOr<Topology> ReadTopology(bool all = false) const;
  absl::StatusOr<Buffer> Allocate(const AllocRequest& request) const;
  /// Zero-copy where the port can; else a copy, which `Buffer::shares_host_memory` tells.
  /// `on_release` is called once, after the last use, on any thread; never if this fails. After a
  /// copy the memory is not used again: it is called before this returns, so that the caller need
  /// not keep the data twice.
  absl::StatusOr<Buffer> ImportHost(void* ptr, uint64_t bytes, bool read_only,
                                    std::function<void()> on_release = {}) const;
  absl::StatusOr<Team> CreateTeam(const TeamRequest& request) const;
  absl::StatusOr<Queue> CreateQueue(int32_t priority = 0) const;
  absl::StatusOr<Fence> CreateFence(uint64_t initial = 0) const;
  absl::Status WaitAll(absl::Span<const FencePoint> points, uint64_t deadline_ns) const;
  /// Index of a point that holds.
  absl::StatusOr<size_t> WaitAny(absl::Span<const FencePoint> points, uint64_t deadline_ns) const;
  absl::StatusOr<Timestamp> Now() const;

  /// Verbs served by the core because the port leaves them out, for `halyard info`.
  std::vector<std::string> defaulted_verbs() const;

 private:
  explicit Device(std::shared_ptr<DeviceState> state);
  absl::StatusOr<std::vector<ObjectPoint>> ResolvePoints(absl::Span<const FencePoint> points) const;
  std::shared_ptr<DeviceState> state_;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_DEVICE_H_
