// SPDX-License-Identifier: Apache-2.0
#include "registry/run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "base/status_macros.h"
#include "registry/args.h"

namespace halyard::registry {

absl::Status DataStatus(const Kernel& kernel, const StepResult& result) {
  if (result.outcome == Outcome::kOk) return absl::OkStatus();
  return ToStatus(result.status,
                  absl::StrCat(kernel.op().name(), ": the data breaks the contract, as ",
                               kernel.id(), " says: it ", result.reason));
}

absl::Status UnknownLayout(const Registry& registry, const hy_tensor& packed) {
  return absl::FailedPreconditionError(
      absl::StrCat("weights ", TensorText(packed), " have ", registry.LayoutName(packed.layout),
                   ", which nothing here unpacks: load the plugin that packed them"));
}

Runner::Runner(const Registry* registry, const hal::Team* team, const RunOptions& options)
    : registry_(registry),
      team_(team),
      choices_(options.choices),
      canonical_(options.canonical),
      target_(TargetOf(*team)),
      region_(team, options.wait.has_value() ? *options.wait : DefaultWaitPolicy(team->size())) {}

Request Runner::RequestFor(const Op& op, const void* args) const {
  Request request{&op, args, target_};
  if (choices_ != nullptr) request.choice = choices_->Find(op, args, target_);
  return request;
}

absl::Status Runner::Run(const Op& op, const void* args) {
  ran_ = nullptr;
  HY_RETURN_IF_ERROR(Validate(op, args));
  HY_ASSIGN_OR_RETURN(const Selection selection, SelectChecked(*registry_, RequestFor(op, args)));
  return Run(selection, args);
}

absl::Status Runner::Run(const Selection& selection, const void* args) {
  ran_ = nullptr;
  if (selection.kernel->quarantined()) {
    HY_ASSIGN_OR_RETURN(const Selection other,
                        SelectChecked(*registry_, RequestFor(selection.kernel->op(), args)));
    registry_->fallbacks().Note(other.kernel->op().name(), selection.kernel->id(),
                                other.kernel->id(), "it was set aside after a failure");
    return Run(other, args);
  }
  HY_ASSIGN_OR_RETURN(const StepResult result, Attempt(selection, args));
  return Settle(selection, result, args, snapshots_);
}

absl::StatusOr<StepResult> Runner::RunBare(const Selection& selection, const void* args) {
  return Attempt(selection, args);
}

absl::StatusOr<StepResult> Runner::Attempt(const Selection& selection, const void* args) {
  std::optional<ArgsCopy> copy;
  HY_ASSIGN_OR_RETURN(const void* adapted, Adapt(selection, args, &copy));
  HY_RETURN_IF_ERROR(BuildRegion(selection, adapted));
  size_t next = 0;
  HY_RETURN_IF_ERROR(region_.Run(0, &next));
  return Judge(region_.notes(), 0, team_->size());
}

absl::Status Runner::BuildRegion(const Selection& selection, const void* args) {
  const hy_kernel_desc& desc = selection.kernel->desc();
  snapshots_ = PlanSnapshots(*selection.kernel, args);
  HY_RETURN_IF_ERROR(scratch_.Reserve(selection.scratch_bytes));
  HY_RETURN_IF_ERROR(copies_.Reserve(SnapshotBytes(snapshots_)));
  PlaceSnapshots(copies_.data(), absl::MakeSpan(snapshots_));
  region_.Clear();
  for (const Snapshot& snapshot : snapshots_) region_.Add(SnapshotItem(snapshot, 0));
  region_.EndLevel();
  Item item;
  item.run = desc.run;
  item.args = args;
  item.params = selection.params.data();
  item.scratch = scratch_.data();
  item.scratch_bytes = selection.scratch_bytes;
  for (item.phase = 0; item.phase < desc.phases; ++item.phase) {
    region_.Add(item);
    region_.EndLevel();
  }
  return region_.Finish();
}

absl::Status Runner::Settle(const Selection& selection, const StepResult& first, const void* args,
                            absl::Span<const Snapshot> snapshots) {
  if (first.outcome == Outcome::kOk || first.outcome == Outcome::kData)
    return TakeResult(*selection.kernel, first);
  Selection current = selection;
  StepResult result = first;
  std::vector<const Kernel*> declined;
  std::optional<ArgsCopy> saved;
  while (result.outcome == Outcome::kDeclined || result.outcome == Outcome::kFailed) {
    HY_ASSIGN_OR_RETURN(current, Next(current, result, args, &declined));
    if (result.outcome == Outcome::kFailed && !snapshots.empty()) {
      // From here on the op is not in place any more, so no later attempt overwrites the copies.
      saved.emplace(current.kernel->op(), args);
      UseSnapshots(snapshots, &*saved);
      snapshots = {};
      args = saved->data();
    }
    HY_ASSIGN_OR_RETURN(result, Attempt(current, args));
    snapshots = snapshots_;
  }
  return TakeResult(*current.kernel, result);
}

absl::Status Runner::TakeResult(const Kernel& kernel, const StepResult& result) {
  kernel.CountRuns(1);
  ran_ = &kernel;
  return DataStatus(kernel, result);
}

absl::StatusOr<Selection> Runner::Next(const Selection& selection, const StepResult& result,
                                       const void* args, std::vector<const Kernel*>* declined) {
  const Kernel& kernel = *selection.kernel;
  const Op& op = kernel.op();
  if (result.outcome == Outcome::kDeclined && !kernel.is_reference()) {
    kernel.CountDeclined();
    declined->push_back(&kernel);
    Request request = RequestFor(op, args);
    request.without = *declined;
    HY_ASSIGN_OR_RETURN(Selection next, SelectChecked(*registry_, request));
    registry_->fallbacks().Note(op.name(), kernel.id(), next.kernel->id(), "it declined the call");
    return next;
  }
  registry_->Quarantine(kernel, result.reason);
  if (kernel.is_reference()) {
    return absl::InternalError(
        absl::StrCat(op.name(), ": the reference ", result.reason, ": report it to its author"));
  }
  for (size_t i = 0; kernel.source().built_in && i < op.operands().size(); ++i) {
    if (!IsInPlace(op, args, i)) continue;
    return absl::InternalError(absl::StrCat(op.name(), ": the built-in ", kernel.id(), " ",
                                            result.reason, ", and its input ",
                                            op.operands()[i].name, " is overwritten"));
  }
  Selection reference = SelectReference(op, args, target_.workers);
  registry_->fallbacks().Note(op.name(), kernel.id(), reference.kernel->id(),
                              absl::StrCat("it ", result.reason));
  return reference;
}

absl::StatusOr<const void*> Runner::Adapt(const Selection& selection, const void* args,
                                          std::optional<ArgsCopy>* copy) {
  const Op& op = selection.kernel->op();
  if (op.packable() == HY_ID_NONE) return args;
  const hy_tensor& weights = op.tensor(op.packable(), args);
  if (weights.layout == selection.layout || !hy_tensor_present(&weights)) return args;
  if (selection.layout != HY_LAYOUT_CANONICAL) {
    return absl::FailedPreconditionError(absl::StrCat(
        op.name(), ": ", selection.kernel->id(), " needs ", op.operands()[op.packable()].name,
        " packed as ", registry_->LayoutName(selection.layout), ": pack it first"));
  }
  HY_ASSIGN_OR_RETURN(const hy_tensor canonical, Canonical(weights));
  copy->emplace(op, args);
  (*copy)->tensor(op.packable()) = canonical;
  return (*copy)->data();
}

absl::StatusOr<hy_tensor> Runner::Canonical(const hy_tensor& packed) {
  const Layout* layout = registry_->FindLayout(packed.layout);
  if (layout == nullptr) return UnknownLayout(*registry_, packed);
  if (canonical_ != nullptr) {
    absl::StatusOr<hy_tensor> kept = canonical_->Get(*layout, packed, *team_);
    if (!absl::IsNotFound(kept.status())) return kept;
  }
  hy_tensor canonical = hy_tensor_dense(nullptr, packed.type, packed.rank, packed.shape);
  HY_RETURN_IF_ERROR(unpacked_.Reserve(ExtentBytes(canonical)));
  canonical.data = unpacked_.data();
  HY_RETURN_IF_ERROR(UnpackTo(*layout, packed, canonical, *team_));
  return canonical;
}

}  // namespace halyard::registry
