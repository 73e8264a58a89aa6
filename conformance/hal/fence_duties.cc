// SPDX-License-Identifier: Apache-2.0
//
// HAL-FEN: timelines.
#include <atomic>
#include <thread>

#include "base/monotonic_clock.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kMilli = 1'000'000;

void Sleep(HalContext& context, uint64_t ns) {
  const auto scaled = static_cast<uint64_t>(static_cast<double>(ns) * context.time_scale());
  timespec pause{static_cast<time_t>(scaled / 1'000'000'000),
                 static_cast<long>(scaled % 1'000'000'000)};
  nanosleep(&pause, nullptr);
}

// The value reached; the largest number if the fence does not tell.
uint64_t ValueOf(const hal::Fence& fence) {
  const absl::StatusOr<uint64_t> value = fence.Value();
  EXPECT_TRUE(value.ok()) << value.status();
  return value.value_or(UINT64_MAX);
}

bool TimesOut(const absl::Status& status) { return absl::IsDeadlineExceeded(status); }

// A raw fence, for what only fence_wait of the table shows.
class RawFence {
 public:
  RawFence(HalContext& context, uint64_t initial) : api_(context.api()) {
    HY_EXPECT_STATUS(api_.fence_create(context.raw_device(), initial, &fence_), HY_OK);
  }
  ~RawFence() { HY_EXPECT_STATUS(hy_fence_release(&api_, fence_), HY_OK); }
  RawFence(const RawFence&) = delete;
  RawFence& operator=(const RawFence&) = delete;
  hy_fence* get() const { return fence_; }

 private:
  const hy_hal_api& api_;
  hy_fence* fence_ = nullptr;
};

}  // namespace

HY_DUTY("HAL-FEN-01", ValuesOnlyGrowAndGapsAreLegal) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence fence, context.device().CreateFence(3));
  EXPECT_EQ(ValueOf(fence), 3u);
  HY_EXPECT_OK(fence.Wait(3, HY_DEADLINE_POLL));
  HY_EXPECT_OK(fence.Wait(0, HY_DEADLINE_POLL));
  EXPECT_TRUE(TimesOut(fence.Wait(4, HY_DEADLINE_POLL)));
  uint64_t last = 3;
  for (const uint64_t value : {UINT64_C(4), UINT64_C(10), UINT64_C(1) << 33, UINT64_MAX - 1}) {
    HY_ASSERT_OK(fence.Signal(value));
    EXPECT_EQ(ValueOf(fence), value);
    for (const uint64_t reached : {last + 1, value - 1, value}) {
      HY_EXPECT_OK(fence.Wait(reached, HY_DEADLINE_POLL));
    }
    EXPECT_TRUE(TimesOut(fence.Wait(value + 1, HY_DEADLINE_POLL)));
    last = value;
  }
}

HY_DUTY("HAL-FEN-02", AWaitBeforeItsSignalCompletes) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence fence, context.device().CreateFence());
  std::atomic<int> woken{0};
  std::vector<std::thread> waiters;
  // Several waiters, for values that the signals jump over as well as meet.
  for (const uint64_t value : {1u, 2u, 5u, 6u, 9u}) {
    waiters.emplace_back([&, value] {
      const absl::Status status = fence.Wait(value, DeadlineIn(context, 4));
      EXPECT_TRUE(status.ok()) << "wait for " << value << ": " << status;
      if (status.ok()) ++woken;
    });
  }
  Sleep(context, 5 * kMilli);
  EXPECT_EQ(woken, 0) << "a wait ended before any signal";
  for (const uint64_t value : {1u, 4u, 7u, 100u}) {
    OnNewThread([&] { HY_EXPECT_OK(fence.Signal(value)); });
    Sleep(context, 2 * kMilli);
  }
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(woken, 5);
}

HY_DUTY("HAL-FEN-02", WorkCanBeSubmittedBeforeItsWaitIsSignalled) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Queue queue, context.device().CreateQueue());
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence gate, context.device().CreateFence());
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence done, context.device().CreateFence());
  hal::Submission work;
  work.WaitFor(gate, 5).Signal(done, 1);
  HY_ASSERT_OK(queue.Submit(std::move(work)));
  EXPECT_TRUE(TimesOut(done.Wait(1, MonotonicNs() + 3 * kMilli)));
  HY_ASSERT_OK(gate.Signal(4));
  EXPECT_TRUE(TimesOut(done.Wait(1, MonotonicNs() + 3 * kMilli))) << "4 is not 5";
  HY_ASSERT_OK(gate.Signal(8));
  HY_EXPECT_OK(done.Wait(1, DeadlineIn(context, 4)));
}

HY_DUTY("HAL-FEN-03", ALaterValueDoesNotHoldUpAnEarlierOne) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Queue first, context.device().CreateQueue());
  HY_ASSERT_OK_AND_ASSIGN(hal::Queue second, context.device().CreateQueue());
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence gate, context.device().CreateFence());
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence line, context.device().CreateFence());
  hal::Submission early;
  early.Signal(line, 1);
  HY_ASSERT_OK(first.Submit(std::move(early)));
  // Value 2 needs host work that is done only after the wait for 1.
  hal::Submission late;
  late.WaitFor(gate, 1).Signal(line, 2);
  HY_ASSERT_OK(second.Submit(std::move(late)));
  HY_ASSERT_OK(line.Wait(1, DeadlineIn(context, 4)));
  EXPECT_TRUE(TimesOut(line.Wait(2, HY_DEADLINE_POLL)));
  HY_ASSERT_OK(gate.Signal(1));
  HY_EXPECT_OK(line.Wait(2, DeadlineIn(context, 4)));
}

HY_DUTY("HAL-FEN-04", AllAndAnyHoldAsTheySay) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence a, context.device().CreateFence());
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence b, context.device().CreateFence());
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence c, context.device().CreateFence());
  const hal::FencePoint points[] = {{&a, 1}, {&b, 5}, {&c, 2}};
  EXPECT_TRUE(TimesOut(context.device().WaitAny(points, HY_DEADLINE_POLL).status()));
  HY_ASSERT_OK(b.Signal(4));
  EXPECT_TRUE(TimesOut(context.device().WaitAny(points, HY_DEADLINE_POLL).status()));
  std::thread signaller([&] {
    Sleep(context, 3 * kMilli);
    HY_EXPECT_OK(b.Signal(6));
  });
  const absl::StatusOr<size_t> any = context.device().WaitAny(points, DeadlineIn(context, 4));
  signaller.join();
  HY_ASSERT_OK(any.status());
  EXPECT_EQ(*any, 1u);
  EXPECT_TRUE(TimesOut(context.device().WaitAll(points, HY_DEADLINE_POLL)));
  HY_ASSERT_OK(a.Signal(1));
  EXPECT_TRUE(TimesOut(context.device().WaitAll(points, MonotonicNs() + 2 * kMilli)));
  signaller = std::thread([&] {
    Sleep(context, 3 * kMilli);
    HY_EXPECT_OK(c.Signal(2));
  });
  HY_EXPECT_OK(context.device().WaitAll(points, DeadlineIn(context, 4)));
  signaller.join();
}

HY_DUTY("HAL-FEN-04", TheTableTellsTheValuesReached) {
  const hy_hal_api& api = context.api();
  if (api.fence_create == nullptr) GTEST_SKIP() << "the port leaves fences to the core";
  const RawFence a(context, 10), b(context, 0);
  HY_ASSERT_OK(
      absl::Status(static_cast<absl::StatusCode>(api.fence_signal(b.get(), 3, HY_OK)), ""));
  std::vector<hy_fence_point> points = {{a.get(), 4}, {b.get(), 3}};
  uint64_t values[2] = {99, 99};
  hy_wait_desc desc = Sized<hy_wait_desc>();
  desc.mode = HY_WAIT_ALL;
  desc.points = ArrayOf(points);
  desc.deadline_ns = HY_DEADLINE_POLL;
  desc.out_values = values;
  HY_EXPECT_STATUS(api.fence_wait(context.raw_device(), &desc), HY_OK);
  EXPECT_EQ(values[0], 10u);
  EXPECT_EQ(values[1], 3u);
  points[1].value = 4;
  HY_EXPECT_STATUS(api.fence_wait(context.raw_device(), &desc), HY_DEADLINE_EXCEEDED);
  desc.mode = HY_WAIT_ANY;
  HY_EXPECT_STATUS(api.fence_wait(context.raw_device(), &desc), HY_OK);
}

HY_DUTY("HAL-FEN-05", DeadlinesAreKept) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence fence, context.device().CreateFence());
  uint64_t before = MonotonicNs();
  EXPECT_TRUE(TimesOut(fence.Wait(1, HY_DEADLINE_POLL)));
  EXPECT_LT(MonotonicNs() - before, static_cast<uint64_t>(500e6 * context.time_scale()))
      << "a poll took its time";
  EXPECT_TRUE(TimesOut(fence.Wait(1, MonotonicNs() - kMilli))) << "a deadline in the past";
  for (const uint64_t wait_ns : {100'000u, 3'000'000u, 20'000'000u}) {
    before = MonotonicNs();
    const uint64_t deadline = before + wait_ns;
    EXPECT_TRUE(TimesOut(fence.Wait(1, deadline)));
    EXPECT_GE(MonotonicNs(), deadline) << "the wait ended before its deadline";
    EXPECT_LT(MonotonicNs() - deadline, static_cast<uint64_t>(1e9 * context.time_scale()));
  }
}

HY_DUTY("HAL-FEN-06", AFailureIsReturnedEachTime) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence fence, context.device().CreateFence());
  HY_ASSERT_OK(fence.Signal(1));
  std::thread waiter([&] {
    const absl::Status status = fence.Wait(2, DeadlineIn(context, 4));
    EXPECT_TRUE(absl::IsAborted(status)) << "a wait that was there before: " << status;
  });
  Sleep(context, 3 * kMilli);
  HY_ASSERT_OK(fence.Signal(2, absl::AbortedError("on purpose")));
  waiter.join();
  for (int time = 0; time < 3; ++time) {
    const absl::Status status = fence.Wait(2, DeadlineIn(context, 4));
    EXPECT_TRUE(absl::IsAborted(status)) << "wait " << time << ": " << status;
    EXPECT_TRUE(absl::IsAborted(fence.Wait(1'000, HY_DEADLINE_POLL)));
    EXPECT_FALSE(fence.Value().ok());
  }
}

HY_DUTY("HAL-FEN-07", ValuesThatDoNotGrowAreRefused) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence fence, context.device().CreateFence(5));
  for (const uint64_t value : {0u, 4u, 5u}) {
    const absl::Status status = fence.Signal(value);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << value << ": " << status;
    EXPECT_EQ(ValueOf(fence), 5u);
  }
  HY_EXPECT_OK(fence.Signal(6));
  EXPECT_EQ(ValueOf(fence), 6u);
}

HY_DUTY("HAL-FEN-08", TheFirstFailureStays) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence fence, context.device().CreateFence());
  HY_ASSERT_OK(fence.Signal(1, absl::DataLossError("the first")));
  EXPECT_TRUE(absl::IsFailedPrecondition(fence.Signal(2)));
  EXPECT_TRUE(absl::IsFailedPrecondition(fence.Signal(3, absl::AbortedError("the second"))));
  const absl::Status status = fence.Wait(1, HY_DEADLINE_POLL);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
}

HY_DUTY("HAL-FEN-09", WhatWasWrittenBeforeASignalIsSeen) {
  constexpr uint32_t kThreads = 4;
  constexpr uint64_t kRounds = 400;
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence fence, context.device().CreateFence());
  // Plain memory handed from thread to thread by the fence alone.
  uint64_t baton[8] = {};
  std::vector<std::thread> threads;
  for (uint32_t index = 0; index < kThreads; ++index) {
    threads.emplace_back([&, index] {
      for (uint64_t round = 0; round < kRounds; ++round) {
        const uint64_t turn = round * kThreads + index;
        const absl::Status status = fence.Wait(turn, DeadlineIn(context, 8));
        ASSERT_TRUE(status.ok()) << "turn " << turn << ": " << status;
        for (uint64_t& word : baton) {
          ASSERT_EQ(word, turn) << "what the thread before wrote is not seen";
          word = turn + 1;
        }
        HY_ASSERT_OK(fence.Signal(turn + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(baton[0], kThreads * kRounds);
}

DutyTable FenceDuties() {
  static constexpr DutyTest kTests[] = {ValuesOnlyGrowAndGapsAreLegal,
                                        AWaitBeforeItsSignalCompletes,
                                        WorkCanBeSubmittedBeforeItsWaitIsSignalled,
                                        ALaterValueDoesNotHoldUpAnEarlierOne,
                                        AllAndAnyHoldAsTheySay,
                                        TheTableTellsTheValuesReached,
                                        DeadlinesAreKept,
                                        AFailureIsReturnedEachTime,
                                        ValuesThatDoNotGrowAreRefused,
                                        TheFirstFailureStays,
                                        WhatWasWrittenBeforeASignalIsSeen};
  return kTests;
}

}  // namespace halyard::conformance
