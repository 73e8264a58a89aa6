// SPDX-License-Identifier: Apache-2.0
#include "hal/submission.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "base/status_macros.h"
#include "hal/buffer_state.h"
#include "hal/device.h"

namespace halyard::hal {
namespace {

absl::Status CheckBuffer(const DeviceState& device, const BufferState* buffer, uint64_t offset,
                         uint64_t bytes) {
  if (buffer == nullptr) return absl::OkStatus();
  if (buffer->device().get() != &device) {
    return absl::InvalidArgumentError(
        "the buffer belongs to another device: copy through host memory");
  }
  return buffer->CheckRange(offset, bytes);
}

absl::Status CheckSides(const Op& op) {
  if (op.bytes == 0) return absl::OkStatus();
  if (op.src == nullptr && op.kind == HY_OP_COPY && op.src_host == nullptr) {
    return absl::InvalidArgumentError("a copy from a null pointer");
  }
  if (op.dst == nullptr && op.dst_host == nullptr) {
    return absl::InvalidArgumentError("a copy to a null pointer");
  }
  if (op.src != nullptr && op.src == op.dst &&
      Overlaps(op.src_offset, op.bytes, op.dst_offset, op.bytes)) {
    return absl::InvalidArgumentError("the two ranges of a copy overlap: copy in two steps");
  }
  return absl::OkStatus();
}

absl::Status CheckOp(const DeviceState& device, const Op& op) {
  if (op.kind == HY_OP_BARRIER) return absl::OkStatus();
  if (op.kind == HY_OP_HOST_CALL) {
    if (op.call) return absl::OkStatus();
    return absl::InvalidArgumentError("a host call of no function");
  }
  HY_RETURN_IF_ERROR(CheckBuffer(device, op.src.get(), op.src_offset, op.bytes));
  HY_RETURN_IF_ERROR(CheckBuffer(device, op.dst.get(), op.dst_offset, op.bytes));
  HY_RETURN_IF_ERROR(CheckSides(op));
  if (op.dst != nullptr && op.dst->traits().read_only) {
    return absl::PermissionDeniedError("the buffer was imported read-only: write to another");
  }
  if (op.kind == HY_OP_FILL && op.pattern_bytes != 1 && op.pattern_bytes != 2 &&
      op.pattern_bytes != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("a fill pattern has 1, 2 or 4 bytes, not ", op.pattern_bytes));
  }
  return absl::OkStatus();
}

absl::Status CheckFences(const DeviceState& device, const std::vector<SignalPoint>& points) {
  for (const SignalPoint& point : points) {
    if (point.fence->object()->device().get() != &device) {
      return absl::InvalidArgumentError("the fence belongs to another device: make one of this");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SubmissionContent::Validate(const DeviceState& device) const {
  HY_RETURN_IF_ERROR(CheckFences(device, waits));
  HY_RETURN_IF_ERROR(CheckFences(device, signals));
  for (const SignalPoint& signal : signals) {
    if (signal.value == 0) {
      return absl::InvalidArgumentError("a signal of 0 is never above the value of its fence");
    }
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    const absl::Status status = CheckOp(device, ops[i]);
    if (!status.ok()) return WithContext(status, absl::StrCat("operation ", i));
  }
  return absl::OkStatus();
}

Submission::Submission() : content_(std::make_unique<SubmissionContent>()) {}
Submission::Submission(Submission&&) noexcept = default;
Submission& Submission::operator=(Submission&&) noexcept = default;
Submission::~Submission() = default;

Submission& Submission::WaitFor(const Fence& fence, uint64_t value) {
  content_->waits.push_back({fence.state_, value});
  return *this;
}

Submission& Submission::Signal(const Fence& fence, uint64_t value) {
  content_->signals.push_back({fence.state_, value});
  return *this;
}

Submission& Submission::CopyToDevice(const void* src, const Buffer& dst, uint64_t dst_offset,
                                     uint64_t bytes) {
  Op op;
  op.kind = HY_OP_COPY;
  op.src_host = src;
  op.dst = dst.state_;
  op.dst_offset = dst_offset;
  op.bytes = bytes;
  content_->ops.push_back(std::move(op));
  return *this;
}

Submission& Submission::CopyToHost(const Buffer& src, uint64_t src_offset, void* dst,
                                   uint64_t bytes) {
  Op op;
  op.kind = HY_OP_COPY;
  op.src = src.state_;
  op.src_offset = src_offset;
  op.dst_host = dst;
  op.bytes = bytes;
  content_->ops.push_back(std::move(op));
  return *this;
}

Submission& Submission::Copy(const Buffer& src, uint64_t src_offset, const Buffer& dst,
                             uint64_t dst_offset, uint64_t bytes) {
  Op op;
  op.kind = HY_OP_COPY;
  op.src = src.state_;
  op.src_offset = src_offset;
  op.dst = dst.state_;
  op.dst_offset = dst_offset;
  op.bytes = bytes;
  content_->ops.push_back(std::move(op));
  return *this;
}

Submission& Submission::Fill(const Buffer& dst, uint64_t offset, uint64_t bytes, uint32_t pattern,
                             uint32_t pattern_bytes) {
  Op op;
  op.kind = HY_OP_FILL;
  op.dst = dst.state_;
  op.dst_offset = offset;
  op.bytes = bytes;
  op.pattern = pattern;
  op.pattern_bytes = pattern_bytes;
  content_->ops.push_back(std::move(op));
  return *this;
}

Submission& Submission::HostCall(std::function<absl::Status()> call) {
  Op op;
  op.kind = HY_OP_HOST_CALL;
  op.call = std::move(call);
  content_->ops.push_back(std::move(op));
  return *this;
}

Submission& Submission::Barrier() {
  content_->ops.emplace_back();
  content_->ops.back().kind = HY_OP_BARRIER;
  return *this;
}

}  // namespace halyard::hal
