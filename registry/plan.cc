// SPDX-License-Identifier: Apache-2.0
#include "registry/plan.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/c_status.h"
#include "base/status_macros.h"
#include "registry/fit.h"

namespace halyard::registry {
namespace {

std::string StepName(size_t number, const Op& op) {
  return absl::StrCat("step ", number, " (", op.name(), ")");
}

// Shapes may shrink; what kind of tensor an operand is may not change.
absl::Status CheckWithin(const Op& op, const ArgsCopy& declared, const ArgsCopy& live) {
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const hy_tensor& most = declared.tensor(i);
    const hy_tensor& now = live.tensor(i);
    bool within = most.type == now.type && most.rank == now.rank;
    for (uint32_t axis = 0; within && axis < now.rank; ++axis)
      within = now.shape[axis] <= most.shape[axis];
    if (within) continue;
    return absl::InvalidArgumentError(absl::StrCat(op.operands()[i].name, " is ", TensorText(now),
                                                   ", beyond the ", TensorText(most),
                                                   " that it was added with"));
  }
  return absl::OkStatus();
}

// Gives `to` the memory of `from` and says whether that is other memory than it had.
bool TakeMemory(const Op& op, const ArgsCopy& from, ArgsCopy* to) {
  bool other = false;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const hy_tensor& source = from.tensor(i);
    hy_tensor& target = to->tensor(i);
    other = other || target.data != source.data || target.layout != source.layout ||
            std::memcmp(target.stride, source.stride, sizeof target.stride) != 0;
    target.data = source.data;
    target.layout = source.layout;
    std::memcpy(target.stride, source.stride, sizeof target.stride);
  }
  return other;
}

bool HasMemory(const Op& op, const ArgsCopy& args) {
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const hy_tensor& tensor = args.tensor(i);
    if (hy_tensor_present(&tensor) && tensor.data == nullptr && ExtentBytes(tensor) != 0)
      return false;
  }
  return true;
}

}  // namespace

Plan::Plan(const Registry* registry, const hal::Team* team, const RunOptions& options)
    : registry_(registry),
      team_(team),
      canonical_(options.canonical),
      runner_(registry, team, options),
      region_(team, options.wait.has_value() ? *options.wait : DefaultWaitPolicy(team->size())) {}

absl::StatusOr<uint32_t> Plan::Add(const Op& op, const void* args) {
  auto step = std::make_unique<Step>(op, args);
  absl::Status status = Validate(op, args);
  if (status.ok()) status = SelectFor(*step);
  if (!status.ok()) return WithContext(status, StepName(steps_.size(), op));
  steps_.push_back(std::move(step));
  committed_ = false;
  order_is_stale_ = true;
  return static_cast<uint32_t>(steps_.size() - 1);
}

void* Plan::args(uint32_t step) {
  steps_[step]->changed = true;
  committed_ = false;
  return steps_[step]->live.data();
}

absl::Status Plan::SelectFor(Step& step) {
  Request request = runner_.RequestFor(*step.op, step.live.data());
  request.without = step.declined;
  HY_ASSIGN_OR_RETURN(Selection selection, SelectChecked(*registry_, request));
  if (selection.kernel != step.selection.kernel || selection.layout != step.selection.layout ||
      selection.scratch_bytes > step.scratch_bytes) {
    region_is_stale_ = true;
  }
  step.selection = std::move(selection);
  return absl::OkStatus();
}

absl::Status Plan::Commit() {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!steps_[i]->changed) continue;
    const absl::Status status = TakeChange(*steps_[i]);
    if (!status.ok()) return WithContext(status, StepName(i, *steps_[i]->op));
  }
  HY_RETURN_IF_ERROR(Refresh());
  first_without_memory_ = 0;
  while (first_without_memory_ < steps_.size() && steps_[first_without_memory_]->has_memory)
    ++first_without_memory_;
  committed_ = true;
  return absl::OkStatus();
}

absl::Status Plan::Refresh() {
  epoch_ = registry_->quarantine_epoch();
  for (const auto& step : steps_) {
    const Kernel* kernel = step->selection.kernel;
    const bool declined =
        std::find(step->declined.begin(), step->declined.end(), kernel) != step->declined.end();
    if (kernel->quarantined() || declined) HY_RETURN_IF_ERROR(SelectFor(*step));
    step->settled = false;
  }
  return order_is_stale_ || region_is_stale_ ? Rebuild() : absl::OkStatus();
}

absl::Status Plan::TakeChange(Step& step) {
  HY_RETURN_IF_ERROR(Validate(*step.op, step.live.data()));
  HY_RETURN_IF_ERROR(CheckWithin(*step.op, step.declared, step.live));
  if (TakeMemory(*step.op, step.live, &step.declared)) order_is_stale_ = true;
  if (!(step.live == step.committed)) {
    step.declined.clear();
    HY_RETURN_IF_ERROR(SelectFor(step));
    step.committed.Assign(step.live.data());
    if (!order_is_stale_ && !region_is_stale_) {
      HY_RETURN_IF_ERROR(Adapt(step));
      for (Snapshot& snapshot : step.snapshots)
        snapshot = SnapshotOf(step.live.tensor(snapshot.operand), snapshot);
    }
  }
  step.has_memory = HasMemory(*step.op, step.live);
  step.changed = false;
  return absl::OkStatus();
}

absl::Status Plan::Adapt(Step& step) {
  const uint32_t packable = step.op->packable();
  if (packable == HY_ID_NONE) return absl::OkStatus();
  const hy_tensor& weights = step.live.tensor(packable);
  if (weights.layout == step.selection.layout || !hy_tensor_present(&weights) ||
      weights.data == nullptr) {
    step.adapted.reset();
    return absl::OkStatus();
  }
  HY_ASSIGN_OR_RETURN(const hy_tensor canonical, Canonical(weights));
  // The region points into it: it is only made anew when that is.
  if (!step.adapted.has_value()) step.adapted.emplace(*step.op, step.live.data());
  step.adapted->Assign(step.live.data());
  step.adapted->tensor(packable) = canonical;
  return absl::OkStatus();
}

absl::StatusOr<hy_tensor> Plan::Canonical(const hy_tensor& packed) {
  const Layout* layout = registry_->FindLayout(packed.layout);
  if (layout == nullptr) return UnknownLayout(*registry_, packed);
  if (canonical_ != nullptr) {
    absl::StatusOr<hy_tensor> kept = canonical_->Get(*layout, packed, *team_);
    if (!absl::IsNotFound(kept.status())) return kept;
  }
  absl::StatusOr<hy_tensor> own = unpacked_.Get(*layout, packed, *team_);
  if (!absl::IsNotFound(own.status())) return own;
  unpacked_.Keep(packed, hy_tensor_dense(nullptr, packed.type, packed.rank, packed.shape));
  return unpacked_.Get(*layout, packed, *team_);
}

absl::Status Plan::Rebuild() {
  if (order_is_stale_) {
    std::vector<Call> calls;
    for (const auto& step : steps_) calls.push_back({step->op, step->declared.data()});
    dependencies_ = FindDependencies(calls);
  }
  std::vector<ScheduleStep> needs;
  for (const auto& step : steps_) {
    const Kernel& kernel = *step->selection.kernel;
    const uint64_t most = ScratchBytes(kernel, step->declared.data(), team_->size());
    step->scratch_bytes = hy_round_up(std::max(step->selection.scratch_bytes, most), 64);
    step->snapshots = PlanSnapshots(kernel, step->declared.data());
    needs.push_back({kernel.desc().phases + (step->snapshots.empty() ? 0u : 1u),
                     step->scratch_bytes + SnapshotBytes(step->snapshots)});
    HY_RETURN_IF_ERROR(Adapt(*step));
  }
  schedule_ = MakeSchedule(needs, dependencies_);
  HY_RETURN_IF_ERROR(memory_.Reserve(schedule_.bytes));
  HY_RETURN_IF_ERROR(BuildRegion());
  order_is_stale_ = false;
  region_is_stale_ = false;
  return absl::OkStatus();
}

absl::Status Plan::BuildRegion() {
  std::vector<std::vector<Item>> levels(schedule_.levels);
  AddSteps(&levels);
  region_.Clear();
  for (const std::vector<Item>& level : levels) {
    for (const Item& item : level) region_.Add(item);
    region_.EndLevel();
  }
  kernels_.clear();
  for (const auto& step : steps_) {
    const auto found = std::find_if(kernels_.begin(), kernels_.end(), [&step](const auto& entry) {
      return entry.first == step->selection.kernel;
    });
    if (found == kernels_.end()) {
      kernels_.emplace_back(step->selection.kernel, 1);
    } else {
      ++found->second;
    }
  }
  return region_.Finish();
}

void Plan::AddSteps(std::vector<std::vector<Item>>* levels) {
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    Step& step = *steps_[i];
    const hy_kernel_desc& desc = step.selection.kernel->desc();
    unsigned char* memory = memory_.data() + schedule_.slots[i].offset;
    size_t level = schedule_.slots[i].first_level;
    PlaceSnapshots(memory + step.scratch_bytes, absl::MakeSpan(step.snapshots));
    for (Snapshot& snapshot : step.snapshots) {
      snapshot = SnapshotOf(step.live.tensor(snapshot.operand), snapshot);
      (*levels)[level].push_back(SnapshotItem(snapshot, i));
    }
    if (!step.snapshots.empty()) ++level;
    Item item;
    item.run = desc.run;
    item.args = step.adapted.has_value() ? step.adapted->data() : step.live.data();
    item.params = step.selection.params.data();
    item.scratch = memory;
    item.scratch_bytes = step.scratch_bytes;
    item.step = i;
    for (item.phase = 0; item.phase < desc.phases; ++item.phase) (*levels)[level++].push_back(item);
  }
}

std::string Plan::Describe() const {
  std::string text = absl::StrFormat("%d steps, %d barriers, %d bytes of scratch\n", steps_.size(),
                                     barriers(), scratch_bytes());
  for (size_t level = 0; level < schedule_.levels; ++level) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (schedule_.slots[i].first_level != level) continue;
      const Step& step = *steps_[i];
      absl::StrAppendFormat(&text, "  level %d  %s  %s%s\n", level, StepName(i, *step.op),
                            step.selection.kernel->id(),
                            step.snapshots.empty() ? "" : ", after a copy of its input");
    }
  }
  return text;
}

}  // namespace halyard::registry
