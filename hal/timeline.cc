// SPDX-License-Identifier: Apache-2.0
#include "hal/timeline.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "hal/deadline.h"

namespace halyard::hal {
namespace {

/// A thread that waits for a change of any of several timelines.
struct Waiter {
  std::mutex mutex;
  std::condition_variable changed;
  bool woken = false;

  void Wake() {
    std::lock_guard<std::mutex> lock(mutex);
    woken = true;
    changed.notify_one();
  }

  /// Sleeps until woken or until the deadline; forgets the wake-up.
  void Sleep(uint64_t deadline_ns) {
    std::unique_lock<std::mutex> lock(mutex);
    WaitUntil(changed, lock, deadline_ns, [this] { return woken; });
    woken = false;
  }
};

}  // namespace

struct Timeline::Impl {
  mutable std::mutex mutex;
  uint64_t value = 0;
  // Not a Status: copies of one share its text between threads by a count inside Abseil, which the
  // thread sanitizer cannot see in the distribution's library.
  absl::StatusCode failure_code = absl::StatusCode::kOk;
  std::string failure_message;
  std::vector<Waiter*> waiters;

  bool has_failed() const { return failure_code != absl::StatusCode::kOk; }
  absl::Status failure() const { return absl::Status(failure_code, failure_message); }

  void WakeWaiters() {
    for (Waiter* waiter : waiters) waiter->Wake();
  }

  /// Registers with all timelines of a wait for as long as it lives, so that no signal is missed.
  class Registration {
   public:
    Registration(absl::Span<const Point> points, Waiter* waiter)
        : points_(points), waiter_(waiter) {
      for (const Point& point : points_) {
        std::lock_guard<std::mutex> lock(point.timeline->impl_->mutex);
        point.timeline->impl_->waiters.push_back(waiter_);
      }
    }
    ~Registration() {
      for (const Point& point : points_) {
        Impl& impl = *point.timeline->impl_;
        std::lock_guard<std::mutex> lock(impl.mutex);
        impl.waiters.erase(std::find(impl.waiters.begin(), impl.waiters.end(), waiter_));
      }
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    const absl::Span<const Point> points_;
    Waiter* const waiter_;
  };

  struct Outcome {
    bool done = false;
    absl::Status status;
  };

  static Outcome Evaluate(absl::Span<const Point> points, uint32_t mode,
                          absl::Span<uint64_t> out_values) {
    size_t reached = 0;
    absl::Status failure;
    for (size_t i = 0; i < points.size(); ++i) {
      const Impl& impl = *points[i].timeline->impl_;
      std::lock_guard<std::mutex> lock(impl.mutex);
      if (!out_values.empty()) out_values[i] = impl.value;
      if (impl.has_failed()) {
        if (failure.ok()) failure = impl.failure();
      } else if (impl.value >= points[i].value) {
        ++reached;
      }
    }
    if (mode == HY_WAIT_ANY && reached > 0) return {true, absl::OkStatus()};
    if (!failure.ok()) return {true, failure};
    return {reached == points.size(), absl::OkStatus()};
  }
};

Timeline::Timeline(uint64_t initial) : impl_(std::make_unique<Impl>()) { impl_->value = initial; }

Timeline::~Timeline() = default;

absl::Status Timeline::Signal(uint64_t value, const absl::Status& status) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  if (impl_->has_failed()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the fence has failed and stays so; make a new one. It failed with: ",
                     impl_->failure().ToString()));
  }
  if (status.ok() && value <= impl_->value) {
    return absl::InvalidArgumentError(absl::StrCat("a fence only grows: it is at ", impl_->value,
                                                   ", so it cannot be signalled with ", value));
  }
  if (status.ok()) {
    impl_->value = value;
  } else {
    impl_->failure_code = status.code();
    impl_->failure_message = std::string(status.message());
  }
  impl_->WakeWaiters();
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Timeline::Value() const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  if (impl_->has_failed()) return impl_->failure();
  return impl_->value;
}

absl::Status Timeline::Wait(absl::Span<const Point> points, uint32_t mode, uint64_t deadline_ns,
                            absl::Span<uint64_t> out_values) {
  if (mode != HY_WAIT_ALL && mode != HY_WAIT_ANY) {
    return absl::InvalidArgumentError("a wait is for ALL or for ANY of its points");
  }
  if (!out_values.empty() && out_values.size() != points.size()) {
    return absl::InvalidArgumentError("a wait gives one value for each point, or none");
  }
  for (const Point& point : points) {
    if (point.timeline == nullptr) return absl::InvalidArgumentError("a point without a fence");
  }
  if (mode == HY_WAIT_ANY && points.empty()) {
    return absl::InvalidArgumentError("none of no points can ever be reached");
  }
  Impl::Outcome outcome = Impl::Evaluate(points, mode, out_values);
  if (outcome.done) return outcome.status;
  Waiter waiter;
  const Impl::Registration registration(points, &waiter);
  for (;;) {
    outcome = Impl::Evaluate(points, mode, out_values);
    if (outcome.done) return outcome.status;
    if (MonotonicNs() >= deadline_ns) {
      return absl::DeadlineExceededError("the fence was not signalled in time");
    }
    waiter.Sleep(deadline_ns);
  }
}

}  // namespace halyard::hal
