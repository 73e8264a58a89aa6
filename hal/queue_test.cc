// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "hal/fake_port.h"

namespace halyard::hal {
namespace {

using ::testing::IsEmpty;

constexpr uint64_t kBytes = 256;

struct Kind {
  std::string name;
  FakePort::Shape shape;
  uint64_t refused_ops = 0;
  bool makes_queues = true;
};

constexpr uint64_t Bit(uint32_t op) { return uint64_t{1} << op; }

/// Whoever runs the work, a queue behaves the same.
class QueueTest : public ::testing::TestWithParam<Kind> {
 protected:
  QueueTest()
      : port_(MakePort()),
        device_(OpenFake(port_)),
        queue_(*device_.CreateQueue()),
        fence_(*device_.CreateFence()) {}
  ~QueueTest() override { EXPECT_THAT(port_->complaints(), IsEmpty()); }

  static std::shared_ptr<FakePort> MakePort() {
    auto port = std::make_shared<FakePort>(GetParam().shape);
    port->refused_ops = GetParam().refused_ops;
    if (!GetParam().makes_queues) port->table().queue_create = nullptr;
    return port;
  }
  absl::Status Submit(Submission& submission) { return queue_.Submit(std::move(submission)); }

  std::shared_ptr<FakePort> port_;
  Device device_;
  Queue queue_;
  Fence fence_;
};

INSTANTIATE_TEST_SUITE_P(
    Queues, QueueTest,
    ::testing::Values(Kind{"MapOnly", {.maps = true, .submits = false}},
                      Kind{"CopyOnly", {.maps = false}},
                      Kind{"CopyOnlyRefusingFill", {.maps = false}, Bit(HY_OP_FILL)},
                      Kind{"Async", {.maps = false, .is_async = true}},
                      Kind{"AsyncWithoutQueues", {.maps = false, .is_async = true}, 0, false},
                      Kind{"AsyncRefusingAllButCopy",
                           {.maps = false, .is_async = true},
                           Bit(HY_OP_FILL) | Bit(HY_OP_HOST_CALL) | Bit(HY_OP_BARRIER)}),
    [](const auto& test) { return test.param.name; });

TEST_P(QueueTest, CopiesInEveryDirectionAtOddOffsets) {
  const Buffer first = MakeBuffer(device_, kBytes);
  const Buffer second = MakeBuffer(device_, kBytes, 0xEE);
  std::vector<uint8_t> in(kBytes);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i);
  std::vector<uint8_t> out(5, 0);
  Submission submission;
  submission.CopyToDevice(in.data(), first, 0, kBytes)
      .Copy(first, 3, second, 7, 11)
      .Copy(first, 100, first, 0, 1)
      .Copy(first, 0, second, 0, 0)
      .CopyToHost(second, 8, out.data(), out.size())
      .Signal(fence_, 1);
  ASSERT_TRUE(Submit(submission).ok());
  ASSERT_TRUE(fence_.Wait(1).ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{4, 5, 6, 7, 8}));
  std::vector<uint8_t> expected(kBytes, 0xEE);
  for (size_t i = 0; i < 11; ++i) expected[7 + i] = static_cast<uint8_t>(3 + i);
  EXPECT_EQ(Contents(second), expected);
  EXPECT_EQ(Contents(first)[0], 100);
}

TEST_P(QueueTest, FillsRepeatTheirPatternOverExactlyTheRange) {
  const Buffer buffer = MakeBuffer(device_, 3 << 20, 0xEE);  // more than one chunk of the core
  const uint32_t pattern = 0x04030201;
  for (const uint32_t pattern_bytes : {1u, 2u, 4u}) {
    const uint64_t bytes = (2 << 20) + 7;
    Submission submission;
    submission.Fill(buffer, 5, bytes, pattern, pattern_bytes);
    ASSERT_TRUE(Submit(submission).ok());
    ASSERT_TRUE(queue_.Drain().ok());
    const std::vector<uint8_t> contents = Contents(buffer);
    const uint16_t half = static_cast<uint16_t>(pattern);
    const uint8_t byte = static_cast<uint8_t>(pattern);
    const void* from = pattern_bytes == 4   ? static_cast<const void*>(&pattern)
                       : pattern_bytes == 2 ? static_cast<const void*>(&half)
                                            : &byte;
    const auto* repeated = static_cast<const uint8_t*>(from);
    size_t wrong = 0;
    for (size_t i = 0; i < contents.size(); ++i) {
      const bool inside = i >= 5 && i < 5 + bytes;
      wrong += contents[i] != (inside ? repeated[(i - 5) % pattern_bytes] : 0xEE);
    }
    EXPECT_EQ(wrong, 0u) << pattern_bytes;
  }
}

TEST_P(QueueTest, RunsEverythingInOrder) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  std::vector<int> order;
  std::vector<uint8_t> seen(40);
  for (int i = 0; i < 20; ++i) {
    const auto value = static_cast<uint32_t>(i);
    Submission submission;
    submission.Fill(buffer, 0, 1, value, 1)
        .CopyToHost(buffer, 0, &seen[2 * value], 1)
        .HostCall([&order, i] {
          order.push_back(i);
          return absl::OkStatus();
        })
        .Barrier()
        .CopyToHost(buffer, 0, &seen[2 * value + 1], 1)
        .Signal(fence_, value + 1);
    ASSERT_TRUE(Submit(submission).ok());
  }
  ASSERT_TRUE(fence_.Wait(20).ok());
  ASSERT_EQ(order.size(), 20u);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
    EXPECT_EQ(seen[2 * static_cast<size_t>(i)], i);
    EXPECT_EQ(seen[2 * static_cast<size_t>(i) + 1], i);
  }
}

TEST_P(QueueTest, AFailedOperationFailsTheSignalsAndStopsTheRest) {
  absl::StatusOr<Fence> other = device_.CreateFence();
  bool later_ran = false;
  bool next_ran = false;
  Submission failing;
  failing.HostCall([] { return absl::AbortedError("no"); })
      .HostCall([&later_ran] {
        later_ran = true;
        return absl::OkStatus();
      })
      .Signal(fence_, 1)
      .Signal(*other, 5);
  ASSERT_TRUE(Submit(failing).ok());
  Submission next;
  next.HostCall([&next_ran] {
    next_ran = true;
    return absl::OkStatus();
  });
  ASSERT_TRUE(Submit(next).ok());
  ASSERT_TRUE(queue_.Drain().ok());
  EXPECT_TRUE(absl::IsAborted(fence_.Wait(1)));
  EXPECT_TRUE(absl::IsAborted(other->Wait(5)));
  EXPECT_TRUE(absl::IsAborted(fence_.Value().status()));
  EXPECT_FALSE(later_ran);
  EXPECT_TRUE(next_ran);
}

TEST_P(QueueTest, AFailedWaitFailsTheSignalsAndRunsNothing) {
  absl::StatusOr<Fence> gate = device_.CreateFence();
  bool ran = false;
  Submission submission;
  submission.WaitFor(*gate, 1)
      .HostCall([&ran] {
        ran = true;
        return absl::OkStatus();
      })
      .Signal(fence_, 1);
  ASSERT_TRUE(Submit(submission).ok());
  ASSERT_TRUE(gate->Signal(0, absl::InternalError("upstream")).ok());
  EXPECT_TRUE(absl::IsInternal(fence_.Wait(1)));
  ASSERT_TRUE(queue_.Drain().ok());
  EXPECT_FALSE(ran);
}

TEST_P(QueueTest, WaitsThatAreNotMetDoNotBlockTheCaller) {
  absl::StatusOr<Fence> gate = device_.CreateFence();
  std::atomic<bool> ran{false};
  Submission submission;
  submission.WaitFor(*gate, 3)
      .HostCall([&ran] {
        ran = true;
        return absl::OkStatus();
      })
      .Signal(fence_, 1);
  ASSERT_TRUE(Submit(submission).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(fence_.Wait(1, MonotonicNs() + 5'000'000)));
  EXPECT_TRUE(absl::IsDeadlineExceeded(queue_.Drain(HY_DEADLINE_POLL)));
  EXPECT_FALSE(ran);
  ASSERT_TRUE(gate->Signal(3).ok());
  EXPECT_TRUE(fence_.Wait(1).ok());
  EXPECT_TRUE(ran);
}

TEST_P(QueueTest, AWaitEndsWithItsValueThoughTheNextNeedsTheWaiter) {
  // Value 2 is signalled only after the host has acted on value 1.
  absl::StatusOr<Fence> host = device_.CreateFence();
  Submission first;
  first.Signal(fence_, 1);
  Submission second;
  second.WaitFor(*host, 1).Signal(fence_, 2);
  ASSERT_TRUE(Submit(first).ok());
  ASSERT_TRUE(Submit(second).ok());
  ASSERT_TRUE(fence_.Wait(1).ok());
  ASSERT_TRUE(host->Signal(1).ok());
  ASSERT_TRUE(fence_.Wait(2).ok());
}

TEST_P(QueueTest, WaitAnyTellsWhich) {
  absl::StatusOr<Fence> other = device_.CreateFence();
  absl::StatusOr<Fence> failed = device_.CreateFence(9);
  const FencePoint points[] = {{&fence_, 1}, {&*other, 2}};
  EXPECT_TRUE(absl::IsDeadlineExceeded(device_.WaitAny(points, HY_DEADLINE_POLL).status()));
  ASSERT_TRUE(other->Signal(2).ok());
  EXPECT_EQ(*device_.WaitAny(points, HY_DEADLINE_NEVER), 1u);
  EXPECT_TRUE(absl::IsDeadlineExceeded(device_.WaitAll(points, HY_DEADLINE_POLL)));
  ASSERT_TRUE(failed->Signal(0, absl::AbortedError("x")).ok());
  const FencePoint with_failed[] = {{&*failed, 1}, {&*other, 2}};
  EXPECT_EQ(*device_.WaitAny(with_failed, HY_DEADLINE_NEVER), 1u);
  EXPECT_TRUE(absl::IsAborted(device_.WaitAll(with_failed, HY_DEADLINE_NEVER)));
  EXPECT_TRUE(device_.WaitAll({}, HY_DEADLINE_NEVER).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(device_.WaitAny({}, HY_DEADLINE_NEVER).status()));
}

TEST_P(QueueTest, RefusesMalformedWork) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  const Device other_device = OpenFake(port_);
  const Buffer foreign = MakeBuffer(other_device, kBytes);
  absl::StatusOr<Fence> foreign_fence = other_device.CreateFence();
  std::vector<uint8_t> host(kBytes);
  const auto submit = [this](auto build) {
    Submission submission;
    build(submission);
    return Submit(submission).code();
  };
  using Code = absl::StatusCode;
  using S = Submission;
  EXPECT_EQ(submit([&](S& s) { s.Fill(buffer, 1, kBytes, 0, 1); }), Code::kOutOfRange);
  EXPECT_EQ(submit([&](S& s) { s.Fill(buffer, UINT64_MAX, 2, 0, 1); }), Code::kOutOfRange);
  EXPECT_EQ(submit([&](S& s) { s.Fill(buffer, kBytes + 1, 0, 0, 1); }), Code::kOutOfRange);
  EXPECT_EQ(submit([&](S& s) { s.Fill(buffer, 0, 4, 0, 3); }), Code::kInvalidArgument);
  EXPECT_EQ(submit([&](S& s) { s.Copy(buffer, 0, buffer, 4, 5); }), Code::kInvalidArgument);
  EXPECT_EQ(submit([&](S& s) { s.Copy(buffer, 0, buffer, 5, 5); }), Code::kOk);
  EXPECT_EQ(submit([&](S& s) { s.Copy(foreign, 0, buffer, 0, 1); }), Code::kInvalidArgument);
  EXPECT_EQ(submit([&](S& s) { s.CopyToDevice(nullptr, buffer, 0, 1); }), Code::kInvalidArgument);
  EXPECT_EQ(submit([&](S& s) { s.CopyToHost(buffer, 0, nullptr, 1); }), Code::kInvalidArgument);
  EXPECT_EQ(submit([&](S& s) { s.CopyToHost(buffer, 1, host.data(), kBytes); }), Code::kOutOfRange);
  EXPECT_EQ(submit([&](S& s) { s.HostCall(nullptr); }), Code::kInvalidArgument);
  EXPECT_EQ(submit([&](S& s) { s.Signal(fence_, 0); }), Code::kInvalidArgument);
  EXPECT_EQ(submit([&](S& s) { s.Signal(*foreign_fence, 1); }), Code::kInvalidArgument);
  EXPECT_EQ(submit([&](S& s) { s.WaitFor(*foreign_fence, 0); }), Code::kInvalidArgument);
  Submission once;
  ASSERT_TRUE(Submit(once).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(Submit(once)));  // it was given away
  const FencePoint foreign_point{&*foreign_fence, 0};
  EXPECT_TRUE(absl::IsInvalidArgument(
      device_.WaitAll(absl::MakeConstSpan(&foreign_point, 1), HY_DEADLINE_POLL)));
  EXPECT_TRUE(queue_.Drain().ok());
}

TEST_P(QueueTest, WorkKeepsItsBuffersAndFences) {
  std::vector<uint8_t> out(kBytes);
  absl::StatusOr<Fence> gate = device_.CreateFence();
  {
    const Buffer buffer = MakeBuffer(device_, kBytes, 0x42);
    absl::StatusOr<Fence> own = device_.CreateFence();
    Submission submission;
    submission.WaitFor(*gate, 1)
        .CopyToHost(buffer, 0, out.data(), kBytes)
        .Signal(*own, 1)
        .Signal(fence_, 1);
    ASSERT_TRUE(Submit(submission).ok());
  }
  ASSERT_TRUE(gate->Signal(1).ok());
  ASSERT_TRUE(fence_.Wait(1).ok());
  EXPECT_EQ(out, std::vector<uint8_t>(kBytes, 0x42));
}

TEST_P(QueueTest, AHostCallMayNotWaitForItsOwnQueue) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  const Buffer unused = MakeBuffer(device_, kBytes);
  std::vector<absl::Status> refused;
  std::vector<absl::Status> accepted;
  Submission submission;
  submission.Fill(buffer, 0, 8, 1, 1)
      .HostCall([&] {
        refused.push_back(queue_.Drain());
        refused.push_back(fence_.Wait(1));
        refused.push_back(buffer.Map(0, 8, HY_MAP_READ).status());
        const FencePoint point{&fence_, 1};
        refused.push_back(device_.WaitAny(absl::MakeConstSpan(&point, 1), UINT64_MAX).status());
        accepted.push_back(fence_.Wait(0));
        accepted.push_back(buffer.Map(8, 8, HY_MAP_WRITE).status());
        accepted.push_back(unused.Map(0, kBytes, HY_MAP_WRITE).status());
        return absl::OkStatus();
      })
      .Signal(fence_, 1);
  ASSERT_TRUE(Submit(submission).ok());
  ASSERT_TRUE(fence_.Wait(1).ok());
  ASSERT_EQ(refused.size(), 4u);
  for (const absl::Status& status : refused)
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  for (const absl::Status& status : accepted) EXPECT_TRUE(status.ok()) << status;
}

TEST_P(QueueTest, AHostCallMaySignalAndSubmit) {
  absl::StatusOr<Fence> inner = device_.CreateFence();
  Submission submission;
  submission.HostCall([&] {
    Submission next;
    next.Signal(fence_, 2);
    const absl::Status status = queue_.Submit(std::move(next));
    return status.ok() ? inner->Signal(1) : status;
  });
  submission.Signal(fence_, 1);
  ASSERT_TRUE(Submit(submission).ok());
  EXPECT_TRUE(inner->Wait(1).ok());
  EXPECT_TRUE(fence_.Wait(2).ok());
}

TEST_P(QueueTest, ManySubmissionsLoseNone) {
  constexpr uint64_t kCount = 2000;
  const Buffer buffer = MakeBuffer(device_, kBytes);
  std::atomic<uint64_t> calls{0};
  for (uint64_t i = 1; i <= kCount; ++i) {
    Submission submission;
    submission.Fill(buffer, i % kBytes, 1, 1, 1)
        .HostCall([&calls] {
          ++calls;
          return absl::OkStatus();
        })
        .Signal(fence_, i);
    ASSERT_TRUE(Submit(submission).ok());
  }
  EXPECT_TRUE(fence_.Wait(kCount).ok());
  EXPECT_EQ(calls, kCount);
}

TEST_P(QueueTest, EightThreadsPlayPingPong) {
  constexpr uint64_t kThreads = 8;
  constexpr uint64_t kRounds = 25;
  std::vector<std::thread> threads;
  std::vector<uint64_t> order;  // not atomic: the sanitizer checks the order
  for (uint64_t index = 0; index < kThreads; ++index) {
    threads.emplace_back([&, index] {
      absl::StatusOr<Queue> queue = device_.CreateQueue();
      ASSERT_TRUE(queue.ok());
      for (uint64_t round = 0; round < kRounds; ++round) {
        const uint64_t turn = round * kThreads + index;
        Submission submission;
        submission.WaitFor(fence_, turn)
            .HostCall([&order, turn] {
              order.push_back(turn);
              return absl::OkStatus();
            })
            .Signal(fence_, turn + 1);
        ASSERT_TRUE(queue->Submit(std::move(submission)).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(fence_.Wait(kThreads * kRounds).ok());
  for (size_t turn = 0; turn < order.size(); ++turn) EXPECT_EQ(order[turn], turn);
}

}  // namespace
}  // namespace halyard::hal
