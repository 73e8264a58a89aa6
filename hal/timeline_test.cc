// SPDX-License-Identifier: Apache-2.0
#include "hal/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"

namespace halyard::hal {
namespace {

using Point = Timeline::Point;
constexpr uint64_t kMillisecond = 1'000'000;

absl::Status WaitFor(const Timeline& timeline, uint64_t value,
                     uint64_t deadline_ns = HY_DEADLINE_NEVER) {
  const Point point{&timeline, value};
  return Timeline::Wait(absl::MakeConstSpan(&point, 1), HY_WAIT_ALL, deadline_ns);
}

absl::Status Poll(const std::vector<Point>& points, uint32_t mode) {
  return Timeline::Wait(points, mode, HY_DEADLINE_POLL);
}

TEST(TimelineTest, StartsAtItsInitialValueAndGrowsWithGaps) {
  Timeline timeline(5);
  EXPECT_EQ(*timeline.Value(), 5u);
  EXPECT_TRUE(timeline.Signal(6).ok());
  EXPECT_TRUE(timeline.Signal(UINT64_MAX - 1).ok());
  EXPECT_EQ(*timeline.Value(), UINT64_MAX - 1);
  EXPECT_TRUE(WaitFor(timeline, 100).ok());
}

TEST(TimelineTest, RefusesValuesThatAreNotAboveThePresentOne) {
  Timeline timeline(3);
  EXPECT_TRUE(absl::IsInvalidArgument(timeline.Signal(3)));
  EXPECT_TRUE(absl::IsInvalidArgument(timeline.Signal(2)));
  EXPECT_EQ(*timeline.Value(), 3u);
}

TEST(TimelineTest, FirstFailureStays) {
  Timeline timeline(1);
  EXPECT_TRUE(timeline.Signal(0, absl::AbortedError("first")).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(timeline.Signal(9)));
  EXPECT_TRUE(absl::IsFailedPrecondition(timeline.Signal(0, absl::InternalError("second"))));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(WaitFor(timeline, 2), absl::AbortedError("first"));
    EXPECT_EQ(WaitFor(timeline, 1), absl::AbortedError("first"));
    EXPECT_EQ(timeline.Value().status(), absl::AbortedError("first"));
  }
}

TEST(TimelineTest, PollDoesNotWait) {
  Timeline timeline(1);
  EXPECT_TRUE(WaitFor(timeline, 1, HY_DEADLINE_POLL).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(WaitFor(timeline, 2, HY_DEADLINE_POLL)));
}

TEST(TimelineTest, DeadlineIsNotEarly) {
  Timeline timeline(0);
  const uint64_t deadline_ns = MonotonicNs() + 20 * kMillisecond;
  EXPECT_TRUE(absl::IsDeadlineExceeded(WaitFor(timeline, 1, deadline_ns)));
  EXPECT_GE(MonotonicNs(), deadline_ns);
}

TEST(TimelineTest, DeadlinesFarInTheFutureWaitForTheSignal) {
  for (const uint64_t deadline_ns : {UINT64_MAX - 1, static_cast<uint64_t>(INT64_MAX)}) {
    Timeline timeline(0);
    std::thread signaller([&timeline] { EXPECT_TRUE(timeline.Signal(1).ok()); });
    EXPECT_TRUE(WaitFor(timeline, 1, deadline_ns).ok());
    signaller.join();
  }
}

TEST(TimelineTest, WaitBeforeSignalSeesWhatWasWrittenBefore) {
  for (int round = 0; round < 200; ++round) {
    Timeline timeline(0);
    int written = 0;  // not atomic: the sanitizer checks the order
    std::thread waiter([&] {
      EXPECT_TRUE(WaitFor(timeline, 1).ok());
      EXPECT_EQ(written, 42);
    });
    written = 42;
    EXPECT_TRUE(timeline.Signal(1).ok());
    waiter.join();
  }
}

TEST(TimelineTest, FailureWakesWaiters) {
  Timeline timeline(0);
  std::thread waiter(
      [&timeline] { EXPECT_EQ(WaitFor(timeline, 7), absl::CancelledError("stop")); });
  EXPECT_TRUE(timeline.Signal(0, absl::CancelledError("stop")).ok());
  waiter.join();
}

TEST(TimelineTest, WaitForAValueIsNotHeldUpByLaterOnes) {
  Timeline timeline(0);
  std::atomic<bool> second_done{false};
  std::thread late([&] {
    EXPECT_TRUE(WaitFor(timeline, 2).ok());
    second_done = true;
  });
  EXPECT_TRUE(timeline.Signal(1).ok());
  EXPECT_TRUE(WaitFor(timeline, 1).ok());
  EXPECT_FALSE(second_done);
  EXPECT_TRUE(timeline.Signal(2).ok());
  late.join();
}

TEST(TimelineTest, AllAndAny) {
  Timeline reached(4);
  Timeline behind(0);
  const std::vector<Point> points{{&behind, 1}, {&reached, 4}};
  EXPECT_TRUE(absl::IsDeadlineExceeded(Poll(points, HY_WAIT_ALL)));
  EXPECT_TRUE(Poll(points, HY_WAIT_ANY).ok());
  EXPECT_TRUE(behind.Signal(1).ok());
  EXPECT_TRUE(Poll(points, HY_WAIT_ALL).ok());
}

TEST(TimelineTest, AnyIsWokenByEachOfManyTimelines) {
  constexpr size_t kCount = 16;
  for (size_t chosen = 0; chosen < kCount; ++chosen) {
    std::vector<std::unique_ptr<Timeline>> timelines;
    std::vector<Point> points;
    for (size_t i = 0; i < kCount; ++i) {
      timelines.push_back(std::make_unique<Timeline>(0));
      points.push_back({timelines.back().get(), 1});
    }
    std::vector<uint64_t> values(kCount);
    std::thread waiter([&] {
      EXPECT_TRUE(
          Timeline::Wait(points, HY_WAIT_ANY, HY_DEADLINE_NEVER, absl::MakeSpan(values)).ok());
    });
    EXPECT_TRUE(timelines[chosen]->Signal(3).ok());
    waiter.join();
    for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(values[i], i == chosen ? 3u : 0u);
  }
}

TEST(TimelineTest, OneTimelineTwiceInAWait) {
  Timeline timeline(0);
  const std::vector<Point> points{{&timeline, 1}, {&timeline, 2}};
  std::thread waiter(
      [&] { EXPECT_TRUE(Timeline::Wait(points, HY_WAIT_ALL, HY_DEADLINE_NEVER).ok()); });
  EXPECT_TRUE(timeline.Signal(1).ok());
  EXPECT_TRUE(timeline.Signal(2).ok());
  waiter.join();
}

TEST(TimelineTest, FailureEndsAllAtOnceButNotAnyThatHolds) {
  Timeline failed(0);
  Timeline reached(1);
  Timeline behind(0);
  EXPECT_TRUE(failed.Signal(0, absl::InternalError("broken")).ok());
  EXPECT_TRUE(absl::IsInternal(Poll({{&failed, 1}, {&behind, 1}}, HY_WAIT_ALL)));
  EXPECT_TRUE(absl::IsInternal(Poll({{&failed, 1}, {&behind, 1}}, HY_WAIT_ANY)));
  EXPECT_TRUE(Poll({{&failed, 1}, {&reached, 1}}, HY_WAIT_ANY).ok());
}

TEST(TimelineTest, RefusesMalformedWaits) {
  Timeline timeline(0);
  const Point point{&timeline, 0};
  const Point none{nullptr, 0};
  uint64_t values[2] = {};
  EXPECT_TRUE(
      absl::IsInvalidArgument(Timeline::Wait(absl::MakeConstSpan(&point, 1), 9, HY_DEADLINE_POLL)));
  EXPECT_TRUE(absl::IsInvalidArgument(
      Timeline::Wait(absl::MakeConstSpan(&none, 1), HY_WAIT_ALL, HY_DEADLINE_POLL)));
  EXPECT_TRUE(absl::IsInvalidArgument(Timeline::Wait(absl::MakeConstSpan(&point, 1), HY_WAIT_ALL,
                                                     HY_DEADLINE_POLL, absl::MakeSpan(values))));
  EXPECT_TRUE(absl::IsInvalidArgument(Poll({}, HY_WAIT_ANY)));
  EXPECT_TRUE(Poll({}, HY_WAIT_ALL).ok());
}

TEST(TimelineTest, EightThreadsPassABallRound) {
  constexpr uint64_t kThreads = 8;
  constexpr uint64_t kRounds = 200;
  Timeline ball(0);
  uint64_t touched = 0;  // not atomic: the sanitizer checks the order
  std::vector<std::thread> threads;
  for (uint64_t index = 0; index < kThreads; ++index) {
    threads.emplace_back([&, index] {
      for (uint64_t round = 0; round < kRounds; ++round) {
        const uint64_t turn = round * kThreads + index;
        EXPECT_TRUE(WaitFor(ball, turn).ok());
        ++touched;
        EXPECT_TRUE(ball.Signal(turn + 1).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(touched, kThreads * kRounds);
}

}  // namespace
}  // namespace halyard::hal
