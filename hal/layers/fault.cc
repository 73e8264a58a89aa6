// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "hal/host_services.h"
#include "hal/layers/interposer.h"
#include "hal/layers/layers.h"

namespace halyard::hal {
namespace {

class FaultLayer : public Interposer {
 public:
  FaultLayer(std::shared_ptr<Port> inner, std::shared_ptr<FaultPlan> plan)
      : Interposer(std::move(inner)), plan_(std::move(plan)) {}

 protected:
  hy_status Around(const Call& call, absl::FunctionRef<hy_status()> proceed) override {
    if (!IsMeant(call.verb)) return proceed();
    const uint64_t number = plan_->calls.fetch_add(1) + 1;
    if (!IsDue()) return proceed();
    // What a port that fails by the rules leaves behind: [HAL-ERR-03].
    for (const Argument& argument : call.arguments) {
      if (argument.out_handle != nullptr) *argument.out_handle = nullptr;
    }
    const std::string message =
        absl::StrCat("call ", number, " of ", VerbName(call.verb), " was made to fail");
    return HostServices()->report(plan_->status, message.c_str());
  }

 private:
  // With no verb named, those that document the status: a release that fails would only leak.
  bool IsMeant(Verb verb) const {
    return plan_->verb.empty() ? IsDocumented(verb, plan_->status) : plan_->verb == VerbName(verb);
  }

  // Counts down to the call that fails; whoever takes the last step fails, so that it is only one.
  bool IsDue() {
    uint64_t left = plan_->fail_nth.load();
    if (left == 0) {
      // Disarmed, or past the failure: which of them only `stuck_` tells.
      if (!plan_->sticky.load()) stuck_.store(false);
      return stuck_.load();
    }
    stuck_.store(false);  // armed anew
    while (left != 0 && !plan_->fail_nth.compare_exchange_weak(left, left - 1)) {
    }
    if (left != 1) return false;
    stuck_.store(plan_->sticky.load());
    return true;
  }

  const std::shared_ptr<FaultPlan> plan_;
  std::atomic<bool> stuck_{false};
};

bool IsVerbName(absl::string_view name) {
  for (uint32_t verb = 0; verb < kVerbCount; ++verb) {
    if (name == VerbName(static_cast<Verb>(verb))) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Port>> WithFault(std::shared_ptr<Port> port,
                                                std::shared_ptr<FaultPlan> plan) {
  if (port == nullptr || plan == nullptr) {
    return absl::InvalidArgumentError("faults need a port and a plan");
  }
  if (!plan->verb.empty() && !IsVerbName(plan->verb)) {
    return absl::InvalidArgumentError(absl::StrCat("'", plan->verb, "' is no verb of the HAL"));
  }
  if (plan->status <= HY_OK || plan->status >= HY_STATUS_COUNT) {
    return absl::InvalidArgumentError(absl::StrCat(plan->status, " is no failure"));
  }
  auto layer = std::make_shared<FaultLayer>(std::move(port), std::move(plan));
  HY_RETURN_IF_ERROR(layer->Attach());
  return layer;
}

}  // namespace halyard::hal
