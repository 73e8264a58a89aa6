// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "hal/buffer_state.h"
#include "hal/device.h"
#include "hal/transfer.h"
#include "halyard/hal_port.h"

namespace halyard::hal {

bool BufferState::is_coherent() const {
  const DeviceFacts& facts = device_->facts();
  if ((facts.caps & HY_CAP_COHERENT) != 0) return true;
  for (const hy_memory_class& memory : facts.memory_classes) {
    if (memory.id == traits_.memory_class) return (memory.flags & HY_MEMORY_COHERENT) != 0;
  }
  return false;
}

absl::Status BufferState::CheckRange(uint64_t offset, uint64_t bytes) const {
  if (hy_range_ok(offset, bytes, traits_.size_bytes)) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(bytes, " bytes at offset ", offset,
                                            " leave the buffer, which has ", traits_.size_bytes));
}

absl::Status BufferState::CheckConflictLocked(const hy_map_desc& desc) const {
  for (const ActiveMap& map : maps_) {
    const bool either_writes = ((map.access | desc.access) & HY_MAP_WRITE) != 0;
    if (either_writes && Overlaps(map.offset, map.bytes, desc.offset, desc.bytes)) {
      return absl::FailedPreconditionError(
          absl::StrCat("bytes ", map.offset, " to ", map.offset + map.bytes,
                       " are mapped, and one of the two maps writes: unmap them first"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> BufferState::BeginMap(const hy_map_desc& desc) {
  WorkTable& work = device_->work();
  std::unique_lock<std::mutex> lock(work.mutex);
  for (;;) {
    HY_RETURN_IF_ERROR(CheckConflictLocked(desc));
    const WorkTable::Use use = work.FindUseLocked({this, desc.offset, desc.bytes});
    if (use.record == nullptr) break;
    if (HostCallScope::IsInside(use.record)) {
      return absl::FailedPreconditionError(
          "a host call cannot map what its own queue is still to work on: it would wait for "
          "itself");
    }
    work.WaitUntilRetired(lock, use);
  }
  maps_.push_back({next_ticket_, desc.offset, desc.bytes, desc.access});
  return next_ticket_++;
}

void BufferState::EndMap(uint64_t ticket) {
  std::lock_guard<std::mutex> lock(device_->work().mutex);
  for (auto map = maps_.begin(); map != maps_.end(); ++map) {
    if (map->ticket != ticket) continue;
    maps_.erase(map);
    return;
  }
}

bool BufferState::IsMappedLocked(uint64_t offset, uint64_t bytes) const {
  for (const ActiveMap& map : maps_) {
    if ((map.access & HY_MAP_PERSISTENT) == 0 && Overlaps(map.offset, map.bytes, offset, bytes)) {
      return true;
    }
  }
  return false;
}

uint64_t BufferState::NextId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

Buffer::Buffer(std::shared_ptr<BufferState> state) : state_(std::move(state)) {}
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer& Buffer::operator=(Buffer&&) noexcept = default;
Buffer::~Buffer() = default;

uint64_t Buffer::id() const { return state_->id(); }
uint64_t Buffer::size_bytes() const { return state_->traits().size_bytes; }
uint32_t Buffer::memory_class() const { return state_->traits().memory_class; }
bool Buffer::shares_host_memory() const { return state_->traits().shares_host_memory; }
const Placement& Buffer::alloc_placement() const { return state_->traits().placement; }

namespace {

absl::Status CheckWritable(const BufferState& buffer, uint64_t access) {
  if ((access & HY_MAP_WRITE) == 0 || !buffer.traits().read_only) return absl::OkStatus();
  return absl::PermissionDeniedError("the buffer was imported read-only: map it without WRITE");
}

absl::Status CheckAccess(const BufferState& buffer, uint64_t access) {
  constexpr uint64_t kKnown = HY_MAP_READ | HY_MAP_WRITE | HY_MAP_DISCARD | HY_MAP_PERSISTENT;
  if ((access & ~kKnown) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("unknown map flags in ", access));
  }
  if ((access & (HY_MAP_READ | HY_MAP_WRITE)) == 0) {
    return absl::InvalidArgumentError("a map reads, writes or both: give READ or WRITE");
  }
  if ((access & HY_MAP_DISCARD) != 0 && (access & HY_MAP_WRITE) == 0) {
    return absl::InvalidArgumentError("DISCARD needs WRITE");
  }
  if ((access & HY_MAP_PERSISTENT) != 0 &&
      (buffer.device()->facts().caps & HY_CAP_PERSISTENT_MAP) == 0) {
    return absl::UnimplementedError("the device has no persistent maps: map for each access");
  }
  return CheckWritable(buffer, access);
}

hy_map_desc MapDesc(uint64_t offset, uint64_t bytes, uint64_t access) {
  hy_map_desc desc{};
  desc.struct_size = sizeof desc;
  desc.offset = offset;
  desc.bytes = bytes;
  desc.access = access;
  return desc;
}

/// A copy of the host into or out of a buffer, with the range held as by a map.
absl::Status CopyHeld(BufferState& buffer, const Op& op, const hy_map_desc& desc) {
  HY_RETURN_IF_ERROR(buffer.device()->CheckUsable());
  HY_RETURN_IF_ERROR(buffer.CheckRange(desc.offset, desc.bytes));
  if (desc.bytes == 0) return absl::OkStatus();
  HY_RETURN_IF_ERROR(CheckWritable(buffer, desc.access));
  HY_ASSIGN_OR_RETURN(const uint64_t ticket, buffer.BeginMap(desc));
  const absl::Status status = RunCopy(*buffer.device(), buffer.device()->submitter(), op);
  buffer.EndMap(ticket);
  return status;
}

}  // namespace

absl::StatusOr<Mapping> Buffer::Map(uint64_t offset, uint64_t bytes, uint64_t access) const {
  HY_RETURN_IF_ERROR(state_->device()->CheckUsable());
  HY_RETURN_IF_ERROR(CheckAccess(*state_, access));
  if (bytes == 0) return absl::InvalidArgumentError("a map of no bytes");
  HY_RETURN_IF_ERROR(state_->CheckRange(offset, bytes));
  HY_ASSIGN_OR_RETURN(std::unique_ptr<MappingState> mapping,
                      MappingState::Begin(state_, MapDesc(offset, bytes, access)));
  return Mapping(std::move(mapping));
}

absl::Status Buffer::Write(uint64_t offset, absl::Span<const uint8_t> bytes) const {
  Op op;
  op.kind = HY_OP_COPY;
  op.src_host = bytes.data();
  op.dst = state_;
  op.dst_offset = offset;
  op.bytes = bytes.size();
  return CopyHeld(*state_, op, MapDesc(offset, bytes.size(), HY_MAP_WRITE | HY_MAP_DISCARD));
}

absl::Status Buffer::Read(uint64_t offset, absl::Span<uint8_t> bytes) const {
  Op op;
  op.kind = HY_OP_COPY;
  op.src = state_;
  op.src_offset = offset;
  op.dst_host = bytes.data();
  op.bytes = bytes.size();
  return CopyHeld(*state_, op, MapDesc(offset, bytes.size(), HY_MAP_READ));
}

}  // namespace halyard::hal
