// SPDX-License-Identifier: Apache-2.0
//
// What buffers and maps share inside the core.
#ifndef HALYARD_HAL_BUFFER_STATE_H_
#define HALYARD_HAL_BUFFER_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hal/device_state.h"
#include "hal/pages.h"
#include "hal/staging.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// A buffer of the port.
class BufferState {
 public:
  /// What is known of a buffer from its making.
  struct Traits {
    uint64_t size_bytes = 0;
    uint32_t memory_class = HY_ID_NONE;
    bool read_only = false;
    bool shares_host_memory = false;
    Placement placement;
  };

  BufferState(std::shared_ptr<DeviceState> device, hy_buffer* handle, Traits traits)
      : device_(std::move(device)), handle_(handle), traits_(std::move(traits)) {}
  ~BufferState() { device_->api().release(HY_KIND_BUFFER, handle_); }
  BufferState(const BufferState&) = delete;
  BufferState& operator=(const BufferState&) = delete;

  const std::shared_ptr<DeviceState>& device() const { return device_; }
  hy_buffer* handle() const { return handle_; }
  const Traits& traits() const { return traits_; }
  uint64_t id() const { return id_; }

  /// The device or the class of memory needs no sync_range.
  bool is_coherent() const;

  /// Errors   OUT_OF_RANGE.
  absl::Status CheckRange(uint64_t offset, uint64_t bytes) const;

  /// Takes a range for the host: waits until no accepted work touches it, then keeps conflicting
  /// maps and work away until EndMap. Gives a ticket.
  /// Errors   FAILED_PRECONDITION: a map overlaps and either writes; or the work to wait for is
  ///          queued behind the host call that this thread is in.
  absl::StatusOr<uint64_t> BeginMap(const hy_map_desc& desc);
  void EndMap(uint64_t ticket);

  /// True if a map that is not persistent overlaps. Needs the lock of the device's work table.
  bool IsMappedLocked(uint64_t offset, uint64_t bytes) const;

 private:
  struct ActiveMap {
    uint64_t ticket;
    uint64_t offset;
    uint64_t bytes;
    uint64_t access;
  };
  absl::Status CheckConflictLocked(const hy_map_desc& desc) const;
  static uint64_t NextId();

  const std::shared_ptr<DeviceState> device_;
  hy_buffer* const handle_;
  const Traits traits_;
  const uint64_t id_ = NextId();
  std::vector<ActiveMap> maps_;  ///< guarded by the lock of the device's work table
  uint64_t next_ticket_ = 1;
};

/// A map that has begun: of the port, or staged by the core.
class MappingState {
 public:
  /// Errors as `map`.
  static absl::StatusOr<std::unique_ptr<MappingState>> Begin(std::shared_ptr<BufferState> buffer,
                                                             const hy_map_desc& desc);
  ~MappingState();
  MappingState(const MappingState&) = delete;
  MappingState& operator=(const MappingState&) = delete;

  void* data() const { return data_; }
  uint64_t size_bytes() const { return desc_.bytes; }
  absl::Status Sync(uint64_t offset, uint64_t bytes, uint32_t direction);
  absl::Status End();

 private:
  MappingState(std::shared_ptr<BufferState> buffer, const hy_map_desc& desc, uint64_t ticket)
      : buffer_(std::move(buffer)), desc_(desc), ticket_(ticket) {}
  absl::Status MapOrStage();
  absl::Status Stage();
  absl::Status WriteBack();

  const std::shared_ptr<BufferState> buffer_;
  const hy_map_desc desc_;
  const uint64_t ticket_;
  void* data_ = nullptr;  ///< nullptr before the map has begun and after it has ended
  std::optional<StagingBlock> staging_;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_BUFFER_STATE_H_
