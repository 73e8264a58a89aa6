// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "hal/buffer_state.h"
#include "hal/device.h"
#include "hal/transfer.h"
#include "halyard/hal_port.h"

namespace halyard::hal {

absl::StatusOr<std::unique_ptr<MappingState>> MappingState::Begin(
    std::shared_ptr<BufferState> buffer, const hy_map_desc& desc) {
  HY_ASSIGN_OR_RETURN(const uint64_t ticket, buffer->BeginMap(desc));
  std::unique_ptr<MappingState> mapping(new MappingState(std::move(buffer), desc, ticket));
  const absl::Status status = mapping->MapOrStage();
  if (status.ok()) return mapping;
  mapping->buffer_->EndMap(ticket);
  mapping->data_ = nullptr;
  return status;
}

absl::Status MappingState::MapOrStage() {
  const hy_hal_api& api = buffer_->device()->api();
  if (api.map != nullptr) {
    const absl::Status status =
        buffer_->device()->Check(api.map(buffer_->handle(), &desc_, &data_), "map");
    if (status.ok() && data_ == nullptr) {
      return absl::InternalError("map of the port said OK and gave no pointer");
    }
    if (!absl::IsUnimplemented(status)) return status;
  }
  if ((desc_.access & HY_MAP_PERSISTENT) != 0) {
    return absl::UnimplementedError("the port has no persistent map of this memory: map each time");
  }
  return Stage();
}

absl::Status MappingState::Stage() {
  DeviceState& device = *buffer_->device();
  HY_ASSIGN_OR_RETURN(staging_, device.staging().Acquire(desc_.bytes));
  data_ = staging_->data();
  const bool discards = (desc_.access & HY_MAP_DISCARD) != 0;
  const bool reads = (desc_.access & HY_MAP_READ) != 0;
  if (discards && !reads) return absl::OkStatus();
  // Also without READ: what the caller does not write must be written back as it was.
  Op op;
  op.kind = HY_OP_COPY;
  op.src = buffer_;
  op.src_offset = desc_.offset;
  op.dst_host = data_;
  op.bytes = desc_.bytes;
  return RunCopy(device, device.submitter(), op);
}

absl::Status MappingState::WriteBack() {
  if ((desc_.access & HY_MAP_WRITE) == 0) return absl::OkStatus();
  DeviceState& device = *buffer_->device();
  Op op;
  op.kind = HY_OP_COPY;
  op.src_host = data_;
  op.dst = buffer_;
  op.dst_offset = desc_.offset;
  op.bytes = desc_.bytes;
  return RunCopy(device, device.submitter(), op);
}

absl::Status MappingState::End() {
  if (data_ == nullptr) return absl::FailedPreconditionError("the map has ended already");
  const hy_hal_api& api = buffer_->device()->api();
  absl::Status status;
  if (staging_.has_value()) {
    status = WriteBack();
  } else if (api.unmap != nullptr) {
    status = buffer_->device()->Check(api.unmap(buffer_->handle(), &desc_, data_), "unmap");
  }
  data_ = nullptr;
  staging_.reset();
  buffer_->EndMap(ticket_);
  return status;
}

MappingState::~MappingState() {
  if (data_ == nullptr) return;
  const absl::Status status = End();
  if (!status.ok()) {
    Log(LogLevel::kWarning, absl::StrCat("a map ended with an error, and what was written may be "
                                         "lost; call Unmap to see this in the program: ",
                                         status.ToString()));
  }
}

absl::Status MappingState::Sync(uint64_t offset, uint64_t bytes, uint32_t direction) {
  if (data_ == nullptr) return absl::FailedPreconditionError("the map has ended already");
  if ((desc_.access & HY_MAP_PERSISTENT) == 0) {
    return absl::FailedPreconditionError("only persistent maps are synchronised; unmap this one");
  }
  if (direction != HY_SYNC_TO_DEVICE && direction != HY_SYNC_FROM_DEVICE) {
    return absl::InvalidArgumentError("sync is TO_DEVICE or FROM_DEVICE");
  }
  if (bytes == 0) return absl::InvalidArgumentError("a sync of no bytes");
  if (!hy_range_ok(offset, bytes, desc_.bytes)) {
    return absl::OutOfRangeError(absl::StrCat(bytes, " bytes at offset ", offset,
                                              " leave the map, which has ", desc_.bytes));
  }
  DeviceState& device = *buffer_->device();
  HY_RETURN_IF_ERROR(device.CheckUsable());
  if (device.api().sync_range != nullptr) {
    return device.Check(
        device.api().sync_range(buffer_->handle(), desc_.offset + offset, bytes, direction),
        "sync_range");
  }
  if (buffer_->is_coherent()) return absl::OkStatus();
  return absl::UnimplementedError(
      "the memory is not coherent and the port has no sync_range: map for each access");
}

Mapping::Mapping(std::unique_ptr<MappingState> state) : state_(std::move(state)) {}
Mapping::Mapping(Mapping&&) noexcept = default;
Mapping& Mapping::operator=(Mapping&&) noexcept = default;
Mapping::~Mapping() = default;

void* Mapping::data() const { return state_->data(); }
uint64_t Mapping::size_bytes() const { return state_->size_bytes(); }
absl::Status Mapping::Sync(uint64_t offset, uint64_t bytes, uint32_t direction) {
  return state_->Sync(offset, bytes, direction);
}
absl::Status Mapping::Unmap() { return state_->End(); }

}  // namespace halyard::hal
