// SPDX-License-Identifier: Apache-2.0
//
// Runs one op on a team and sees to it that it ends well: a kernel that declines makes room for the
// next one, a kernel that fails is set aside and the op is run again on the reference.
#ifndef HALYARD_REGISTRY_RUN_H_
#define HALYARD_REGISTRY_RUN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/barrier.h"
#include "hal/device.h"
#include "registry/aligned_block.h"
#include "registry/layouts.h"
#include "registry/region.h"
#include "registry/registry.h"
#include "registry/select.h"
#include "registry/snapshot.h"

namespace halyard::registry {

struct RunOptions {
  const ChoiceSource* choices = nullptr;      ///< borrowed; none: by priority
  std::optional<hal::WaitPolicy> wait;        ///< none: DefaultWaitPolicy
  const CanonicalStore* canonical = nullptr;  ///< borrowed; where packed weights came from
};

/// OK, or the status about the data of a step that is done.
absl::Status DataStatus(const Kernel& kernel, const StepResult& result);
/// For packed weights whose layout nobody gave.
absl::Status UnknownLayout(const Registry& registry, const hy_tensor& packed);

/// Keeps scratch and tickets between runs. Registry, team and store are borrowed.
/// Threads: one at a time, as its team; many runners may share a registry.
class Runner {
 public:
  Runner(const Registry* registry, const hal::Team* team, const RunOptions& options = {});

  /// Checks args, selects, runs.
  /// Errors   INVALID_ARGUMENT: args break the contract; INVALID_ARGUMENT, OUT_OF_RANGE: the data
  ///          does, and outputs are as the contract says; INTERNAL: the reference failed, or a
  ///          built-in kernel did that had its input for output; RESOURCE_EXHAUSTED: no scratch.
  absl::Status Run(const Op& op, const void* args);

  /// Runs what was selected for such args, which were checked. A kernel that was set aside since is
  /// passed over. Allocates nothing while the kernel does well and needs no more scratch than before.
  /// Errors   as above; FAILED_PRECONDITION: selected with may_pack, and the weights are not packed.
  absl::Status Run(const Selection& selection, const void* args);

  /// The kernel whose work the last Run left, by what was executed; nullptr if it had no end.
  const Kernel* ran() const { return ran_; }

  /// Runs this kernel as it is: no way back, no counts, no quarantine. For tests and measuring.
  absl::StatusOr<StepResult> RunBare(const Selection& selection, const void* args);

  /// Brings a step to its end that ran, as `selection` says, elsewhere: counts it, and if it did not
  /// do well, runs it again. `snapshots`: what was copied before it ran. For plans.
  absl::Status Settle(const Selection& selection, const StepResult& result, const void* args,
                      absl::Span<const Snapshot> snapshots);

  /// Args as a kernel of `selection` takes them: canonical weights in place of packed ones where
  /// needed. The same pointer if nothing changes, else that of `copy`.
  absl::StatusOr<const void*> Adapt(const Selection& selection, const void* args,
                                    std::optional<ArgsCopy>* copy);

  /// A request for args on this team, with the choice that there is for them.
  Request RequestFor(const Op& op, const void* args) const;

  const hy_kernel_target& target() const { return target_; }
  const Registry& registry() const { return *registry_; }
  const hal::Team& team() const { return *team_; }

 private:
  absl::StatusOr<StepResult> Attempt(const Selection& selection, const void* args);
  absl::Status BuildRegion(const Selection& selection, const void* args);
  absl::Status TakeResult(const Kernel& kernel, const StepResult& result);
  absl::StatusOr<Selection> Next(const Selection& selection, const StepResult& result,
                                 const void* args, std::vector<const Kernel*>* declined);
  absl::StatusOr<hy_tensor> Canonical(const hy_tensor& packed);

  const Registry* const registry_;
  const hal::Team* const team_;
  const ChoiceSource* const choices_;
  const CanonicalStore* const canonical_;
  const hy_kernel_target target_;
  Region region_;
  AlignedBlock scratch_;
  AlignedBlock copies_;
  AlignedBlock unpacked_;
  std::vector<Snapshot> snapshots_;
  const Kernel* ran_ = nullptr;
};

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_RUN_H_
