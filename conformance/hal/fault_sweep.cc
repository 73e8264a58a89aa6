// SPDX-License-Identifier: Apache-2.0
#include "conformance/hal/fault_sweep.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "conformance/hal/os_oracle.h"
#include "hal/host_services.h"

namespace halyard::conformance {
namespace {

// A scenario makes a few dozen calls; a port with more of them in one has another fault.
constexpr uint64_t kMostCalls = 2000;
// Threads end and descriptors close a little after the call that ends them.
constexpr uint64_t kSettleNs = 200'000'000;

/// How one kind of fault is armed for the n-th call, and asked whether it was reached.
struct FaultKind {
  const char* name;
  std::function<void(uint64_t nth)> arm;
  std::function<bool(uint64_t nth)> was_reached;  ///< also disarms
  std::vector<absl::StatusCode> legal;            ///< statuses that may come of it
};

bool IsLegal(const absl::Status& status, const FaultKind& kind) {
  if (status.ok()) return true;
  for (const absl::StatusCode code : kind.legal) {
    if (status.code() == code) return true;
  }
  return false;
}

// What grew since `before`, after giving it time to settle; empty if nothing did.
std::string WhatIsLeft(const os::Holdings& before, double time_scale) {
  const uint64_t deadline = MonotonicNs() + static_cast<uint64_t>(kSettleNs * time_scale);
  for (;;) {
    const os::Holdings now = os::CurrentHoldings();
    std::string left;
    const auto compare = [&](const char* what, uint64_t was, uint64_t is) {
      if (is > was) absl::StrAppend(&left, left.empty() ? "" : ", ", is - was, " more ", what);
    };
    compare("descriptors", before.descriptors, now.descriptors);
    compare("threads", before.threads, now.threads);
    compare("allocations through the host's services", before.service_allocations,
            now.service_allocations);
    if (left.empty() || MonotonicNs() > deadline) return left;
    timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
}

void SweepKind(const FaultScenario& scenario, HalContext& context, const FaultKind& kind) {
  uint64_t nth = 1;
  for (; nth <= kMostCalls; ++nth) {
    SCOPED_TRACE(absl::StrCat(kind.name, ", n = ", nth));
    const os::Holdings before = os::CurrentHoldings();
    kind.arm(nth);
    const absl::Status status = scenario.body(context);
    const bool reached = kind.was_reached(nth);
    EXPECT_TRUE(IsLegal(status, kind))
        << kind.name << " as call " << nth << " came out as " << status;
    const std::string left = WhatIsLeft(before, context.time_scale());
    EXPECT_EQ(left, "") << "left behind when call " << nth << " fails (" << kind.name << ")";
    if (!reached) {
      EXPECT_TRUE(status.ok()) << "no fault was reached, yet: " << status;
      break;
    }
    const absl::Status again = scenario.body(context);
    EXPECT_TRUE(again.ok()) << "after " << kind.name << " as call " << nth
                            << " the same work does not pass again: " << again;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_LE(nth, kMostCalls) << "the scenario never ran past its faults";
  context.Fact(absl::StrCat("calls_", kind.name), absl::StrCat(nth - 1));
}

FaultKind VerbFault(const char* name, hal::FaultPlan& plan, hy_status status, bool sticky) {
  FaultKind kind;
  kind.name = name;
  kind.arm = [&plan, status, sticky](uint64_t nth) {
    plan.fail_nth = 0;
    plan.status = status;
    plan.sticky = sticky;
    plan.calls = 0;
    plan.fail_nth = nth;
  };
  kind.was_reached = [&plan](uint64_t nth) {
    plan.fail_nth = 0;
    plan.sticky = false;
    return plan.calls >= nth;
  };
  kind.legal = {static_cast<absl::StatusCode>(status), absl::StatusCode::kResourceExhausted};
  return kind;
}

}  // namespace

void SweepFaults(const FaultScenario& scenario, HalContext& context, hal::FaultPlan& plan) {
  plan.fail_nth = 0;
  hal::FailHostAllocation(0);
  const absl::Status plain = scenario.body(context);
  if (absl::IsUnavailable(plain) || absl::IsUnimplemented(plain)) {
    GTEST_SKIP() << plain.ToString();
  }
  ASSERT_TRUE(plain.ok()) << "without any fault: " << plain;
  SweepKind(scenario, context, VerbFault("exhausted_verb", plan, HY_RESOURCE_EXHAUSTED, false));
  SweepKind(scenario, context, VerbFault("lost_device", plan, HY_DATA_LOSS, true));
  FaultKind memory;
  memory.name = "failed_host_allocation";
  memory.arm = [](uint64_t nth) { hal::FailHostAllocation(nth); };
  memory.was_reached = [](uint64_t nth) { return hal::FailHostAllocation(0) >= nth; };
  memory.legal = {absl::StatusCode::kResourceExhausted};
  SweepKind(scenario, context, memory);
}

}  // namespace halyard::conformance
