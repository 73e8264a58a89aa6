// SPDX-License-Identifier: Apache-2.0
#include "hal/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "hal/buffer_state.h"

namespace halyard::hal {
namespace {

/// A map of the port for the time of one copy.
class HostView {
 public:
  /// Errors   UNIMPLEMENTED: the port does not map this buffer; as `map`.
  absl::Status Open(const BufferState& buffer, uint64_t offset, uint64_t bytes, uint64_t access) {
    const hy_hal_api& api = buffer.device()->api();
    if (api.map == nullptr) return absl::UnimplementedError("the port does not map memory");
    desc_.struct_size = sizeof desc_;
    desc_.offset = offset;
    desc_.bytes = bytes;
    desc_.access = access;
    HY_RETURN_IF_ERROR(buffer.device()->Check(api.map(buffer.handle(), &desc_, &data_), "map"));
    if (data_ == nullptr) return absl::InternalError("map of the port said OK and gave no pointer");
    buffer_ = &buffer;
    return absl::OkStatus();
  }
  ~HostView() { Close().IgnoreError(); }

  absl::Status Close() {
    if (buffer_ == nullptr) return absl::OkStatus();
    const BufferState& buffer = *std::exchange(buffer_, nullptr);
    const hy_hal_api& api = buffer.device()->api();
    if (api.unmap == nullptr) return absl::OkStatus();
    return buffer.device()->Check(api.unmap(buffer.handle(), &desc_, data_), "unmap");
  }
  void* data() const { return data_; }

  HostView() = default;
  HostView(const HostView&) = delete;
  HostView& operator=(const HostView&) = delete;

 private:
  const BufferState* buffer_ = nullptr;
  hy_map_desc desc_{};
  void* data_ = nullptr;
};

absl::Status CopyThroughMap(const Op& op) {
  HostView from;
  HostView to;
  const void* src = op.src_host;
  void* dst = op.dst_host;
  if (op.src != nullptr) {
    HY_RETURN_IF_ERROR(from.Open(*op.src, op.src_offset, op.bytes, HY_MAP_READ));
    src = from.data();
  }
  if (op.dst != nullptr) {
    const uint64_t access = HY_MAP_WRITE | HY_MAP_DISCARD;
    HY_RETURN_IF_ERROR(to.Open(*op.dst, op.dst_offset, op.bytes, access));
    dst = to.data();
  }
  std::memcpy(dst, src, static_cast<size_t>(op.bytes));
  HY_RETURN_IF_ERROR(from.Close());
  return to.Close();
}

/// Repeats the low pattern_bytes of the pattern, in the host's byte order, over `bytes`.
void RepeatPattern(const Op& op, unsigned char* out, uint64_t bytes) {
  unsigned char pattern[4];
  if (op.pattern_bytes == 1) {
    pattern[0] = static_cast<unsigned char>(op.pattern);
  } else if (op.pattern_bytes == 2) {
    const uint16_t half = static_cast<uint16_t>(op.pattern);
    std::memcpy(pattern, &half, sizeof half);
  } else {
    std::memcpy(pattern, &op.pattern, sizeof op.pattern);
  }
  for (uint64_t i = 0; i < bytes; ++i) out[i] = pattern[i % op.pattern_bytes];
}

absl::Status FillThroughMap(const Op& op) {
  HostView view;
  const uint64_t access = HY_MAP_WRITE | HY_MAP_DISCARD;
  HY_RETURN_IF_ERROR(view.Open(*op.dst, op.dst_offset, op.bytes, access));
  RepeatPattern(op, static_cast<unsigned char*>(view.data()), op.bytes);
  return view.Close();
}

absl::Status FillThroughCopies(DeviceState& device, PortSubmitter& submitter, const Op& op) {
  constexpr uint64_t kChunkBytes = uint64_t{1} << 20;  // a multiple of every pattern
  const uint64_t chunk_bytes = std::min(op.bytes, kChunkBytes);
  HY_ASSIGN_OR_RETURN(const StagingBlock staging, device.staging().Acquire(chunk_bytes));
  RepeatPattern(op, static_cast<unsigned char*>(staging.data()), chunk_bytes);
  Op copy;
  copy.kind = HY_OP_COPY;
  copy.src_host = staging.data();
  copy.dst = op.dst;
  for (uint64_t done = 0; done < op.bytes; done += copy.bytes) {
    copy.dst_offset = op.dst_offset + done;
    copy.bytes = std::min(op.bytes - done, chunk_bytes);
    HY_RETURN_IF_ERROR(RunCopy(device, submitter, copy));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunCopy(DeviceState& device, PortSubmitter& submitter, const Op& op) {
  HY_RETURN_IF_ERROR(device.CheckUsable());
  if (device.can_submit()) {
    const absl::Status status = submitter.Run(op);
    if (!absl::IsUnimplemented(status)) return status;
  }
  return CopyThroughMap(op);
}

absl::Status RunFill(DeviceState& device, PortSubmitter& submitter, const Op& op) {
  HY_RETURN_IF_ERROR(device.CheckUsable());
  if (device.can_submit()) {
    const absl::Status status = submitter.Run(op);
    if (!absl::IsUnimplemented(status)) return status;
  }
  const absl::Status mapped = FillThroughMap(op);
  if (!absl::IsUnimplemented(mapped)) return mapped;
  if (!device.can_submit()) return mapped;
  return FillThroughCopies(device, submitter, op);
}

}  // namespace halyard::hal
