// SPDX-License-Identifier: Apache-2.0
//
// HAL-QUE: what submitted operations do, in which order, and what a failure does.
#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kBufferBytes = 5003;

// A queue with two fences: one that work waits for, one that it signals.
struct Gated {
  hal::Queue queue;
  hal::Fence gate;
  hal::Fence done;
};

absl::StatusOr<Gated> MakeGated(HalContext& context) {
  absl::StatusOr<hal::Queue> queue = context.device().CreateQueue();
  if (!queue.ok()) return queue.status();
  absl::StatusOr<hal::Fence> gate = context.device().CreateFence();
  if (!gate.ok()) return gate.status();
  absl::StatusOr<hal::Fence> done = context.device().CreateFence();
  if (!done.ok()) return done.status();
  return Gated{*std::move(queue), *std::move(gate), *std::move(done)};
}

absl::Status WaitDone(HalContext& context, const hal::Fence& fence, uint64_t value) {
  return fence.Wait(value, DeadlineIn(context, 2));
}

// A queue of the table below the core; NULL for a port whose submit is inline.
class RawQueue {
 public:
  explicit RawQueue(HalContext& context) : api_(context.api()) {
    if (api_.queue_create == nullptr) return;
    const hy_queue_desc desc = Sized<hy_queue_desc>();
    HY_EXPECT_STATUS(api_.queue_create(context.raw_device(), &desc, &queue_), HY_OK);
  }
  ~RawQueue() {
    if (queue_ != nullptr) api_.release(HY_KIND_QUEUE, queue_);
  }
  RawQueue(const RawQueue&) = delete;
  RawQueue& operator=(const RawQueue&) = delete;
  hy_queue* get() const { return queue_; }

 private:
  const hy_hal_api& api_;
  hy_queue* queue_ = nullptr;
};

// Submits below the core and waits for the end: by a fence of the port where it has fences, else
// the submit is inline.
class RawTimeline {
 public:
  explicit RawTimeline(HalContext& context) : context_(context) {
    if (context.api().fence_create == nullptr) return;
    HY_EXPECT_STATUS(context.api().fence_create(context.raw_device(), 0, &fence_), HY_OK);
  }
  ~RawTimeline() {
    if (fence_ != nullptr) context_.api().release(HY_KIND_FENCE, fence_);
  }
  RawTimeline(const RawTimeline&) = delete;
  RawTimeline& operator=(const RawTimeline&) = delete;

  hy_status Submit(hy_queue* queue, std::vector<hy_op>& ops) const {
    std::vector<hy_fence_point> signals;
    if (fence_ != nullptr) signals.push_back({fence_, reached_ + 1});
    hy_submission work = Sized<hy_submission>();
    work.ops = ArrayOf(ops);
    work.signals = ArrayOf(signals);
    const hy_hal_api& api = context_.api();
    const hy_status status = api.submit(context_.raw_device(), queue, &work);
    if (status != HY_OK || fence_ == nullptr) return status;
    ++reached_;
    hy_wait_desc wait = Sized<hy_wait_desc>();
    wait.points = ArrayOf(signals);
    wait.deadline_ns = DeadlineIn(context_, 5);
    return api.fence_wait(context_.raw_device(), &wait);
  }

 private:
  HalContext& context_;
  hy_fence* fence_ = nullptr;
  mutable uint64_t reached_ = 0;
};

hy_op FillOp(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t pattern) {
  hy_op op = Sized<hy_op>();
  op.kind = HY_OP_FILL;
  op.dst = buffer;
  op.dst_offset = offset;
  op.bytes = bytes;
  op.pattern = pattern;
  op.pattern_bytes = 1;
  return op;
}

hy_op ReadOp(hy_buffer* buffer, void* host, uint64_t bytes) {
  hy_op op = Sized<hy_op>();
  op.kind = HY_OP_COPY;
  op.src = buffer;
  op.dst_host = host;
  op.bytes = bytes;
  return op;
}

}  // namespace

HY_DUTY("HAL-QUE-01", SubmissionsTakeEffectInOrder) {
  HY_ASSERT_OK_AND_ASSIGN(Gated one, MakeGated(context));
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, kBufferBytes));
  std::vector<int> order;
  constexpr int kCount = 100;
  for (int i = 0; i < kCount; ++i) {
    hal::Submission work;
    // The first waits, so that all are queued up before any runs.
    if (i == 0) work.WaitFor(one.gate, 1);
    work.Fill(buffer, 0, kBufferBytes, static_cast<uint32_t>(i), 1);
    work.HostCall([&order, i] {
      order.push_back(i);
      return absl::OkStatus();
    });
    work.Signal(one.done, static_cast<uint64_t>(i) + 1);
    HY_ASSERT_OK(one.queue.Submit(std::move(work)));
  }
  HY_ASSERT_OK(one.gate.Signal(1));
  HY_ASSERT_OK(WaitDone(context, one.done, kCount));
  ASSERT_EQ(order.size(), static_cast<size_t>(kCount));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(buffer, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(got, Bytes(kBufferBytes, kCount - 1)), "") << "the last fill wins";
}

HY_DUTY("HAL-QUE-01", OperationsOfOneSubmissionTakeEffectInOrder) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer a, NewBuffer(context, kBufferBytes));
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer b, NewBuffer(context, kBufferBytes));
  Bytes first(kBufferBytes), second(kBufferBytes);
  hal::Submission work;
  work.Fill(a, 0, kBufferBytes, 0x11, 1)
      .Copy(a, 0, b, 0, kBufferBytes)
      .CopyToHost(b, 0, first.data(), kBufferBytes)
      .Fill(a, 0, kBufferBytes, 0x22, 1)
      .Barrier()
      .Copy(a, 0, b, 0, kBufferBytes)
      .CopyToHost(b, 0, second.data(), kBufferBytes);
  HY_ASSERT_OK(RunAndWait(context, std::move(work)));
  EXPECT_EQ(FirstDifference(first, Bytes(kBufferBytes, 0x11)), "");
  EXPECT_EQ(FirstDifference(second, Bytes(kBufferBytes, 0x22)), "");
}

HY_DUTY("HAL-QUE-02", CopiesMoveExactlyTheBytesAskedFor) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer a, NewBuffer(context, kBufferBytes));
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer b, NewBuffer(context, kBufferBytes));
  Bytes in_a = SeededBytes(context.seed(), kBufferBytes);
  Bytes in_b = SeededBytes(context.seed() + 1, kBufferBytes);
  HY_ASSERT_OK(WriteByCopy(context, a, 0, in_a));
  HY_ASSERT_OK(WriteByCopy(context, b, 0, in_b));
  Random random(context.seed() + 2);
  for (int round = 0; round < 25; ++round) {
    const uint64_t count = 1 + random.Below(round % 2 == 0 ? 9 : 3000);
    const uint64_t from = random.Below(kBufferBytes - count + 1);
    const uint64_t to = random.Below(kBufferBytes - count + 1);
    const Bytes host = SeededBytes(random.Next(), static_cast<size_t>(count));
    Bytes out(static_cast<size_t>(count) + 16, 0xcc);
    hal::Submission work;
    work.CopyToDevice(host.data(), a, from, count)
        .Copy(a, from, b, to, count)
        .CopyToHost(b, to, out.data() + 8, count);
    HY_ASSERT_OK(RunAndWait(context, std::move(work)));
    std::copy(host.begin(), host.end(), in_a.begin() + static_cast<std::ptrdiff_t>(from));
    std::copy(host.begin(), host.end(), in_b.begin() + static_cast<std::ptrdiff_t>(to));
    Bytes expected(out.size(), 0xcc);
    std::copy(host.begin(), host.end(), expected.begin() + 8);
    ASSERT_EQ(FirstDifference(out, expected), "") << count << " bytes " << from << " to " << to;
  }
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got_a, ReadByCopy(context, a, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(got_a, in_a), "");
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got_b, ReadByCopy(context, b, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(got_b, in_b), "");
}

HY_DUTY("HAL-QUE-03", FillRepeatsItsPattern) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, kBufferBytes));
  Bytes expected(kBufferBytes, 0x77);
  HY_ASSERT_OK(WriteByCopy(context, buffer, 0, expected));
  const uint32_t pattern = 0x01020304;
  for (const uint32_t unit : {1u, 2u, 4u}) {
    for (const uint64_t offset : {0u, 1u, 64u, 999u}) {
      const uint64_t count = 10 * unit + (offset % 3) * unit;
      hal::Submission work;
      work.Fill(buffer, offset, count, pattern, unit);
      HY_ASSERT_OK(RunAndWait(context, std::move(work)));
      // The host's byte order: the pattern as a number of that width.
      Bytes bytes(4);
      const auto half = static_cast<uint16_t>(pattern);
      const auto byte = static_cast<uint8_t>(pattern);
      std::memcpy(bytes.data(), &pattern, 4);
      if (unit == 2) std::memcpy(bytes.data(), &half, 2);
      if (unit == 1) bytes[0] = byte;
      for (uint64_t i = 0; i < count; ++i) {
        expected[static_cast<size_t>(offset + i)] = bytes[static_cast<size_t>(i % unit)];
      }
      HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByCopy(context, buffer, 0, kBufferBytes));
      ASSERT_EQ(FirstDifference(got, expected), "")
          << count << " bytes at " << offset << ", pattern of " << unit;
    }
  }
}

HY_DUTY("HAL-QUE-04", AFailedOperationFailsEverySignal) {
  HY_ASSERT_OK_AND_ASSIGN(Gated one, MakeGated(context));
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence other, context.device().CreateFence());
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, kBufferBytes));
  HY_ASSERT_OK(WriteByCopy(context, buffer, 0, Bytes(kBufferBytes, 0x10)));
  bool ran_later = false;
  hal::Submission work;
  work.Fill(buffer, 0, 100, 0x20, 1);
  work.HostCall([] { return absl::AbortedError("on purpose"); });
  work.Fill(buffer, 0, kBufferBytes, 0x30, 1);
  work.HostCall([&ran_later] {
    ran_later = true;
    return absl::OkStatus();
  });
  work.Signal(one.done, 1).Signal(other, 7);
  // A tier 0 port may say it at once; then it is the same failure.
  const absl::Status submitted = one.queue.Submit(std::move(work));
  ASSERT_TRUE(submitted.ok() || absl::IsAborted(submitted)) << submitted;
  for (int time = 0; time < 2; ++time) {
    const absl::Status first = WaitDone(context, one.done, 1);
    ASSERT_TRUE(absl::IsAborted(first)) << "the first signal, wait " << time << ": " << first;
    const absl::Status second = WaitDone(context, other, 7);
    ASSERT_TRUE(absl::IsAborted(second)) << "the second signal, wait " << time << ": " << second;
  }
  EXPECT_FALSE(ran_later) << "an operation after the failed one has run";
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(buffer, 0, kBufferBytes));
  Bytes expected(kBufferBytes, 0x10);
  std::fill_n(expected.begin(), 100, uint8_t{0x20});
  EXPECT_EQ(FirstDifference(got, expected), "");
}

HY_DUTY("HAL-QUE-04", AFailureReachesWorkThatWaitsForIt) {
  HY_ASSERT_OK_AND_ASSIGN(Gated one, MakeGated(context));
  HY_ASSERT_OK_AND_ASSIGN(hal::Queue second, context.device().CreateQueue());
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence end, context.device().CreateFence());
  bool ran = false;
  hal::Submission dependent;
  dependent.WaitFor(one.done, 1);
  dependent.HostCall([&ran] {
    ran = true;
    return absl::OkStatus();
  });
  dependent.Signal(end, 1);
  HY_ASSERT_OK(second.Submit(std::move(dependent)));
  hal::Submission failing;
  failing.HostCall([] { return absl::AbortedError("on purpose"); });
  failing.Signal(one.done, 1);
  one.queue.Submit(std::move(failing)).IgnoreError();
  const absl::Status seen = WaitDone(context, end, 1);
  EXPECT_FALSE(seen.ok()) << "work ran on after what it waits for had failed";
  EXPECT_FALSE(absl::IsDeadlineExceeded(seen)) << "the failure never arrived";
  EXPECT_FALSE(ran);
}

HY_DUTY("HAL-QUE-05", ARefusedSubmissionHasDoneNothing) {
  HY_ASSERT_OK_AND_ASSIGN(Gated one, MakeGated(context));
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, 1000));
  HY_ASSERT_OK(WriteByCopy(context, buffer, 0, Bytes(1000, 0x41)));
  hal::Submission work;
  work.Fill(buffer, 0, 1000, 0x42, 1).Fill(buffer, 990, 11, 0x43, 1).Signal(one.done, 1);
  const absl::Status refused = one.queue.Submit(std::move(work));
  EXPECT_TRUE(absl::IsOutOfRange(refused)) << refused;
  EXPECT_TRUE(absl::IsDeadlineExceeded(one.done.Wait(1, HY_DEADLINE_POLL)));
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(buffer, 0, 1000));
  EXPECT_EQ(FirstDifference(got, Bytes(1000, 0x41)), "");
}

HY_DUTY("HAL-QUE-05", ThePortRefusesAllOrNothing, .in_validate = false) {
  const hy_hal_api& api = context.api();
  if (api.submit == nullptr) GTEST_SKIP() << "the port leaves submit to the core";
  const RawQueue queue(context);
  const RawBuffer buffer(context, 1000);
  const RawTimeline timeline(context);
  const auto submit = [&](std::vector<hy_op> ops) { return timeline.Submit(queue.get(), ops); };
  const hy_status first = submit({FillOp(buffer.get(), 0, 1000, 0x41)});
  if (first == HY_UNIMPLEMENTED) GTEST_SKIP() << "the port submits copies only";
  ASSERT_EQ(first, HY_OK) << hy_status_name(first);
  const hy_op beyond = FillOp(buffer.get(), 990, 11, 0x43);
  HY_EXPECT_STATUS(submit({FillOp(buffer.get(), 0, 1000, 0x42), beyond}), HY_OUT_OF_RANGE);
  const hy_op wraps = FillOp(buffer.get(), UINT64_MAX - 4, 8, 0x43);
  HY_EXPECT_STATUS(submit({FillOp(buffer.get(), 0, 1000, 0x42), wraps}), HY_OUT_OF_RANGE);
  Bytes got(1000);
  ASSERT_EQ(submit({ReadOp(buffer.get(), got.data(), 1000)}), HY_OK);
  EXPECT_EQ(FirstDifference(got, Bytes(1000, 0x41)), "");
}

HY_DUTY("HAL-QUE-06", AHostCallRunsOnceInItsPlace) {
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, kBufferBytes));
  Bytes staging(kBufferBytes);
  int calls = 0;
  bool saw_what_came_before = false;
  hal::Submission work;
  work.Fill(buffer, 0, kBufferBytes, 0x61, 1).CopyToHost(buffer, 0, staging.data(), kBufferBytes);
  work.HostCall([&] {
    ++calls;
    saw_what_came_before = staging == Bytes(kBufferBytes, 0x61);
    std::fill(staging.begin(), staging.end(), uint8_t{0x62});
    return absl::OkStatus();
  });
  work.CopyToDevice(staging.data(), buffer, 0, kBufferBytes);
  HY_ASSERT_OK(RunAndWait(context, std::move(work)));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(saw_what_came_before) << "the call ran before the copy ahead of it was done";
  HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(buffer, 0, kBufferBytes));
  EXPECT_EQ(FirstDifference(got, Bytes(kBufferBytes, 0x62)), "")
      << "the copy behind the call did not see what the call wrote";
}

HY_DUTY("HAL-QUE-07", NoSubmissionIsLostAtAnyDepth) {
  HY_ASSERT_OK_AND_ASSIGN(Gated one, MakeGated(context));
  constexpr uint64_t kCount = 3000;
  std::vector<uint8_t> ran(kCount);
  std::vector<uint64_t> accepted;
  for (uint64_t i = 0; i < kCount; ++i) {
    hal::Submission work;
    work.WaitFor(one.gate, 1);
    work.HostCall([&ran, i] {
      ++ran[static_cast<size_t>(i)];
      return absl::OkStatus();
    });
    work.Signal(one.done, i + 1);
    const absl::Status status = one.queue.Submit(std::move(work));
    if (status.ok()) {
      accepted.push_back(i);
    } else {
      ASSERT_TRUE(absl::IsResourceExhausted(status)) << status;
    }
  }
  ASSERT_FALSE(accepted.empty());
  EXPECT_EQ(std::count(ran.begin(), ran.end(), 0), static_cast<std::ptrdiff_t>(kCount))
      << "work ran before what it waits for";
  HY_ASSERT_OK(one.gate.Signal(1));
  HY_ASSERT_OK(WaitDone(context, one.done, accepted.back() + 1));
  std::vector<uint8_t> expected(kCount);
  for (const uint64_t i : accepted) expected[static_cast<size_t>(i)] = 1;
  EXPECT_EQ(FirstDifference(ran, expected), "") << "each accepted submission runs once";
  context.Fact("accepted", absl::StrCat(accepted.size()));
}

HY_DUTY("HAL-QUE-08", WaitsThatAreNotMetDoNotBlockTheCaller) {
  HY_ASSERT_OK_AND_ASSIGN(Gated one, MakeGated(context));
  std::atomic<bool> opened{false};
  std::atomic<bool> returned{false};
  // Opens the gate if submit should block: the test then fails instead of hanging.
  std::thread opener([&] {
    const uint64_t deadline = DeadlineIn(context, 1);
    while (!returned && MonotonicNs() < deadline) {
      timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
    }
    opened = true;
    one.gate.Signal(1).IgnoreError();
  });
  hal::Submission work;
  work.WaitFor(one.gate, 1).Signal(one.done, 1);
  const absl::Status submitted = one.queue.Submit(std::move(work));
  const bool blocked = opened;
  returned = true;
  opener.join();
  HY_EXPECT_OK(submitted);
  EXPECT_FALSE(blocked) << "submit returned only after the gate had been opened";
  HY_EXPECT_OK(WaitDone(context, one.done, 1));
}

DutyTable QueueDuties() {
  static constexpr DutyTest kTests[] = {
      SubmissionsTakeEffectInOrder,         OperationsOfOneSubmissionTakeEffectInOrder,
      CopiesMoveExactlyTheBytesAskedFor,    FillRepeatsItsPattern,
      AFailedOperationFailsEverySignal,     AFailureReachesWorkThatWaitsForIt,
      ARefusedSubmissionHasDoneNothing,     ThePortRefusesAllOrNothing,
      AHostCallRunsOnceInItsPlace,          NoSubmissionIsLostAtAnyDepth,
      WaitsThatAreNotMetDoNotBlockTheCaller};
  return kTests;
}

}  // namespace halyard::conformance
