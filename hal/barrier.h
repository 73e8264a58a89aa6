// SPDX-License-Identifier: Apache-2.0
//
// A barrier for teams whose workers are all live: spins briefly, then yields, then sleeps.
#ifndef HALYARD_HAL_BARRIER_H_
#define HALYARD_HAL_BARRIER_H_

#include <atomic>
#include <cstdint>

namespace halyard::hal {

/// How long a waiting thread spins and yields before it sleeps in the kernel.
struct WaitPolicy {
  uint32_t spin_iterations = 200;  ///< pauses of the processor; 0 on a machine with one unit
  uint32_t yield_iterations = 50;  ///< calls of sched_yield
};

/// A policy for a number of waiters on a number of usable units: with more waiters than units
/// nobody spins, since the unit is needed by who is waited for.
WaitPolicy ChooseWaitPolicy(uint32_t waiters, uint64_t budget_millicpus, uint64_t spin_ns);

/// Blocks until *word != old. Spins, yields, then sleeps on a futex; spurious returns do not leave.
void WaitWhileEqual(const std::atomic<uint32_t>& word, uint32_t old, const WaitPolicy& policy);

/// Wakes all threads in WaitWhileEqual on a word, after it was changed by a sequentially consistent
/// store. Uses the address alone: the owner of the word may be gone as soon as it has changed.
void WakeAll(const std::atomic<uint32_t>& word);

/// Reusable barrier of `count` threads. Threads: each of the count arrives once a phase.
class Barrier {
 public:
  explicit Barrier(uint32_t count, WaitPolicy policy = {});
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  /// Returns when all have arrived; what each wrote before is seen by all after.
  void Arrive();

 private:
  const uint32_t count_;  // at least 1
  const WaitPolicy policy_;
  // A line each: the arrivals of one phase must not disturb those who read the phase.
  alignas(64) std::atomic<uint32_t> arrived_{0};
  alignas(64) std::atomic<uint32_t> phase_{0};
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_BARRIER_H_
