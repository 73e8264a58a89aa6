// SPDX-License-Identifier: Apache-2.0
//
// HAL-ERR-04, 05, 06, 09, 10: what a port may not do to the process that it is in.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "base/monotonic_clock.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"
#include "hal/host_services.h"

namespace halyard::conformance {
namespace {

// Standard output and error go to one file in a child.
off_t WrittenSoFar() {
  std::fflush(stdout);
  std::fflush(stderr);
  struct stat info {};
  return fstat(STDOUT_FILENO, &info) == 0 ? info.st_size : 0;
}

// A device with something of every kind open; never closed.
struct Everything {
  hal::Device device;
  hal::Buffer buffer;
  hal::Mapping map;
  hal::Team team;
  hal::Queue queue;
  hal::Fence gate;
};

absl::StatusOr<Everything> OpenEverything(hal::Device device) {
  hal::AllocRequest request;
  request.bytes = 100'000;
  absl::StatusOr<hal::Buffer> buffer = device.Allocate(request);
  if (!buffer.ok()) return buffer.status();
  absl::StatusOr<hal::Mapping> map = buffer->Map(0, 1000, HY_MAP_READ | HY_MAP_WRITE);
  if (!map.ok()) return map.status();
  hal::TeamRequest workers;
  workers.count = 1;
  absl::StatusOr<hal::Team> team = device.CreateTeam(workers);
  if (!team.ok()) return team.status();
  absl::StatusOr<hal::Queue> queue = device.CreateQueue();
  if (!queue.ok()) return queue.status();
  absl::StatusOr<hal::Fence> gate = device.CreateFence();
  if (!gate.ok()) return gate.status();
  return Everything{std::move(device), *std::move(buffer), *std::move(map),
                    *std::move(team),  *std::move(queue),  *std::move(gate)};
}

absl::StatusOr<Everything*> KeepEverything(HalContext& context) {
  absl::StatusOr<hal::Device> device = context.OpenAgain();
  if (!device.ok()) return device.status();
  absl::StatusOr<Everything> everything = OpenEverything(*std::move(device));
  if (!everything.ok()) return everything.status();
  return &HalContext::Keep(*std::move(everything));
}

}  // namespace

HY_DUTY("HAL-ERR-04", ExhaustedMemoryIsSaidAndPasses) {
  const auto allocate = [&] { return NewBuffer(context, 10'000).status(); };
  HY_ASSERT_OK(allocate());
  hal::FailHostAllocation(1);
  const absl::Status failed = allocate();
  const uint64_t calls = hal::FailHostAllocation(0);
  if (calls > 0) {
    EXPECT_TRUE(absl::IsResourceExhausted(failed)) << failed;
  } else {
    HY_EXPECT_OK(failed);
  }
  HY_EXPECT_OK(allocate());
  if (calls == 0) GTEST_SKIP() << "the port takes no memory from the host's services";
}

HY_DUTY("HAL-ERR-05", NothingIsWritten) {
  const off_t before = WrittenSoFar();
  HY_ASSERT_OK(UseEverything(context, context.device()));
  hy_alloc_desc desc = RawAlloc(0);
  hy_buffer* buffer = nullptr;
  EXPECT_NE(context.api().alloc(context.raw_device(), &desc, &buffer, nullptr), HY_OK);
  EXPECT_EQ(WrittenSoFar(), before) << "bytes went to standard output or standard error";
}

HY_DUTY("HAL-ERR-06", TheProcessIsLeftAsItWas, .alone = true) {
  // The child remembers how it was before the port was loaded.
  HY_ASSERT_OK(UseEverything(context, context.device()));
  EXPECT_EQ(os::ThreadEnvironment(), os::EnvironmentAtStart());
  OnNewThread([&] {
    const std::string before = os::ThreadEnvironment();
    HY_EXPECT_OK(UseEverything(context, context.device()));
    EXPECT_EQ(os::ThreadEnvironment(), before);
  });
}

HY_DUTY("HAL-ERR-09", VerbsMayBeCalledFromSeveralThreads) {
  constexpr uint64_t kThreads = 4;
  const uint64_t deadline = MonotonicNs() + 300'000'000;
  std::atomic<uint64_t> rounds{0};
  std::vector<std::thread> threads;
  for (uint64_t index = 0; index < kThreads; ++index) {
    threads.emplace_back([&, index] {
      Random random(context.seed() + index);
      for (uint64_t round = 0; round < 3 || MonotonicNs() < deadline; ++round) {
        const uint64_t count = 1 + random.Below(3000);
        HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer, NewBuffer(context, count));
        const Bytes bytes = SeededBytes(random.Next(), static_cast<size_t>(count));
        HY_ASSERT_OK(buffer.Write(0, bytes));
        HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByMap(buffer, 0, count));
        ASSERT_EQ(FirstDifference(got, bytes), "") << "thread " << index;
        HY_ASSERT_OK(context.device().Now().status());
        HY_ASSERT_OK(context.device().QueryU64(HY_QUERY_CAPS).status());
        HY_ASSERT_OK_AND_ASSIGN(hal::Fence fence, context.device().CreateFence());
        HY_ASSERT_OK(fence.Signal(round + 1));
        HY_ASSERT_OK(fence.Wait(round + 1, DeadlineIn(context, 2)));
        alignas(16) uint8_t memory[256];
        std::fill(std::begin(memory), std::end(memory), static_cast<uint8_t>(index));
        HY_ASSERT_OK_AND_ASSIGN(hal::Buffer imported,
                                context.device().ImportHost(memory, sizeof memory, false));
        HY_ASSERT_OK_AND_ASSIGN(const Bytes seen, ReadByMap(imported, 0, sizeof memory));
        ASSERT_EQ(FirstDifference(seen, Bytes(sizeof memory, static_cast<uint8_t>(index))), "");
        ++rounds;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  context.Fact("rounds", std::to_string(rounds));
}

HY_DUTY("HAL-ERR-10", TheProcessEndsWithEverythingOpen, .needs_device = false, .exits = true) {
  const absl::StatusOr<Everything*> open = KeepEverything(context);
  if (absl::IsUnavailable(open.status())) GTEST_SKIP() << open.status();
  HY_ASSERT_OK(open.status());
  static_cast<uint8_t*>((*open)->map.data())[0] = 1;
  HY_EXPECT_OK((*open)->team.Run([](uint32_t, uint32_t) {}));
}

HY_DUTY("HAL-ERR-10", TheProcessEndsWithWorkPending, .needs_device = false, .exits = true) {
  const absl::StatusOr<Everything*> open = KeepEverything(context);
  if (absl::IsUnavailable(open.status())) GTEST_SKIP() << open.status();
  HY_ASSERT_OK(open.status());
  // Work that never becomes ready, and a worker of a team that is asleep.
  hal::AllocRequest request;
  request.bytes = 4096;
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer target, (*open)->device.Allocate(request));
  hal::Submission work;
  work.WaitFor((*open)->gate, 1).Fill(target, 0, 4096, 1, 1);
  HY_ASSERT_OK((*open)->queue.Submit(std::move(work)));
  HalContext::Keep(std::move(target));
}

DutyTable DisciplineDuties() {
  static constexpr DutyTest kTests[] = {
      ExhaustedMemoryIsSaidAndPasses,   NothingIsWritten,
      TheProcessIsLeftAsItWas,          VerbsMayBeCalledFromSeveralThreads,
      TheProcessEndsWithEverythingOpen, TheProcessEndsWithWorkPending};
  return kTests;
}

}  // namespace halyard::conformance
