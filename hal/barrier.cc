// SPDX-License-Identifier: Apache-2.0
#include "hal/barrier.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/monotonic_clock.h"

namespace halyard::hal {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
                  std::atomic<uint32_t>::is_always_lock_free,
              "a futex word is a plain 32-bit integer");

// Architectures that were born with 64-bit time have the second number only. No call here passes a
// time, so both numbers mean the same.
#if defined(SYS_futex)
constexpr long kFutexNumber = SYS_futex;
#else
constexpr long kFutexNumber = SYS_futex_time64;
#endif

constexpr uint64_t kDefaultSpinNs = 4'000;
constexpr uint32_t kDefaultYields = 50;
// A yield that takes this long went to a thread that is not of the team; see YieldWhileEqual.
constexpr uint64_t kSlowYieldNs = 50'000;
constexpr uint32_t kWaitsWithoutYield = 1'000;
constexpr timespec kBlindSleep = {0, 50'000};

// How many threads sleep, or are about to, on the words that share a slot. A waker looks here
// first, so that a phase in which nobody sleeps costs no system call. Static, hence still there
// when the word is gone: its owner may be destroyed as soon as the word has changed.
struct alignas(64) SleeperSlot {
  std::atomic<uint32_t> sleepers{0};
};
constexpr uint32_t kSlotBits = 6;
SleeperSlot g_slots[1u << kSlotBits];

std::atomic<uint32_t>& SleepersOf(const std::atomic<uint32_t>& word) {
  const uint64_t address = reinterpret_cast<uintptr_t>(&word);
  const uint64_t mixed = (address >> 2) * UINT64_C(0x9E3779B97F4A7C15);  // Fibonacci hashing
  return g_slots[mixed >> (64 - kSlotBits)].sleepers;
}

long Futex(const std::atomic<uint32_t>& word, int operation, uint32_t value) {
  return syscall(kFutexNumber, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // `yield` is a no-op on most cores; `isb` takes about as long as a pause on x86.
  asm volatile("isb" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27" ::: "memory");
#elif defined(__riscv)
  asm volatile(".4byte 0x0100000F" ::
                   : "memory");  // pause of Zihintpause; else a fence that orders nothing
#else
  asm volatile("" ::: "memory");
#endif
}

// Pauses take from 1 to 140 cycles, so a time is turned into a count by measuring them once.
uint64_t PausesPerMicrosecond() {
  static const uint64_t measured = [] {
    constexpr uint32_t kPauses = 256;
    uint64_t best_ns = std::numeric_limits<uint64_t>::max();
    for (int round = 0; round < 3; ++round) {
      const uint64_t start_ns = MonotonicNs();
      for (uint32_t i = 0; i < kPauses; ++i) Pause();
      best_ns = std::min(best_ns, MonotonicNs() - start_ns);
    }
    return std::max<uint64_t>(1, uint64_t{kPauses} * 1'000 / std::max<uint64_t>(1, best_ns));
  }();
  return measured;
}

thread_local uint32_t t_waits_without_yield = 0;

// Yields while the word is `old`. Where other programs want the unit too, a yield gives them a
// whole slice of some milliseconds (Linux 6.6 and later), while a sleeper that is woken comes
// first. So a slow yield is the last one for a while.
void YieldWhileEqual(const std::atomic<uint32_t>& word, uint32_t old, uint32_t yields) {
  if (t_waits_without_yield != 0) {
    --t_waits_without_yield;
    return;
  }
  for (uint32_t i = 0; i < yields && word.load(std::memory_order_acquire) == old; ++i) {
    const uint64_t start_ns = MonotonicNs();
    sched_yield();
    if (MonotonicNs() - start_ns < kSlowYieldNs) continue;
    t_waits_without_yield = kWaitsWithoutYield;
    return;
  }
}

}  // namespace

WaitPolicy ChooseWaitPolicy(uint32_t waiters, uint64_t budget_millicpus, uint64_t spin_ns) {
  WaitPolicy policy;
  policy.yield_iterations = kDefaultYields;
  // On one unit whoever is waited for cannot run before this thread gives the unit up.
  if (budget_millicpus <= 1'000 || uint64_t{waiters} * 1'000 > budget_millicpus) {
    policy.spin_iterations = 0;
    return policy;
  }
  const uint64_t wanted_ns = spin_ns == 0 ? kDefaultSpinNs : spin_ns;
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  const uint64_t per_us = PausesPerMicrosecond();
  const uint64_t pauses = wanted_ns > kMost ? kMost : wanted_ns * per_us / 1'000;
  policy.spin_iterations = static_cast<uint32_t>(std::clamp<uint64_t>(pauses, 1, kMost));
  return policy;
}

void WaitWhileEqual(const std::atomic<uint32_t>& word, uint32_t old, const WaitPolicy& policy) {
  for (uint32_t i = 0; i < policy.spin_iterations; ++i) {
    if (word.load(std::memory_order_acquire) != old) return;
    Pause();
  }
  YieldWhileEqual(word, old, policy.yield_iterations);
  if (word.load(std::memory_order_acquire) != old) return;
  // Either this thread sees the new word below, or the waker, whose store comes later in the single
  // order of these operations, sees this sleeper. The kernel compares once more before it sleeps.
  std::atomic<uint32_t>& sleepers = SleepersOf(word);
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (word.load(std::memory_order_seq_cst) == old) {
    const long rc = Futex(word, FUTEX_WAIT, old);
    // EAGAIN: it changed; EINTR: a signal. Anything else: a system without futexes.
    if (rc != 0 && errno != EAGAIN && errno != EINTR) nanosleep(&kBlindSleep, nullptr);
  }
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void WakeAll(const std::atomic<uint32_t>& word) {
  if (SleepersOf(word).load(std::memory_order_seq_cst) == 0) return;
  // The word may be gone by now; the kernel takes any address and wakes nobody.
  Futex(word, FUTEX_WAKE, static_cast<uint32_t>(std::numeric_limits<int32_t>::max()));
}

Barrier::Barrier(uint32_t count, WaitPolicy policy)
    : count_(std::max(count, 1u)), policy_(policy) {}

void Barrier::Arrive() {
  // Read before arriving: after it the last one may already have begun the next phase.
  const uint32_t phase = phase_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < count_) {
    WaitWhileEqual(phase_, phase, policy_);
    return;
  }
  arrived_.store(0, std::memory_order_relaxed);
  phase_.store(phase + 1, std::memory_order_seq_cst);
  WakeAll(phase_);
}

}  // namespace halyard::hal
