// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/execute.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "conformance/ops/abi_call.h"
#include "hal/barrier.h"
#include "ops/data/random.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kScratchAlignment = 64;

bool IsAboutData(hy_status status) {
  return status == HY_INVALID_ARGUMENT || status == HY_OUT_OF_RANGE;
}

/// One run of a kernel: its scratch, and the calls of its workers.
class OneRun {
 public:
  OneRun(const KernelCall& call, const RunMode& mode) : call_(call), mode_(mode) {
    const hy_kernel_desc& kernel = *call.kernel;
    statuses_.assign(mode.workers, HY_OK);
    bytes_ = kernel.scratch_bytes == nullptr ? 0 : kernel.scratch_bytes(call.args, mode.workers);
    if (bytes_ == 0) return;
    absl::StatusOr<GuardedRegion> region =
        GuardedRegion::Make("scratch", bytes_, kScratchAlignment, mode.scratch_side);
    if (!region.ok()) {
      fault_ = std::string(region.status().message());
      return;
    }
    scratch_ = *std::move(region);
    WriteCanary(scratch_.base() - scratch_.slack_before(), scratch_.slack_before());
    WriteCanary(scratch_.base() + bytes_, scratch_.slack_after());
    std::memset(scratch_.base(), mode.scratch_dirt, static_cast<size_t>(bytes_));
  }

  bool ready() const { return fault_.empty(); }
  /// True once a worker failed for another reason than wrong data: the runtime ends there as well.
  bool failed() const {
    return std::any_of(statuses_.begin(), statuses_.end(),
                       [](hy_status status) { return status != HY_OK && !IsAboutData(status); });
  }
  uint32_t phases() const { return std::max(1u, call_.kernel->phases); }
  void BeginPhase() { ticket_ = 0; }

  /// Threads: any, one for each worker.
  void Call(uint32_t worker, uint32_t phase, uint32_t* inout_abi_faults) {
    hy_kernel_context context = {};
    context.struct_size = sizeof context;
    context.index = worker;
    context.count = mode_.workers;
    context.phase = phase;
    context.scratch = bytes_ == 0 ? nullptr : scratch_.base();
    context.scratch_bytes = bytes_;
    context.ticket = &ticket_;
    context.params = call_.params.empty() ? nullptr : call_.params.data();
    const hy_status status = CallChecked(*call_.kernel, call_.args, context, inout_abi_faults);
    if (statuses_[worker] == HY_OK) statuses_[worker] = status;
  }

  RunOutcome Finish(uint32_t abi_faults) const {
    RunOutcome outcome;
    outcome.abi_faults = abi_faults;
    outcome.scratch_fault = fault_;
    // What is not about data goes before what is.
    for (const hy_status status : statuses_) {
      if (outcome.status == HY_OK || (IsAboutData(outcome.status) && !IsAboutData(status)))
        outcome.status = status == HY_OK ? outcome.status : status;
    }
    if (!ready() || bytes_ == 0) return outcome;
    const uint64_t before = scratch_.slack_before();
    if (FindLostCanary(scratch_.base() - before, before) != before) {
      outcome.scratch_fault = "scratch: bytes before its first were written";
    }
    const uint64_t after = FindLostCanary(scratch_.base() + bytes_, scratch_.slack_after());
    if (after != scratch_.slack_after()) {
      outcome.scratch_fault = absl::StrCat("scratch: byte ", after, " behind the ", bytes_,
                                           " that were asked for was written");
    }
    return outcome;
  }

 private:
  const KernelCall& call_;
  const RunMode mode_;
  uint64_t bytes_ = 0;
  GuardedRegion scratch_;
  alignas(64) uint64_t ticket_ = 0;
  std::vector<hy_status> statuses_;
  std::string fault_;
};

ops::RandomWords Jitter(uint64_t seed, uint32_t worker, uint32_t phase) {
  return ops::Philox({{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}},
                     {worker, phase, 0, 0});
}

std::vector<uint32_t> OrderOf(const RunMode& mode, uint32_t phase) {
  std::vector<uint32_t> order(mode.workers);
  std::iota(order.begin(), order.end(), 0u);
  for (uint32_t i = mode.workers; mode.jitter_seed != 0 && i > 1; --i) {
    std::swap(order[i - 1], order[Jitter(mode.jitter_seed, i, phase)[0] % i]);
  }
  return order;
}

void Pause(uint64_t seed, uint32_t worker, uint32_t phase) {
  if (seed == 0) return;
  const ops::RandomWords words = Jitter(seed, worker, phase);
  if (words[0] % 4 == 0) sched_yield();
  volatile uint32_t spin = words[1] % 2000;
  while (spin != 0) spin = spin - 1;
}

}  // namespace

RunOutcome RunSequentially(const KernelCall& call, const RunMode& mode,
                           const std::function<void(uint32_t, uint32_t)>& after_worker) {
  OneRun run(call, mode);
  uint32_t faults = 0;
  for (uint32_t phase = 0; run.ready() && !run.failed() && phase < run.phases(); ++phase) {
    run.BeginPhase();
    for (const uint32_t worker : OrderOf(mode, phase)) {
      run.Call(worker, phase, &faults);
      if (after_worker) after_worker(worker, phase);
    }
  }
  return run.Finish(faults);
}

RunOutcome RunOnThreads(const KernelCall& call, const RunMode& mode) {
  OneRun run(call, mode);
  if (!run.ready()) return run.Finish(0);
  hal::Barrier barrier(mode.workers, hal::ChooseWaitPolicy(mode.workers, 1000, 0));
  std::vector<uint32_t> faults(mode.workers, 0);
  std::vector<std::thread> threads;
  for (uint32_t worker = 0; worker < mode.workers; ++worker) {
    threads.emplace_back([&, worker] {
      for (uint32_t phase = 0; phase < run.phases(); ++phase) {
        if (worker == 0) run.BeginPhase();
        barrier.Arrive();
        if (run.failed()) return;  // all see the same: nobody writes statuses here
        barrier.Arrive();
        Pause(mode.jitter_seed, worker, phase);
        run.Call(worker, phase, &faults[worker]);
        barrier.Arrive();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint32_t all = 0;
  for (const uint32_t fault : faults) all |= fault;
  return run.Finish(all);
}

RunOutcome RunOverlapped(const KernelCall& first, const KernelCall& second, const RunMode& mode) {
  OneRun one(first, mode);
  OneRun two(second, mode);
  uint32_t faults = 0;
  for (uint32_t phase = 0; one.ready() && two.ready() && phase < one.phases(); ++phase) {
    one.BeginPhase();
    two.BeginPhase();
    for (const uint32_t worker : OrderOf(mode, phase)) {
      one.Call(worker, phase, &faults);
      two.Call(worker, phase, &faults);
    }
  }
  return one.Finish(faults);
}

std::vector<int64_t> DefaultParams(const hy_kernel_desc& kernel) {
  std::vector<int64_t> params;
  for (uint32_t i = 0; i < kernel.param_count; ++i) {
    params.push_back(kernel.params[i].value_count == 0 ? 0 : kernel.params[i].values[0]);
  }
  return params;
}

}  // namespace halyard::conformance
