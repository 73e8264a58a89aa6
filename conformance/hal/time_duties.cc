// SPDX-License-Identifier: Apache-2.0
//
// HAL-TIM: the device's clock next to the host's.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

hy_timestamp Read(HalContext& context) {
  hy_timestamp stamp = Sized<hy_timestamp>();
  const hy_status status = context.api().timestamp(context.raw_device(), &stamp);
  EXPECT_EQ(status, HY_OK) << hy_status_name(status);
  return stamp;
}

// A stamp and what the host's clock showed on both sides of the read.
struct BracketedStamp {
  hy_timestamp stamp;
  uint64_t before_ns;
  uint64_t after_ns;
};

// The tightest of some reads. A thread that loses its processor within one makes the bracket wide,
// never wrong, so a rate judged by brackets holds on a busy machine too.
BracketedStamp ReadBracketed(HalContext& context) {
  BracketedStamp best{};
  for (int i = 0; i < 32; ++i) {
    BracketedStamp read{};
    read.before_ns = MonotonicRawNs();
    read.stamp = Read(context);
    read.after_ns = MonotonicRawNs();
    const bool tighter = read.after_ns - read.before_ns < best.after_ns - best.before_ns;
    if (i == 0 || tighter) best = read;
  }
  return best;
}

}  // namespace

HY_DUTY("HAL-TIM-01", TicksNeverGoBackOnOneThread) {
  uint64_t last = 0;
  for (int i = 0; i < 3000; ++i) {
    const hy_timestamp stamp = Read(context);
    ASSERT_GE(stamp.ticks, last) << "read " << i;
    last = stamp.ticks;
  }
}

HY_DUTY("HAL-TIM-01", TicksNeverGoBackAcrossThreads) {
  // Threads take turns: each reads after the one before it has read.
  std::atomic<uint64_t> turn{0};
  uint64_t last = 0;
  std::vector<std::thread> threads;
  constexpr uint64_t kThreads = 4, kRounds = 100;
  for (uint64_t index = 0; index < kThreads; ++index) {
    threads.emplace_back([&, index] {
      for (uint64_t mine = index; mine < kThreads * kRounds; mine += kThreads) {
        while (turn.load(std::memory_order_acquire) != mine) std::this_thread::yield();
        const hy_timestamp stamp = Read(context);
        EXPECT_GE(stamp.ticks, last) << "turn " << mine;
        last = stamp.ticks;
        turn.store(mine + 1, std::memory_order_release);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

HY_DUTY("HAL-TIM-01", TicksNeverGoBackAcrossUnits) {
  OnNewThread([&] {
    const std::optional<std::set<uint32_t>> mask = os::ThreadMask();
    if (!mask.has_value() || mask->size() < 2) {
      GTEST_SKIP() << "the process may use one unit only";
    }
    uint64_t last = 0;
    uint32_t from = *mask->begin();
    for (int round = 0; round < 8; ++round) {
      for (const uint32_t unit : *mask) {
        if (!os::SetThreadMask({unit})) continue;
        for (int i = 0; i < 4; ++i) {
          const hy_timestamp stamp = Read(context);
          ASSERT_GE(stamp.ticks, last) << "went from unit " << from << " to " << unit;
          last = stamp.ticks;
        }
        from = unit;
      }
    }
  });
}

HY_DUTY("HAL-TIM-02", TheRateIsThatOfTheHostsClock) {
  const BracketedStamp begin = ReadBracketed(context);
  ASSERT_GT(begin.stamp.hz, 0u);
  timespec pause{0, 300'000'000};
  nanosleep(&pause, nullptr);
  const BracketedStamp end = ReadBracketed(context);
  const double device_s = static_cast<double>(end.stamp.ticks - begin.stamp.ticks) /
                          static_cast<double>(begin.stamp.hz);
  const double least_s = static_cast<double>(end.before_ns - begin.after_ns) * 1e-9;
  const double most_s = static_cast<double>(end.after_ns - begin.before_ns) * 1e-9;
  const double error = std::max({0.0, 1 - device_s / least_s, device_s / most_s - 1});
  context.Fact("clock_ratio_error", absl::StrCat(error));
  EXPECT_LE(error, 0.001) << "ticks over hz run at another rate than CLOCK_MONOTONIC_RAW: "
                          << device_s << " s of the device in " << least_s << " to " << most_s
                          << " s of the host";
}

HY_DUTY("HAL-TIM-02", TheRateIsTheOneOfTheQuery) {
  const hy_timestamp stamp = Read(context);
  uint64_t hz = 0;
  const hy_status status = hy_query_u64(&context.api(), HY_KIND_DEVICE, context.raw_device(),
                                        HY_QUERY_TIMESTAMP_HZ, &hz);
  if (status == HY_UNIMPLEMENTED) GTEST_SKIP() << "the port does not answer TIMESTAMP_HZ";
  ASSERT_EQ(status, HY_OK);
  EXPECT_EQ(stamp.hz, hz);
}

HY_DUTY("HAL-TIM-03", TheHostsTimeLiesWithinTheCall) {
  for (int i = 0; i < 200; ++i) {
    const uint64_t before = MonotonicRawNs();
    const hy_timestamp stamp = Read(context);
    const uint64_t after = MonotonicRawNs();
    ASSERT_GE(stamp.host_ns, before);
    ASSERT_LE(stamp.host_ns, after);
    ASSERT_LE(stamp.uncertainty_ns, after - before);
  }
}

DutyTable TimeDuties() {
  static constexpr DutyTest kTests[] = {TicksNeverGoBackOnOneThread, TicksNeverGoBackAcrossThreads,
                                        TicksNeverGoBackAcrossUnits, TheRateIsThatOfTheHostsClock,
                                        TheRateIsTheOneOfTheQuery,   TheHostsTimeLiesWithinTheCall};
  return kTests;
}

}  // namespace halyard::conformance
