// SPDX-License-Identifier: Apache-2.0
//
// Many ops resolved once, checked once, and run many times in one region of a team: no selection, no
// allocation, and a barrier only where the data needs one.
//
// Steps are added in the order in which they would run one by one. Those that touch each other's
// memory stay in that order; others share a level, that is, run between the same two barriers.
#ifndef HALYARD_REGISTRY_PLAN_H_
#define HALYARD_REGISTRY_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hal/device.h"
#include "registry/aligned_block.h"
#include "registry/args.h"
#include "registry/layouts.h"
#include "registry/region.h"
#include "registry/registry.h"
#include "registry/run.h"
#include "registry/schedule.h"
#include "registry/select.h"

namespace halyard::registry {

/// Threads: one at a time, as its team. Registry, team and what options name are borrowed. Weights
/// that steps read do not change while it lives.
class Plan {
 public:
  Plan(const Registry* registry, const hal::Team* team, const RunOptions& options = {});

  /// Adds a step; gives its number, from 0. Args are copied; their shapes are the largest that the
  /// step will ever have. Data may be NULL in all operands until a commit.
  /// Errors   as Select.
  absl::StatusOr<uint32_t> Add(const Op& op, const void* args);

  /// The args of a step, to be changed between runs: data, shapes up to those it was added with,
  /// strides, other fields. Commit before the next run.
  void* args(uint32_t step);

  /// Takes what was added and changed: checks and selects for those steps. Where shapes alone changed
  /// and the kernels are still the right ones, nothing else is done; other data or strides order all
  /// steps anew. A program whose shapes go to and fro keeps a plan for each.
  /// Errors   INVALID_ARGUMENT: breaks the contract, or beyond what the step was added with; the
  ///          plan does not run until that is put right. RESOURCE_EXHAUSTED: no scratch.
  absl::Status Commit();

  /// Runs all steps. One whose kernel fails or declines is run again as by Runner, and the rest goes
  /// on; from the next run on another kernel does it.
  /// Errors   INVALID_ARGUMENT, OUT_OF_RANGE: the data of the first such step breaks its contract;
  ///          all steps ran. INTERNAL: a step could not be brought to an end, later ones did not run.
  ///          FAILED_PRECONDITION: not committed, or a step without memory.
  absl::Status Run();

  size_t size() const { return steps_.size(); }
  /// What a step is to run.
  const Selection& selection(uint32_t step) const { return steps_[step]->selection; }
  /// What did its work in the last run; nullptr if that had no end.
  const Kernel* ran(uint32_t step) const {
    if (!has_run_) return nullptr;
    return steps_[step]->settled ? steps_[step]->settled_by : steps_[step]->selection.kernel;
  }

  /// Of one run.
  size_t barriers() const { return region_.levels() == 0 ? 0 : region_.levels() - 1; }
  /// Scratch of all steps, which share it where they can.
  uint64_t scratch_bytes() const { return schedule_.bytes; }
  /// Level by level, which kernels run: for people.
  std::string Describe() const;

 private:
  struct Step {
    Step(const Op& op_of, const void* args)
        : op(&op_of), declared(op_of, args), live(op_of, args), committed(op_of, args) {}
    const Op* op;
    ArgsCopy declared;   // the largest
    ArgsCopy live;       // the caller's
    ArgsCopy committed;  // as it was taken last
    bool changed = true;
    Selection selection;
    uint64_t scratch_bytes = 0;       // reserved
    std::optional<ArgsCopy> adapted;  // with canonical weights for packed ones
    std::vector<Snapshot> snapshots;
    std::vector<const Kernel*> declined;  // for the args committed
    bool has_memory = false;
    bool settled = false;  // in the last run, by runner_
    const Kernel* settled_by = nullptr;
  };

  // plan.cc: what is done between runs.
  absl::Status TakeChange(Step& step);
  absl::Status SelectFor(Step& step);
  absl::Status Adapt(Step& step);
  absl::StatusOr<hy_tensor> Canonical(const hy_tensor& packed);
  absl::Status Refresh();
  absl::Status Rebuild();
  absl::Status BuildRegion();
  void AddSteps(std::vector<std::vector<Item>>* levels);

  // plan_run.cc
  absl::Status CheckRunnable() const;
  absl::Status SettleNotes();
  absl::Status SettleStep(uint32_t number, const StepResult& result);
  void CountRuns();

  const Registry* const registry_;
  const hal::Team* const team_;
  const CanonicalStore* const canonical_;
  CanonicalStore unpacked_;
  Runner runner_;
  Region region_;
  AlignedBlock memory_;
  std::vector<std::unique_ptr<Step>> steps_;
  Dependencies dependencies_;
  Schedule schedule_;
  std::vector<std::pair<const Kernel*, uint64_t>> kernels_;  // and for how many steps
  bool committed_ = false;
  size_t first_without_memory_ = 0;
  bool order_is_stale_ = true;   // memory of steps changed: dependencies_
  bool region_is_stale_ = true;  // kernels or their scratch changed: schedule_, region_
  bool has_run_ = false;
  bool any_settled_ = false;
  uint64_t epoch_ = 0;
  std::optional<std::pair<uint32_t, absl::Status>> data_status_;  // of the first step with one
};

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_PLAN_H_
