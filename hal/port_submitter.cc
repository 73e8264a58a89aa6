// SPDX-License-Identifier: Apache-2.0
#include "hal/port_submitter.h"

#include "base/status_macros.h"
#include "hal/buffer_state.h"
#include "hal/device_state.h"

namespace halyard::hal {
namespace {

template <typename Record>
hy_array InArray(absl::Span<const Record> records) {
  hy_array array{};
  // The callee only reads an in-array; the type of the field is that of out-arrays.
  array.data = const_cast<Record*>(records.data());
  array.count = static_cast<uint32_t>(records.size());
  array.stride = sizeof(Record);
  return array;
}

}  // namespace

hy_op ToPortOp(const Op& op) {
  hy_op out{};
  out.struct_size = sizeof out;
  out.kind = op.kind;
  out.src = op.src == nullptr ? nullptr : op.src->handle();
  out.dst = op.dst == nullptr ? nullptr : op.dst->handle();
  out.src_host = op.src_host;
  out.dst_host = op.dst_host;
  out.src_offset = op.src_offset;
  out.dst_offset = op.dst_offset;
  out.bytes = op.bytes;
  out.pattern = op.pattern;
  out.pattern_bytes = op.pattern_bytes;
  return out;
}

absl::Status PortSubmitter::Prepare() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (prepared_) return absl::OkStatus();
  const hy_hal_api& api = device_->api();
  if (api.queue_create != nullptr) {
    hy_queue_desc desc{};
    desc.struct_size = sizeof desc;
    desc.priority = priority_;
    HY_RETURN_IF_ERROR(
        device_->Check(api.queue_create(device_->handle(), &desc, &queue_), "queue_create"));
    if (queue_ == nullptr) {
      return absl::InternalError("queue_create of the port said OK and gave no queue");
    }
  }
  prepared_ = true;
  return absl::OkStatus();
}

absl::Status PortSubmitter::Submit(absl::Span<const hy_fence_point> waits,
                                   absl::Span<const hy_op> ops,
                                   absl::Span<const hy_fence_point> signals) {
  hy_submission submission{};
  submission.struct_size = sizeof submission;
  submission.waits = InArray(waits);
  submission.ops = InArray(ops);
  submission.signals = InArray(signals);
  return device_->Check(device_->api().submit(device_->handle(), queue_, &submission), "submit");
}

absl::Status PortSubmitter::Run(const Op& op) {
  HY_RETURN_IF_ERROR(device_->CheckUsable());
  // A port that makes no queues takes nullptr.
  const absl::Status prepared = Prepare();
  if (!prepared.ok() && !absl::IsUnimplemented(prepared)) return prepared;
  const hy_op port_op = ToPortOp(op);
  // Without queues of the port, all submitters of the device share the one that is nullptr.
  std::mutex& turn = queue_ != nullptr ? mutex_ : device_->null_queue_mutex();
  if (!device_->is_async()) {
    std::lock_guard<std::mutex> lock(turn);
    return Submit({}, absl::MakeConstSpan(&port_op, 1), {});
  }
  HY_ASSIGN_OR_RETURN(const RetireFence retire, TakeFence());
  const hy_fence_point signal{retire.fence, retire.value};
  absl::Status status;
  {
    std::lock_guard<std::mutex> lock(turn);
    status = Submit({}, absl::MakeConstSpan(&port_op, 1), absl::MakeConstSpan(&signal, 1));
  }
  if (status.ok()) status = WaitFor(retire);
  ReturnFence(retire, status.ok());
  return status;
}

absl::StatusOr<RetireFence> PortSubmitter::TakeFence() {
  {
    std::lock_guard<std::mutex> lock(fences_mutex_);
    if (!idle_fences_.empty()) {
      RetireFence fence = idle_fences_.back();
      idle_fences_.pop_back();
      ++fence.value;
      return fence;
    }
  }
  RetireFence fence;
  const hy_hal_api& api = device_->api();
  HY_RETURN_IF_ERROR(
      device_->Check(api.fence_create(device_->handle(), 0, &fence.fence), "fence_create"));
  if (fence.fence == nullptr) {
    return absl::InternalError("fence_create of the port said OK and gave no fence");
  }
  fence.value = 1;
  return fence;
}

void PortSubmitter::ReturnFence(RetireFence fence, bool reached) {
  if (!reached) {
    device_->api().release(HY_KIND_FENCE, fence.fence);
    return;
  }
  std::lock_guard<std::mutex> lock(fences_mutex_);
  idle_fences_.push_back(fence);
}

absl::Status PortSubmitter::WaitFor(const RetireFence& fence) {
  hy_fence_point point{fence.fence, fence.value};
  hy_wait_desc desc{};
  desc.struct_size = sizeof desc;
  desc.mode = HY_WAIT_ALL;
  desc.points = InArray(absl::MakeConstSpan(&point, 1));
  desc.deadline_ns = HY_DEADLINE_NEVER;
  // A fence that has failed says so each time. A wait that fails only once was itself at fault, and
  // says nothing about the work, whose buffers must not go before it is done.
  const hy_hal_api& api = device_->api();
  hy_status status = api.fence_wait(device_->handle(), &desc);
  if (status != HY_OK) status = api.fence_wait(device_->handle(), &desc);
  return device_->Check(status, "submit");
}

void PortSubmitter::Close() {
  const hy_hal_api& api = device_->api();
  for (const RetireFence& fence : idle_fences_) api.release(HY_KIND_FENCE, fence.fence);
  idle_fences_.clear();
  if (queue_ != nullptr) api.release(HY_KIND_QUEUE, queue_);
  queue_ = nullptr;
  prepared_ = false;
}

}  // namespace halyard::hal
