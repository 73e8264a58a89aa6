// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "base/status_macros.h"
#include "hal/buffer_state.h"
#include "hal/deadline.h"
#include "hal/device.h"
#include "hal/queue_state.h"
#include "hal/soft_queue.h"

namespace halyard::hal {
namespace {

/// The host call that a port runs.
hy_status RunHostCall(void* context) {
  const auto& host_call = *static_cast<const HostCallContext*>(context);
  const HostCallScope scope(host_call.record);
  return FromStatus((*host_call.call)());
}

std::shared_ptr<Work> MakeWork(std::unique_ptr<SubmissionContent> content) {
  auto work = std::make_shared<Work>();
  for (const SignalPoint& wait : content->waits) {
    work->waits.push_back({wait.fence->object(), wait.value});
  }
  work->signals = std::move(content->signals);
  for (Op& op : content->ops) {
    const bool moves_bytes = op.kind == HY_OP_COPY || op.kind == HY_OP_FILL;
    if (moves_bytes && op.bytes == 0) continue;
    work->ops.push_back(std::move(op));
  }
  return work;
}

absl::Status CheckNotMappedLocked(const std::vector<Op>& ops) {
  for (const Op& op : ops) {
    const bool mapped = (op.src != nullptr && op.src->IsMappedLocked(op.src_offset, op.bytes)) ||
                        (op.dst != nullptr && op.dst->IsMappedLocked(op.dst_offset, op.bytes));
    if (mapped) {
      return absl::FailedPreconditionError("the work touches bytes that are mapped: unmap first");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<QueueState>> QueueState::Create(std::shared_ptr<DeviceState> device,
                                                               int32_t priority) {
  const bool may_run = device->is_async() && device->api().queue_create != nullptr;
  std::shared_ptr<QueueState> queue(new QueueState(std::move(device), priority));
  if (!queue->device_->can_submit()) return queue;
  const absl::Status prepared = queue->submitter_.Prepare();
  if (!prepared.ok() && !absl::IsUnimplemented(prepared)) return prepared;
  queue->port_runs_ = may_run && prepared.ok();
  return queue;
}

QueueState::QueueState(std::shared_ptr<DeviceState> device, int32_t priority)
    : device_(std::move(device)), submitter_(device_.get(), priority) {
  device_->work().Register(&record_);
}

QueueState::~QueueState() { device_->work().Unregister(&record_); }

absl::Status QueueState::StartThread() {
  if (thread_.joinable()) return absl::OkStatus();
  // Signals of the process are for its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::Status status;
  try {
    thread_ = std::thread([self = shared_from_this()] { self->Serve(); });
  } catch (const std::system_error& error) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("no thread for the queue: ", error.what(), "; end other threads first"));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

absl::Status QueueState::Submit(std::unique_ptr<SubmissionContent> content) {
  HY_RETURN_IF_ERROR(device_->CheckUsable());
  if (content == nullptr) return absl::InvalidArgumentError("the submission was submitted before");
  HY_RETURN_IF_ERROR(content->Validate(*device_));
  HY_RETURN_IF_ERROR(StartThread());
  // The waits' right to signal is held to the end of this call, so that none is cancelled early.
  const std::vector<SignalPoint> held = content->waits;
  const std::shared_ptr<Work> work = MakeWork(std::move(content));
  HY_ASSIGN_OR_RETURN(const bool to_port, Accept(work));
  if (!to_port) return absl::OkStatus();
  const absl::Status status = SubmitToPort(*work);
  if (!status.ok() && !absl::IsUnimplemented(status)) {
    Withdraw(work);
    return status;
  }
  std::lock_guard<std::mutex> lock(device_->work().mutex);
  // Once the thread runs something, all that follows must too, or it would overtake.
  if (!status.ok()) port_runs_ = false;
  work->stage = status.ok() ? WorkStage::kPort : WorkStage::kCore;
  changed_.notify_one();
  return absl::OkStatus();
}

absl::StatusOr<bool> QueueState::Accept(const std::shared_ptr<Work>& work) {
  std::lock_guard<std::mutex> lock(device_->work().mutex);
  HY_RETURN_IF_ERROR(CheckNotMappedLocked(work->ops));
  work->stage = port_runs_ ? WorkStage::kSubmitting : WorkStage::kCore;
  work->sequence = ++record_.accepted;
  for (const WaitPoint& wait : work->waits) wait.fence->AddWait(wait.value);
  record_.pending.push_back(work);
  changed_.notify_one();
  return port_runs_;
}

absl::Status QueueState::SubmitToPort(Work& work) {
  std::vector<hy_fence_point> waits;
  for (const WaitPoint& wait : work.waits) {
    waits.push_back({wait.fence->port_fence(), wait.value});
  }
  std::vector<hy_fence_point> signals;
  for (const SignalPoint& signal : work.signals) {
    signals.push_back({signal.fence->object()->port_fence(), signal.value});
  }
  HY_ASSIGN_OR_RETURN(work.retire, submitter_.TakeFence());
  signals.push_back({work.retire.fence, work.retire.value});
  std::vector<hy_op> ops;
  work.host_calls.reserve(work.ops.size());  // the port keeps pointers into it
  for (const Op& op : work.ops) {
    ops.push_back(ToPortOp(op));
    if (op.kind != HY_OP_HOST_CALL) continue;
    work.host_calls.push_back({&op.call, &record_});
    ops.back().call = &RunHostCall;
    ops.back().context = &work.host_calls.back();
  }
  const absl::Status status = submitter_.Submit(waits, ops, signals);
  if (!status.ok()) submitter_.ReturnFence(work.retire, false);
  return status;
}

void QueueState::Withdraw(const std::shared_ptr<Work>& work) {
  {
    std::lock_guard<std::mutex> lock(device_->work().mutex);
    auto& pending = record_.pending;
    pending.erase(std::find(pending.begin(), pending.end(), work));
  }
  device_->work().retired.notify_all();
  for (const WaitPoint& wait : work->waits) wait.fence->RemoveWait(wait.value);
}

void QueueState::Serve() {
  const HostCallScope scope(&record_);
  for (;;) {
    std::shared_ptr<Work> work;
    bool port_runs = false;
    {
      std::unique_lock<std::mutex> lock(device_->work().mutex);
      const auto& pending = record_.pending;
      changed_.wait(lock, [this, &pending] {
        return pending.empty() ? closed_ : pending.front()->stage != WorkStage::kSubmitting;
      });
      if (pending.empty()) return;
      work = pending.front();
      port_runs = work->stage == WorkStage::kPort;
    }
    if (port_runs) {
      const absl::Status done = submitter_.WaitFor(work->retire);
      submitter_.ReturnFence(work->retire, done.ok());
    } else {
      RunWork(*device_, submitter_, *work);
    }
    Finish(*work);
  }
}

void QueueState::Finish(Work& work) {
  WorkTable& table = device_->work();
  Work rest;
  {
    std::lock_guard<std::mutex> lock(table.mutex);
    rest.waits.swap(work.waits);
    rest.ops.swap(work.ops);
    rest.signals.swap(work.signals);
  }
  // Without the lock, as both may end objects of the port; before the work counts as done, so that
  // whoever waits for it finds them ended.
  for (const WaitPoint& wait : rest.waits) wait.fence->RemoveWait(wait.value);
  rest = Work();
  {
    std::lock_guard<std::mutex> lock(table.mutex);
    record_.pending.pop_front();
  }
  table.retired.notify_all();
}

absl::Status QueueState::Drain(uint64_t deadline_ns) {
  if (HostCallScope::IsInside(&record_)) {
    return absl::FailedPreconditionError(
        "a host call cannot drain its own queue: it would wait for itself");
  }
  WorkTable& table = device_->work();
  std::unique_lock<std::mutex> lock(table.mutex);
  const uint64_t target = record_.accepted;
  const auto is_done = [this, target] { return record_.retired() >= target; };
  if (WaitUntil(table.retired, lock, deadline_ns, is_done)) return absl::OkStatus();
  return absl::DeadlineExceededError("the queue was not done in time");
}

void QueueState::Close() {
  WorkTable& table = device_->work();
  while (const uint64_t target = table.FindLastCompletable(record_)) {
    std::unique_lock<std::mutex> lock(table.mutex);
    table.retired.wait(lock, [this, target] { return record_.retired() >= target; });
  }
  bool is_done = false;
  {
    std::lock_guard<std::mutex> lock(table.mutex);
    closed_ = true;
    is_done = record_.pending.empty();
    changed_.notify_one();
  }
  if (!thread_.joinable()) return;
  if (is_done && !HostCallScope::IsInside(&record_)) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

Queue::Queue(std::shared_ptr<QueueState> state) : state_(std::move(state)) {}
Queue::Queue(Queue&&) noexcept = default;

Queue& Queue::operator=(Queue&& other) noexcept {
  Queue ended(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

Queue::~Queue() {
  if (state_ != nullptr) state_->Close();
}

absl::Status Queue::Submit(Submission submission) const {
  return state_->Submit(std::move(submission.content_));
}

absl::Status Queue::Drain(uint64_t deadline_ns) const { return state_->Drain(deadline_ns); }

absl::StatusOr<Queue> Device::CreateQueue(int32_t priority) const {
  HY_RETURN_IF_ERROR(state_->CheckUsable());
  HY_ASSIGN_OR_RETURN(std::shared_ptr<QueueState> state, QueueState::Create(state_, priority));
  return Queue(std::move(state));
}

}  // namespace halyard::hal
