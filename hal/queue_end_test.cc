// SPDX-License-Identifier: Apache-2.0
//
// The end of queues and fences with work on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hal/fake_port.h"

namespace halyard::hal {
namespace {

using ::testing::IsEmpty;

class QueueEndTest : public ::testing::TestWithParam<bool> {
 protected:
  QueueEndTest()
      : port_(std::make_shared<FakePort>(FakePort::Shape{.is_async = GetParam()})),
        device_(OpenFake(port_)) {}
  ~QueueEndTest() override { EXPECT_THAT(port_->complaints(), IsEmpty()); }

  Queue MakeQueue() { return *device_.CreateQueue(); }
  Fence MakeFence() { return *device_.CreateFence(); }

  std::shared_ptr<FakePort> port_;
  Device device_;
};

INSTANTIATE_TEST_SUITE_P(Queues, QueueEndTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Async" : "Core"; });

void Submit(const Queue& queue, Submission& submission) {
  const absl::Status status = queue.Submit(std::move(submission));
  ASSERT_TRUE(status.ok()) << status;
}

TEST_P(QueueEndTest, EndWaitsForWorkThatCanFinish) {
  std::atomic<int> calls{0};
  {
    const Queue queue = MakeQueue();
    for (int i = 0; i < 50; ++i) {
      Submission submission;
      submission.HostCall([&calls] {
        ++calls;
        return absl::OkStatus();
      });
      Submit(queue, submission);
    }
  }
  EXPECT_EQ(calls, 50);
}

TEST_P(QueueEndTest, EndWaitsForWorkOfOtherQueues) {
  const Fence gate = MakeFence();
  const Fence middle = MakeFence();
  const Queue upstream = MakeQueue();
  std::atomic<bool> ran{false};
  {
    const Queue queue = MakeQueue();
    Submission first;
    first.WaitFor(gate, 1).Signal(middle, 4);
    Submit(upstream, first);
    Submission second;
    second.WaitFor(middle, 3).HostCall([&ran] {
      ran = true;
      return absl::OkStatus();
    });
    Submit(queue, second);
    ASSERT_TRUE(gate.Signal(1).ok());
  }
  EXPECT_TRUE(ran);
}

TEST_P(QueueEndTest, WorkThatNeedsTheHostStaysInTheBackground) {
  const Fence gate = MakeFence();
  const Fence done = MakeFence();
  {
    const Queue queue = MakeQueue();
    Submission submission;
    submission.WaitFor(gate, 1).Signal(done, 1);
    Submit(queue, submission);
  }  // does not block, though the gate is closed and held by this very thread
  EXPECT_EQ(*done.Value(), 0u);
  ASSERT_TRUE(gate.Signal(1).ok());
  EXPECT_TRUE(done.Wait(1).ok());
}

TEST_P(QueueEndTest, QueuesThatWaitForEachOtherDoNotBlockTheirEnd) {
  const Fence done = MakeFence();
  const Fence ping = MakeFence();
  const Fence pong = MakeFence();
  {
    const Queue first = MakeQueue();
    const Queue second = MakeQueue();
    Submission one;
    one.WaitFor(ping, 1).Signal(pong, 1);
    Submit(first, one);
    Submission two;
    two.WaitFor(pong, 1).Signal(ping, 2).Signal(done, 1);
    Submit(second, two);
  }
  EXPECT_EQ(*done.Value(), 0u);
  ASSERT_TRUE(ping.Signal(1).ok());  // breaks the circle
  EXPECT_TRUE(done.Wait(1).ok());
}

TEST_P(QueueEndTest, WorkThatNobodyCanStartIsCancelled) {
  const Fence done = MakeFence();
  const Queue queue = MakeQueue();
  bool ran = false;
  {
    const Fence gate = MakeFence();
    Submission submission;
    submission.WaitFor(gate, 1)
        .HostCall([&ran] {
          ran = true;
          return absl::OkStatus();
        })
        .Signal(done, 1);
    Submit(queue, submission);
  }
  EXPECT_TRUE(absl::IsCancelled(done.Wait(1)));
  EXPECT_TRUE(queue.Drain().ok());
  EXPECT_FALSE(ran);
}

TEST_P(QueueEndTest, WorkWhoseValueWasReachedIsNotCancelled) {
  for (int round = 0; round < 50; ++round) {
    const Fence reached = MakeFence();
    const Fence never = MakeFence();
    const Queue queue = MakeQueue();
    {
      const Fence gate = MakeFence();
      Submission first;
      first.WaitFor(gate, 1).Signal(reached, 1);
      Submission second;
      second.WaitFor(gate, 2).Signal(never, 1);
      Submit(queue, first);
      Submit(queue, second);
      ASSERT_TRUE(gate.Signal(1).ok());
    }
    ASSERT_TRUE(reached.Wait(1).ok());
    ASSERT_TRUE(absl::IsCancelled(never.Wait(1)));
  }
}

TEST_P(QueueEndTest, AcceptedWorkKeepsTheRightToSignal) {
  const Fence done = MakeFence();
  const Fence gate = MakeFence();
  const Queue queue = MakeQueue();
  const Queue downstream = MakeQueue();
  {
    const Fence middle = MakeFence();
    Submission first;
    first.WaitFor(gate, 1).Signal(middle, 1);
    Submit(queue, first);
    Submission second;
    second.WaitFor(middle, 1).Signal(done, 1);
    Submit(downstream, second);
  }
  ASSERT_TRUE(gate.Signal(1).ok());
  EXPECT_TRUE(done.Wait(1).ok());
}

TEST_P(QueueEndTest, AQueueMayEndInItsOwnHostCall) {
  const Fence gate = MakeFence();
  const Fence done = MakeFence();
  auto queue = std::make_unique<std::optional<Queue>>(MakeQueue());
  Submission submission;
  submission.WaitFor(gate, 1)
      .HostCall([&queue] {
        queue->reset();
        return absl::OkStatus();
      })
      .Signal(done, 1);
  Submit(**queue, submission);
  ASSERT_TRUE(gate.Signal(1).ok());
  EXPECT_TRUE(done.Wait(1).ok());
}

TEST_P(QueueEndTest, ImportedMemoryIsReleasedOnceAfterTheWork) {
  const auto port =
      std::make_shared<FakePort>(FakePort::Shape{.is_async = GetParam(), .imports = true});
  const Device device = OpenFake(port);
  const Fence gate = *device.CreateFence();
  const Queue queue = *device.CreateQueue();
  std::vector<uint8_t> memory(64, 1);
  std::vector<uint8_t> out(64);
  std::atomic<int> released{0};
  {
    absl::StatusOr<Buffer> buffer =
        device.ImportHost(memory.data(), 64, false, [&released] { ++released; });
    ASSERT_TRUE(buffer.ok());
    Submission submission;
    submission.WaitFor(gate, 1).CopyToHost(*buffer, 0, out.data(), 64);
    Submit(queue, submission);
  }
  EXPECT_EQ(released, 0);
  ASSERT_TRUE(gate.Signal(1).ok());
  ASSERT_TRUE(queue.Drain().ok());
  EXPECT_EQ(released, 1);
  EXPECT_EQ(out, memory);
}

TEST_P(QueueEndTest, ALostDeviceFailsItsWorkAndCanBeClosed) {
  {
    const Fence done = MakeFence();
    const Fence gate = MakeFence();
    const Buffer buffer = MakeBuffer(device_, 64);
    const Queue queue = MakeQueue();
    for (uint64_t value = 1; value <= 2; ++value) {
      Submission submission;
      submission.WaitFor(gate, 1).Fill(buffer, 0, 8, 1, 1).Signal(done, value);
      Submit(queue, submission);
    }
    port_->Inject("op", HY_DATA_LOSS);
    ASSERT_TRUE(gate.Signal(1).ok());
    EXPECT_TRUE(absl::IsDataLoss(done.Wait(1)));
    EXPECT_TRUE(queue.Drain().ok());
    Submission more;
    EXPECT_TRUE(absl::IsDataLoss(queue.Submit(std::move(more.Barrier()))));
  }
}

TEST(QueueFallbackTest, AnAsyncPortThatRefusesAnOperationKeepsTheOrder) {
  const auto port = std::make_shared<FakePort>(FakePort::Shape{.is_async = true});
  port->refused_ops = uint64_t{1} << HY_OP_HOST_CALL;
  const Device device = OpenFake(port);
  const Buffer buffer = MakeBuffer(device, 64);
  const Fence gate = *device.CreateFence();
  const Queue queue = *device.CreateQueue();
  std::vector<uint8_t> seen(3);
  uint8_t in_call = 0;
  Submission by_port;
  by_port.WaitFor(gate, 1).Fill(buffer, 0, 64, 1, 1).CopyToHost(buffer, 0, &seen[0], 1);
  Submission by_core;
  by_core.CopyToHost(buffer, 0, &seen[1], 1).HostCall([&] {
    in_call = seen[1];
    return absl::OkStatus();
  });
  Submission after;
  after.Fill(buffer, 0, 64, 2, 1).CopyToHost(buffer, 0, &seen[2], 1);
  Submit(queue, by_port);
  Submit(queue, by_core);
  Submit(queue, after);
  ASSERT_TRUE(gate.Signal(1).ok());
  ASSERT_TRUE(queue.Drain().ok());
  EXPECT_EQ(seen, (std::vector<uint8_t>{1, 1, 2}));
  EXPECT_EQ(in_call, 1);
  EXPECT_THAT(port->complaints(), IsEmpty());
}

TEST(QueueFallbackTest, ASubmissionThatThePortRefusesHasDoneNothing) {
  const auto port = std::make_shared<FakePort>(FakePort::Shape{.is_async = true});
  const Device device = OpenFake(port);
  const Buffer buffer = MakeBuffer(device, 64, 5);
  const Fence done = *device.CreateFence();
  const Queue queue = *device.CreateQueue();
  for (const char* verb : {"submit", "fence_create"}) {
    Submission submission;
    submission.Copy(buffer, 0, buffer, 8, 8).Signal(done, 1);
    port->Inject(verb, HY_RESOURCE_EXHAUSTED);
    EXPECT_TRUE(absl::IsResourceExhausted(queue.Submit(std::move(submission)))) << verb;
    EXPECT_TRUE(queue.Drain().ok());
    EXPECT_EQ(*done.Value(), 0u);
    EXPECT_TRUE(buffer.Map(0, 64, HY_MAP_WRITE).ok());
  }
  Submission again;
  again.Signal(done, 1);
  Submit(queue, again);
  EXPECT_TRUE(done.Wait(1).ok());
}

TEST(QueueFallbackTest, AWaitThatFailsByItselfDoesNotFreeBuffersInUse) {
  const auto port = std::make_shared<FakePort>(FakePort::Shape{.is_async = true});
  const Device device = OpenFake(port);
  const Fence gate = *device.CreateFence();
  const Queue queue = *device.CreateQueue();
  port->Inject("fence_wait", HY_RESOURCE_EXHAUSTED);  // of the thread that sees the work end
  {
    const Buffer buffer = MakeBuffer(device, 64, 5);
    Submission submission;
    submission.WaitFor(gate, 1).Fill(buffer, 0, 64, 1, 1);
    Submit(queue, submission);
  }
  ASSERT_TRUE(gate.Signal(1).ok());
  EXPECT_TRUE(queue.Drain().ok());
  EXPECT_THAT(port->complaints(), IsEmpty());
}

TEST(QueueFallbackTest, AnAsyncPortThatMakesNoQueueIsServedByTheCore) {
  const auto port = std::make_shared<FakePort>(FakePort::Shape{.is_async = true});
  port->table().queue_create = nullptr;
  port->table().fence_create = nullptr;
  const Device device = OpenFake(port);
  const Fence done = *device.CreateFence();
  const Queue queue = *device.CreateQueue();
  const Buffer buffer = MakeBuffer(device, 64);
  Submission submission;
  submission.Fill(buffer, 0, 64, 3, 1).Signal(done, 1);
  Submit(queue, submission);
  ASSERT_TRUE(done.Wait(1).ok());
  EXPECT_EQ(Contents(buffer), std::vector<uint8_t>(64, 3));
}

}  // namespace
}  // namespace halyard::hal
