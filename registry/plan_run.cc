// SPDX-License-Identifier: Apache-2.0
//
// Running a plan. The way without failures is short: region, counts.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "base/status_macros.h"
#include "registry/plan.h"

namespace halyard::registry {
namespace {

hy_status RunNothing(const void*, const hy_kernel_context*) { return HY_OK; }

}  // namespace

absl::Status Plan::CheckRunnable() const {
  if (!committed_)
    return absl::FailedPreconditionError("the plan was changed: commit it before it runs");
  if (first_without_memory_ == steps_.size()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("step ", first_without_memory_, " (", steps_[first_without_memory_]->op->name(),
                   ") has no memory: give its args data, and commit"));
}

absl::Status Plan::Run() {
  HY_RETURN_IF_ERROR(CheckRunnable());
  // Some kernel was set aside, here or elsewhere, or declined in the last run.
  if (region_is_stale_ || epoch_ != registry_->quarantine_epoch()) HY_RETURN_IF_ERROR(Refresh());
  has_run_ = false;
  data_status_.reset();
  any_settled_ = false;
  for (size_t level = 0; level < region_.levels();) {
    HY_RETURN_IF_ERROR(region_.Run(level, &level));
    if (!region_.notes().empty()) HY_RETURN_IF_ERROR(SettleNotes());
  }
  CountRuns();
  return data_status_.has_value() ? data_status_->second : absl::OkStatus();
}

absl::Status Plan::SettleNotes() {
  std::vector<uint32_t> numbers;
  for (const Note& note : region_.notes()) numbers.push_back(note.step);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (const uint32_t number : numbers) {
    const absl::Status status = SettleStep(number, Judge(region_.notes(), number, team_->size()));
    if (status.ok()) continue;
    const absl::Status named =
        WithContext(status, absl::StrCat("step ", number, " (", steps_[number]->op->name(), ")"));
    if (!absl::IsOutOfRange(status) && !absl::IsInvalidArgument(status)) {
      region_is_stale_ = true;
      return named;
    }
    if (!data_status_.has_value() || number < data_status_->first)
      data_status_.emplace(number, named);
  }
  return absl::OkStatus();
}

absl::Status Plan::SettleStep(uint32_t number, const StepResult& result) {
  Step& step = *steps_[number];
  if (result.outcome == Outcome::kData) return DataStatus(*step.selection.kernel, result);
  region_is_stale_ = true;
  any_settled_ = true;
  step.settled = true;
  if (result.outcome == Outcome::kDeclined) step.declined.push_back(step.selection.kernel);
  for (Item& item : region_.items()) {
    if (item.step == number) item.run = &RunNothing;
  }
  const absl::Status status =
      runner_.Settle(step.selection, result, step.live.data(), step.snapshots);
  step.settled_by = runner_.ran();
  return status;
}

void Plan::CountRuns() {
  has_run_ = true;
  if (!any_settled_) {
    for (const auto& [kernel, steps] : kernels_) kernel->CountRuns(steps);
    return;
  }
  for (const auto& step : steps_) {
    if (!step->settled) step->selection.kernel->CountRuns(1);
  }
}

}  // namespace halyard::registry
