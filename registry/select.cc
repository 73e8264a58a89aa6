// SPDX-License-Identifier: Apache-2.0
#include "registry/select.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "registry/decision_text.h"
#include "registry/fit.h"

namespace halyard::registry {
namespace {

/// One selection: asks each kernel at most once.
class Selector {
 public:
  Selector(const Registry& registry, const Request& request, bool explaining)
      : registry_(registry), request_(request), explaining_(explaining) {
    fits_.resize(request.op->kernels().size());
  }

  absl::StatusOr<Selection> Pick() {
    if (request_.only != nullptr) return PickOnly();
    std::optional<Selection> picked = PickForced();
    if (!picked.has_value()) picked = PickChoice();
    if (!picked.has_value()) picked = PickByPriority();
    if (!picked.has_value()) picked = PickUnpacked();
    return *std::move(picked);
  }

  void Explain(const Selection& selection, Explanation* out);

 private:
  absl::Span<const Kernel* const> kernels() const { return request_.op->kernels(); }

  const Fit& FitOf(size_t index) {
    std::optional<Fit>& fit = fits_[index];
    if (!fit.has_value()) fit = FitKernel(registry_, request_, *kernels()[index], unpack_);
    return *fit;
  }

  absl::StatusOr<Selection> PickOnly();
  std::optional<Selection> PickForced();
  std::optional<Selection> PickChoice();
  std::optional<Selection> PickByPriority();
  Selection PickUnpacked();

  Selection Chosen(const Kernel& kernel, DecidedBy decided_by);
  void ApplyParams(const Choice& choice, Selection* selection);
  /// `what` was asked for and is passed over.
  void PassOver(absl::string_view what, absl::string_view reason);

  const Registry& registry_;
  const Request& request_;
  const bool explaining_;
  bool unpack_ = false;
  std::vector<std::optional<Fit>> fits_;
  std::vector<std::string> notes_;
};

Selection Selector::Chosen(const Kernel& kernel, DecidedBy decided_by) {
  Selection selection;
  selection.kernel = &kernel;
  selection.decided_by = decided_by;
  selection.layout = kernel.desc().layout;
  for (uint32_t i = 0; i < kernel.desc().param_count; ++i)
    selection.params[i] = kernel.desc().params[i].values[0];
  selection.scratch_bytes = ScratchBytes(kernel, request_.args, request_.target.workers);
  if (request_.choice != nullptr && request_.choice->kernel == kernel.id())
    ApplyParams(*request_.choice, &selection);
  return selection;
}

void Selector::PassOver(absl::string_view what, absl::string_view reason) {
  notes_.push_back(absl::StrCat(what, " is passed over: ", reason));
  if (!explaining_) registry_.fallbacks().Note(request_.op->name(), what, "", reason);
}

void Selector::ApplyParams(const Choice& choice, Selection* selection) {
  const hy_kernel_desc& desc = selection->kernel->desc();
  for (const auto& [name, value] : choice.params) {
    const auto* end = desc.params + desc.param_count;
    const auto* param = std::find_if(desc.params, end,
                                     [&wanted = name](const auto& p) { return wanted == p.name; });
    const std::string what = absl::StrCat("profile value ", name, "=", value, " of ", desc.id);
    if (param == end) {
      PassOver(what, "the kernel has no such parameter");
    } else if (std::find(param->values, param->values + param->value_count, value) ==
               param->values + param->value_count) {
      PassOver(what, absl::StrCat(
                         "it is none of ",
                         absl::StrJoin(param->values, param->values + param->value_count, ", ")));
    } else {
      selection->params[static_cast<size_t>(param - desc.params)] = value;
    }
  }
}

absl::StatusOr<Selection> Selector::PickOnly() {
  for (size_t i = 0; i < kernels().size(); ++i) {
    if (kernels()[i] != request_.only) continue;
    const Fit& fit = FitOf(i);
    if (fit.verdict == Verdict::kPassedOver) return Chosen(*kernels()[i], DecidedBy::kOnly);
    return absl::FailedPreconditionError(
        absl::StrCat(request_.only->id(), " cannot run this: ", fit.reason));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(request_.only->id(), " is no kernel of ", request_.op->name()));
}

std::optional<Selection> Selector::PickForced() {
  for (size_t i = 0; i < kernels().size(); ++i) {
    if (!kernels()[i]->forced()) continue;
    const Fit& fit = FitOf(i);
    if (fit.verdict == Verdict::kPassedOver) return Chosen(*kernels()[i], DecidedBy::kForce);
    PassOver(absl::StrCat("forced kernel ", kernels()[i]->id()), fit.reason);
  }
  return std::nullopt;
}

std::optional<Selection> Selector::PickChoice() {
  if (request_.choice == nullptr) return std::nullopt;
  const Choice& choice = *request_.choice;
  const std::string what = absl::StrCat("profile kernel ", choice.kernel);
  const Kernel* kernel = registry_.FindKernel(choice.kernel);
  if (kernel == nullptr || &kernel->op() != request_.op) {
    PassOver(what, absl::StrCat(request_.op->name(), " has no such kernel here"));
    return std::nullopt;
  }
  const auto at = std::find(kernels().begin(), kernels().end(), kernel);
  const Fit& fit = FitOf(static_cast<size_t>(at - kernels().begin()));
  if (fit.verdict != Verdict::kPassedOver) {
    PassOver(what, fit.reason);
    return std::nullopt;
  }
  Selection selection = Chosen(*kernel, DecidedBy::kProfile);
  selection.tier = choice.tier;
  return selection;
}

std::optional<Selection> Selector::PickByPriority() {
  for (size_t i = 0; i < kernels().size(); ++i) {
    if (FitOf(i).verdict == Verdict::kPassedOver)
      return Chosen(*kernels()[i], unpack_ ? DecidedBy::kUnpacked : DecidedBy::kPriority);
  }
  return std::nullopt;
}

// The weights are packed in a way that no kernel here takes; their canonical bytes can be had.
Selection Selector::PickUnpacked() {
  unpack_ = true;
  for (size_t i = 0; i < fits_.size(); ++i) {
    if (fits_[i]->verdict == Verdict::kLayout) fits_[i].reset();
  }
  std::optional<Selection> picked = PickByPriority();
  if (picked.has_value()) return *std::move(picked);
  Selection reference = SelectReference(*request_.op, request_.args, request_.target.workers);
  reference.decided_by = DecidedBy::kUnpacked;
  return reference;
}

void Selector::Explain(const Selection& selection, Explanation* out) {
  out->decision = DecisionText(selection);
  out->notes = notes_;
  for (size_t i = 0; i < kernels().size(); ++i) {
    const IsaMask missing = CannotBeAsked(*kernels()[i]);
    if (FitOf(i).verdict == Verdict::kPassedOver && missing != IsaMask{}) {
      out->notes.push_back(absl::StrCat(
          kernels()[i]->id(), " could not be asked whether it takes the call: this machine lacks ",
          absl::StrJoin(IsaNames(missing), ", ")));
    }
    Candidate candidate{kernels()[i], FitOf(i).verdict, FitOf(i).reason};
    if (candidate.kernel == selection.kernel) {
      candidate.verdict = Verdict::kChosen;
      candidate.reason = out->decision;
    } else if (candidate.verdict == Verdict::kPassedOver) {
      candidate.reason = PassedOverText(*candidate.kernel, selection);
    }
    out->candidates.push_back(std::move(candidate));
  }
}

}  // namespace

hy_kernel_target MakeTarget(const IsaMask& isa, uint32_t workers, uint32_t vector_bytes) {
  hy_kernel_target target{};
  target.struct_size = sizeof target;
  target.workers = workers;
  target.isa[0] = isa[0];
  target.isa[1] = isa[1];
  target.vector_bytes = vector_bytes;
  return target;
}

hy_kernel_target TargetOf(const hal::Team& team) {
  return MakeTarget(team.isa(), team.size(), LiveVectorBytes());
}

absl::Status Validate(const Op& op, const void* args) {
  hy_why why{};
  const hy_status status = op.desc().validate(args, &why);
  if (status == HY_OK) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(op.name(), ": ", why.text));
}

Selection SelectReference(const Op& op, const void* args, uint32_t workers) {
  Selection selection;
  selection.kernel = &op.reference();
  selection.scratch_bytes = ScratchBytes(op.reference(), args, workers);
  return selection;
}

absl::StatusOr<Selection> SelectChecked(const Registry& registry, const Request& request,
                                        Explanation* explanation) {
  Selector selector(registry, request, explanation != nullptr);
  absl::StatusOr<Selection> selection = selector.Pick();
  if (selection.ok() && explanation != nullptr) selector.Explain(*selection, explanation);
  return selection;
}

absl::StatusOr<Selection> Select(const Registry& registry, const Request& request,
                                 Explanation* explanation) {
  const absl::Status valid = Validate(*request.op, request.args);
  if (!valid.ok()) return valid;
  return SelectChecked(registry, request, explanation);
}

}  // namespace halyard::registry
