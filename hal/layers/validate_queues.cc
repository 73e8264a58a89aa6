// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "hal/layers/validate_layer.h"

namespace halyard::hal {
namespace {

bool IsReadable(const hy_array& array, size_t record_bytes) {
  return array.data != nullptr && array.stride >= record_bytes;
}

hy_fence_point PointAt(const hy_array& points, uint32_t index) {
  hy_fence_point point;
  std::memcpy(&point, hy_array_at(&points, index), sizeof point);
  return point;
}

}  // namespace

hy_status ValidateLayer::QueueCreate(hy_device* device, const hy_queue_desc* desc,
                                     hy_queue** out_queue) {
  const Verb verb = Verb::kQueueCreate;
  if (!IsLive(verb, HY_KIND_DEVICE, device)) return HY_INVALID_ARGUMENT;
  LiveObject object;
  object.device = device;
  const hy_status status =
      Create(verb, HY_KIND_QUEUE, out_queue, std::move(object),
             [&](hy_queue** out) { return inner().api().queue_create(device, desc, out); });
  if (out_queue != nullptr) CheckNull(verb, device == nullptr || desc == nullptr, status);
  CheckKnown(verb, Known(desc).flags == 0, status, "flags");
  return status;
}

// One side of an operation. Returns the guarantee that the caller breaks, or "".
std::string ValidateLayer::JudgeSide(const hy_buffer* buffer, uint64_t offset, uint64_t bytes,
                                     OpVerdict* verdict) {
  if (buffer == nullptr) return "";
  std::string complaint = objects_.Complaint(HY_KIND_BUFFER, buffer);
  if (!complaint.empty()) return complaint;
  objects_.With(HY_KIND_BUFFER, buffer, [&](LiveObject& object) {
    if (hy_range_ok(offset, bytes, object.bytes)) return;
    verdict->duty = "HAL-ERR-07";
    verdict->acceptance = absl::StrCat("accepted an operation on [", offset, ", +", bytes, ") of ",
                                       object.bytes, " bytes");
  });
  return "";
}

ValidateLayer::OpVerdict ValidateLayer::JudgeOp(const hy_op& op) {
  OpVerdict verdict;
  verdict.calls_host = op.kind == HY_OP_HOST_CALL;
  if (op.kind < HY_OP_COPY || op.kind > HY_OP_BARRIER) {
    verdict.duty = "HAL-ERR-08";
    verdict.acceptance = absl::StrCat("accepted an operation of kind ", op.kind);
  } else if (op.kind == HY_OP_COPY || op.kind == HY_OP_FILL) {
    if (op.kind == HY_OP_FILL && op.pattern_bytes != 1 && op.pattern_bytes != 2 &&
        op.pattern_bytes != 4) {
      verdict.duty = "HAL-QUE-03";
      verdict.acceptance = absl::StrCat("accepted a pattern of ", op.pattern_bytes, " bytes");
    }
    if (op.kind == HY_OP_COPY) {
      verdict.complaint = JudgeSide(op.src, op.src_offset, op.bytes, &verdict);
    }
    if (verdict.complaint.empty()) {
      verdict.complaint = JudgeSide(op.dst, op.dst_offset, op.bytes, &verdict);
    }
  }
  return verdict;
}

std::string ValidateLayer::FenceComplaint(const hy_array& points) {
  if (!IsReadable(points, sizeof(hy_fence_point))) return "";
  for (uint32_t i = 0; i < points.count; ++i) {
    const hy_fence* fence = PointAt(points, i).fence;
    std::string complaint = fence == nullptr ? "" : objects_.Complaint(HY_KIND_FENCE, fence);
    if (!complaint.empty()) return complaint;
  }
  return "";
}

ValidateLayer::OpVerdict ValidateLayer::JudgeSubmission(const hy_submission& submission) {
  OpVerdict whole;
  whole.complaint = FenceComplaint(submission.waits);
  if (whole.complaint.empty()) whole.complaint = FenceComplaint(submission.signals);
  if (!IsReadable(submission.ops, sizeof(uint32_t))) return whole;
  for (uint32_t i = 0; i < submission.ops.count && whole.complaint.empty(); ++i) {
    OpVerdict verdict = JudgeOp(Known(static_cast<hy_op*>(hy_array_at(&submission.ops, i))));
    whole.complaint = std::move(verdict.complaint);
    whole.calls_host = whole.calls_host || verdict.calls_host;
    if (whole.duty.empty()) {
      whole.duty = std::move(verdict.duty);
      whole.acceptance = std::move(verdict.acceptance);
    }
  }
  return whole;
}

hy_status ValidateLayer::Submit(hy_device* device, hy_queue* queue,
                                const hy_submission* submission) {
  const Verb verb = Verb::kSubmit;
  if (!IsLive(verb, HY_KIND_DEVICE, device) || !IsLive(verb, HY_KIND_QUEUE, queue)) {
    return HY_INVALID_ARGUMENT;
  }
  OpVerdict verdict = JudgeSubmission(Known(submission));
  if (!verdict.complaint.empty()) return Refuse(verb, std::move(verdict.complaint));
  bool was_busy = false;
  objects_.With(HY_KIND_QUEUE, queue,
                [&](LiveObject& object) { was_busy = std::exchange(object.busy, true); });
  if (was_busy) return Refuse(verb, "would submit to one queue from two threads at once");
  const hy_status status = inner().api().submit(device, queue, submission);
  objects_.With(HY_KIND_QUEUE, queue, [](LiveObject& object) { object.busy = false; });
  CheckNull(verb, device == nullptr || submission == nullptr, status);
  if (status == HY_OK) {
    CheckFault(verdict.duty, verb, verdict.acceptance);
  } else if (!verdict.calls_host && !IsDocumented(verb, status)) {
    Report("HAL-ERR-02", verb,
           absl::StrCat("returned ", hy_status_name(status), ", which is not documented for it"));
  }
  return status;
}

hy_status ValidateLayer::FenceCreate(hy_device* device, uint64_t initial, hy_fence** out_fence) {
  const Verb verb = Verb::kFenceCreate;
  if (!IsLive(verb, HY_KIND_DEVICE, device)) return HY_INVALID_ARGUMENT;
  LiveObject object;
  object.device = device;
  object.value = initial;
  const hy_status status =
      Create(verb, HY_KIND_FENCE, out_fence, std::move(object),
             [&](hy_fence** out) { return inner().api().fence_create(device, initial, out); });
  if (out_fence != nullptr) CheckNull(verb, device == nullptr, status);
  return status;
}

hy_status ValidateLayer::FenceWait(hy_device* device, const hy_wait_desc* desc) {
  const Verb verb = Verb::kFenceWait;
  if (!IsLive(verb, HY_KIND_DEVICE, device)) return HY_INVALID_ARGUMENT;
  const hy_wait_desc known = Known(desc);
  std::string complaint = FenceComplaint(known.points);
  if (!complaint.empty()) return Refuse(verb, std::move(complaint));
  const hy_status status = inner().api().fence_wait(device, desc);
  CheckStatus(verb, status);
  CheckNull(verb, device == nullptr || desc == nullptr, status);
  CheckKnown(verb, known.mode == HY_WAIT_ALL || known.mode == HY_WAIT_ANY, status, "a mode");
  CheckWaited(known, status);
  return status;
}

void ValidateLayer::CheckWaited(const hy_wait_desc& known, hy_status status) {
  const Verb verb = Verb::kFenceWait;
  if (status == HY_DEADLINE_EXCEEDED && known.deadline_ns != HY_DEADLINE_POLL &&
      MonotonicNs() < known.deadline_ns) {
    Report("HAL-FEN-05", verb, "returned DEADLINE_EXCEEDED before the deadline");
  }
  if (status != HY_OK || known.out_values == nullptr || known.points.count == 0 ||
      !IsReadable(known.points, sizeof(hy_fence_point))) {
    return;
  }
  uint32_t reached = 0;
  for (uint32_t i = 0; i < known.points.count; ++i) {
    if (known.out_values[i] >= PointAt(known.points, i).value) ++reached;
  }
  const uint32_t wanted = known.mode == HY_WAIT_ALL ? known.points.count : 1;
  if (reached < wanted) {
    Report("HAL-FEN-04", verb,
           absl::StrCat("returned OK with values that reach ", reached, " of ", wanted, " points"));
  }
}

hy_status ValidateLayer::FenceSignal(hy_fence* fence, uint64_t value, hy_status status) {
  const Verb verb = Verb::kFenceSignal;
  if (!IsLive(verb, HY_KIND_FENCE, fence)) return HY_INVALID_ARGUMENT;
  // What held before the call holds during it, whoever else signals meanwhile.
  uint64_t value_before = 0;
  bool failed_before = false;
  objects_.With(HY_KIND_FENCE, fence, [&](LiveObject& object) {
    value_before = object.value;
    failed_before = object.failed;
  });
  const hy_status result = inner().api().fence_signal(fence, value, status);
  CheckStatus(verb, result);
  CheckNull(verb, fence == nullptr, result);
  if (result != HY_OK) return result;
  if (failed_before) Report("HAL-FEN-08", verb, "signalled a fence that had failed");
  if (status == HY_OK && value <= value_before) {
    Report("HAL-FEN-07", verb,
           absl::StrCat("signalled ", value, ", though ", value_before, " was reached"));
  }
  objects_.With(HY_KIND_FENCE, fence, [&](LiveObject& object) {
    object.failed = object.failed || status != HY_OK;
    if (status == HY_OK) object.value = std::max(object.value, value);
  });
  return result;
}

hy_status ValidateLayer::Timestamp(hy_device* device, hy_timestamp* out_timestamp) {
  const Verb verb = Verb::kTimestamp;
  if (!IsLive(verb, HY_KIND_DEVICE, device)) return HY_INVALID_ARGUMENT;
  uint64_t ticks_before = 0;
  objects_.With(HY_KIND_DEVICE, device, [&](LiveObject& object) { ticks_before = object.ticks; });
  ShadowStruct shadow(out_timestamp);
  const uint64_t begin_ns = MonotonicRawNs();
  const hy_status status =
      inner().api().timestamp(device, static_cast<hy_timestamp*>(shadow.data()));
  const uint64_t end_ns = MonotonicRawNs();
  CheckFault("HAL-ABI-05", verb, shadow.Finish());
  CheckStatus(verb, status);
  CheckNull(verb, device == nullptr || out_timestamp == nullptr, status);
  if (status != HY_OK || out_timestamp == nullptr || device == nullptr ||
      out_timestamp->struct_size < sizeof(hy_timestamp)) {
    return status;
  }
  if (out_timestamp->ticks < ticks_before) Report("HAL-TIM-01", verb, "gave ticks that went back");
  if (out_timestamp->hz == 0) Report("HAL-TIM-02", verb, "gave a clock of 0 ticks a second");
  if (out_timestamp->host_ns < begin_ns || out_timestamp->host_ns > end_ns) {
    Report("HAL-TIM-03", verb, "gave a time of the host that lies outside the call");
  }
  objects_.With(HY_KIND_DEVICE, device, [&](LiveObject& object) {
    object.ticks = std::max(object.ticks, out_timestamp->ticks);
  });
  return status;
}

}  // namespace halyard::hal
