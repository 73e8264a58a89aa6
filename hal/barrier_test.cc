// SPDX-License-Identifier: Apache-2.0
#include "hal/barrier.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "hal/bind.h"

namespace halyard::hal {
namespace {

constexpr WaitPolicy kSleepAtOnce = {0, 0};

uint32_t Units() {
  const absl::StatusOr<std::vector<uint32_t>> mask = ThisThreadMask();
  return mask.ok() ? static_cast<uint32_t>(mask->size()) : 1;
}

// Every thread writes its number of the phase, meets the others, and reads all numbers: a barrier
// that lets one through early, or does not hand writes over, shows as a wrong sum.
uint64_t WrongSums(uint32_t count, uint32_t phases, WaitPolicy policy) {
  Barrier barrier(count, policy);
  std::vector<uint64_t> slots(count, 0);
  std::atomic<uint64_t> wrong{0};
  auto work = [&](uint32_t index) {
    for (uint64_t phase = 1; phase <= phases; ++phase) {
      slots[index] = phase * (index + 1);
      barrier.Arrive();
      uint64_t sum = 0;
      for (const uint64_t slot : slots) sum += slot;
      if (sum != phase * count * (count + 1) / 2) wrong.fetch_add(1);
      barrier.Arrive();
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  return wrong.load();
}

TEST(Barrier, OfOneOrNoneReturnsAtOnce) {
  Barrier one(1);
  for (int i = 0; i < 1'000; ++i) one.Arrive();
  Barrier none(0);
  none.Arrive();
}

TEST(Barrier, HandsWritesOverWithAWorkerForEachUnit) {
  const uint32_t units = Units();
  EXPECT_EQ(WrongSums(units, 2'000, ChooseWaitPolicy(units, units * 1'000, 0)), 0u);
}

TEST(Barrier, HandsWritesOverWithTwiceAsManyWorkersAsUnits) {
  const uint32_t count = 2 * Units();
  EXPECT_EQ(WrongSums(count, 1'000, ChooseWaitPolicy(count, Units() * 1'000, 0)), 0u);
}

TEST(Barrier, HandsWritesOverWhenNobodySpinsOrYields) {
  EXPECT_EQ(WrongSums(3, 1'000, kSleepAtOnce), 0u);
}

TEST(Barrier, HandsWritesOverWhenAllOnlySpinAWhile) {
  EXPECT_EQ(WrongSums(3, 300, {1'000, 0}), 0u);
}

// The last to arrive must not touch a barrier that the others have destroyed meanwhile.
TEST(Barrier, MayBeDestroyedAsSoonAsAllHaveReturned) {
  for (int round = 0; round < 300; ++round) {
    auto barrier = std::make_unique<Barrier>(3, round % 2 == 0 ? kSleepAtOnce : WaitPolicy{});
    std::atomic<int> left{3};
    auto work = [&] {
      barrier->Arrive();
      left.fetch_sub(1);
    };
    std::thread a(work);
    std::thread b(work);
    work();
    while (left.load() != 0) sched_yield();
    barrier.reset();
    a.join();
    b.join();
  }
}

TEST(WaitWhileEqual, ReturnsAtOnceIfTheWordDiffers) {
  const std::atomic<uint32_t> word{7};
  WaitWhileEqual(word, 8, kSleepAtOnce);
}

TEST(WaitWhileEqual, WakesEverySleeper) {
  std::atomic<uint32_t> word{0};
  std::atomic<int> woken{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 4; ++i) {
    sleepers.emplace_back([&] {
      WaitWhileEqual(word, 0, kSleepAtOnce);
      woken.fetch_add(1);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(woken.load(), 0);
  word.store(1);
  WakeAll(word);
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(woken.load(), 4);
}

// No wake-up may be lost between the look at the word and the sleep.
TEST(WaitWhileEqual, LosesNoWakeUpInPingPong) {
  std::atomic<uint32_t> ping{0};
  std::atomic<uint32_t> pong{0};
  constexpr uint32_t kRounds = 5'000;
  std::thread other([&] {
    for (uint32_t i = 0; i < kRounds; ++i) {
      WaitWhileEqual(ping, i, kSleepAtOnce);
      pong.store(i + 1);
      WakeAll(pong);
    }
  });
  for (uint32_t i = 0; i < kRounds; ++i) {
    ping.store(i + 1);
    WakeAll(ping);
    WaitWhileEqual(pong, i, kSleepAtOnce);
  }
  other.join();
  EXPECT_EQ(pong.load(), kRounds);
}

TEST(WaitWhileEqual, ASignalDoesNotEndTheWait) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  std::atomic<uint32_t> word{0};
  std::atomic<bool> returned{false};
  std::thread sleeper([&] {
    WaitWhileEqual(word, 0, kSleepAtOnce);
    returned.store(true);
  });
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pthread_kill(sleeper.native_handle(), SIGUSR1);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(returned.load());
  word.store(1);
  WakeAll(word);
  sleeper.join();
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(ChooseWaitPolicy, NobodySpinsWithMoreWaitersThanUnits) {
  EXPECT_EQ(ChooseWaitPolicy(3, 2'000, 0).spin_iterations, 0u);
  EXPECT_EQ(ChooseWaitPolicy(3, 2'999, 1'000'000).spin_iterations, 0u);
  EXPECT_GT(ChooseWaitPolicy(3, 2'000, 0).yield_iterations, 0u);
}

TEST(ChooseWaitPolicy, NobodySpinsOnOneUnitOrLess) {
  EXPECT_EQ(ChooseWaitPolicy(1, 1'000, 0).spin_iterations, 0u);
  EXPECT_EQ(ChooseWaitPolicy(1, 500, 0).spin_iterations, 0u);
}

TEST(ChooseWaitPolicy, SpinsAsLongAsAskedFor) {
  const uint32_t usual = ChooseWaitPolicy(2, 2'000, 0).spin_iterations;
  EXPECT_GT(usual, 0u);
  EXPECT_GT(ChooseWaitPolicy(2, 2'000, 1'000'000).spin_iterations, usual);
  EXPECT_GT(ChooseWaitPolicy(2, 2'000, UINT64_MAX).spin_iterations, usual);
  EXPECT_GE(ChooseWaitPolicy(2, 2'000, 1).spin_iterations, 1u);
}

}  // namespace
}  // namespace halyard::hal
