// SPDX-License-Identifier: Apache-2.0
#include "registry/device_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "base/status_macros.h"
#include "registry/select.h"

namespace halyard::registry {
namespace {

// The contract without data: shapes, types, strides. Overlaps are looked at once there is memory.
absl::Status ValidateForm(const PlacedCall& call) {
  ArgsCopy form = call.args;
  for (size_t i = 0; i < call.places.size(); ++i) form.tensor(i).data = nullptr;
  return Validate(*call.op, form.data());
}

absl::Status CheckRanges(const Registry& registry, const PlacedCall& call) {
  for (const Window& window : WindowsOf(registry, call, UINT32_MAX)) {
    if (window.begin <= window.end && window.end <= window.buffer->size_bytes()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        call.op->name(), ": ", call.op->operands()[window.operands[0]].name, " needs bytes ",
        window.begin, " to ", window.end, " of a buffer of ", window.buffer->size_bytes()));
  }
  return absl::OkStatus();
}

// As far off a line as in the buffer, so that all its operands keep their alignment.
unsigned char* HostOf(const Window& window, unsigned char* line) {
  return line + window.begin % AlignedBlock::kAlignment;
}

bool IsAboutData(const absl::Status& status) {
  return absl::IsOutOfRange(status) || absl::IsInvalidArgument(status);
}

}  // namespace

DeviceRunner::DeviceRunner(const Registry* registry, const hal::Device* device,
                           const hal::Team* team, const DeviceOptions& options)
    : registry_(registry),
      device_(device),
      limits_(options.limits),
      runner_(registry, team, options.run) {}

absl::StatusOr<CallPlan> DeviceRunner::Explain(const Op& op, const void* args,
                                               absl::Span<const Place> places) const {
  const PlacedCall call(op, args, places);
  HY_RETURN_IF_ERROR(ValidateForm(call));
  HY_RETURN_IF_ERROR(CheckRanges(*registry_, call));
  return PlanCall(*registry_, *device_, call, limits_);
}

absl::Status DeviceRunner::Run(const Op& op, const void* args, absl::Span<const Place> places) {
  const PlacedCall call(op, args, places);
  HY_RETURN_IF_ERROR(ValidateForm(call));
  HY_RETURN_IF_ERROR(CheckRanges(*registry_, call));
  const CallPlan plan = PlanCall(*registry_, *device_, call, limits_);
  const absl::Status status = RunPlanned(plan, call);
  staging_used_ = 0;
  if (plan.above_limit) staging_ = AlignedBlock();
  ++counts_.calls;
  counts_.cut_calls += plan.runs() > 1 ? 1u : 0u;
  counts_.calls_above_limit += plan.above_limit ? 1u : 0u;
  return status;
}

absl::Status DeviceRunner::RunPlanned(const CallPlan& plan, const PlacedCall& call) {
  HY_RETURN_IF_ERROR(staging_.Reserve(plan.staging_bytes));
  HY_ASSIGN_OR_RETURN(const Selection selection, SelectForWhole(call));
  HostWindows whole;
  whole.reserve(plan.windows.size());
  for (const WindowPlan& window : plan.windows) {
    if (!window.in_pieces) HY_RETURN_IF_ERROR(Open(window, window.window, &whole));
  }
  const uint64_t used_by_whole = staging_used_;
  absl::Status about_data;
  for (int64_t begin = 0; begin < plan.pieces; begin += plan.pieces_at_once) {
    const int64_t end = std::min(plan.pieces, begin + plan.pieces_at_once);
    staging_used_ = used_by_whole;
    const absl::Status status =
        plan.pieces_at_once == plan.pieces
            ? RunPiece(plan, *selection.kernel, call, whole)
            : RunPiece(plan, *selection.kernel, SliceOf(call, plan.group, begin, end), whole);
    if (!status.ok() && !IsAboutData(status)) return status;
    if (about_data.ok()) about_data = status;
  }
  HY_RETURN_IF_ERROR(Close(&whole));
  return about_data;
}

absl::StatusOr<Selection> DeviceRunner::SelectForWhole(const PlacedCall& call) const {
  ArgsCopy form = call.args;
  for (size_t i = 0; i < call.places.size(); ++i) form.tensor(i).data = nullptr;
  return SelectChecked(*registry_, runner_.RequestFor(*call.op, form.data()));
}

// All pieces on one kernel, where it can: then the result does not depend on how a call is cut.
absl::Status DeviceRunner::RunOn(const Kernel& kernel, const void* args) {
  HY_RETURN_IF_ERROR(Validate(kernel.op(), args));
  Request request = runner_.RequestFor(kernel.op(), args);
  request.only = &kernel;
  const absl::StatusOr<Selection> selection = SelectChecked(*registry_, request);
  return selection.ok() ? runner_.Run(*selection, args) : runner_.Run(kernel.op(), args);
}

absl::Status DeviceRunner::RunPiece(const CallPlan& plan, const Kernel& kernel,
                                    const PlacedCall& piece, const HostWindows& whole) {
  HostWindows own;
  for (const WindowPlan& entry : plan.windows) {
    if (!entry.in_pieces) continue;
    uint32_t operands = 0;
    for (const uint32_t operand : entry.window.operands) operands |= 1u << operand;
    for (const Window& window : WindowsOf(*registry_, piece, operands))
      HY_RETURN_IF_ERROR(Open(entry, window, &own));
  }
  ArgsCopy args = piece.args;
  for (const HostWindows* windows : {&whole, static_cast<const HostWindows*>(&own)}) {
    for (const HostWindow& entry : *windows) {
      for (const uint32_t operand : entry.window.operands) {
        args.tensor(operand).data =
            entry.host + (piece.places[operand].offset - entry.window.begin);
      }
    }
  }
  const absl::Status status = RunOn(kernel, args.data());
  if (!status.ok() && !IsAboutData(status)) return status;
  HY_RETURN_IF_ERROR(Close(&own));
  return status;
}

absl::Status DeviceRunner::Open(const WindowPlan& plan, const Window& window,
                                HostWindows* windows) {
  HostWindow entry{&plan, window, nullptr, std::nullopt};
  if (plan.way == Way::kShadow) {
    HY_ASSIGN_OR_RETURN(entry.host, Shadow(window));
  } else if (plan.way == Way::kStaged) {
    HY_ASSIGN_OR_RETURN(entry.host, Stage(window));
  } else {
    uint64_t access = window.writes ? HY_MAP_WRITE : 0;
    if (!window.discards) access |= HY_MAP_READ;
    if (window.discards) access |= HY_MAP_DISCARD;
    HY_ASSIGN_OR_RETURN(hal::Mapping mapping,
                        window.buffer->Map(window.begin, window.bytes(), access));
    entry.host = static_cast<unsigned char*>(mapping.data());
    entry.mapping.emplace(std::move(mapping));
  }
  windows->push_back(std::move(entry));
  return absl::OkStatus();
}

absl::StatusOr<unsigned char*> DeviceRunner::Shadow(const Window& window) {
  std::unique_ptr<AlignedBlock>& shadow =
      shadows_[{window.buffer->id(), {window.begin, window.end}}];
  if (shadow != nullptr) return HostOf(window, shadow->data());
  auto made = std::make_unique<AlignedBlock>();
  HY_RETURN_IF_ERROR(made->Reserve(PaddedBytes(window)));
  unsigned char* host = HostOf(window, made->data());
  HY_RETURN_IF_ERROR(
      window.buffer->Read(window.begin, absl::MakeSpan(host, static_cast<size_t>(window.bytes()))));
  counts_.shadow_bytes += made->bytes();
  shadow = std::move(made);
  return host;
}

absl::StatusOr<unsigned char*> DeviceRunner::Stage(const Window& window) {
  if (staging_used_ + PaddedBytes(window) > staging_.bytes())
    return absl::InternalError("staging was planned too small");
  unsigned char* host = HostOf(window, staging_.data() + staging_used_);
  staging_used_ += PaddedBytes(window);
  if (window.discards) return host;
  HY_RETURN_IF_ERROR(
      window.buffer->Read(window.begin, absl::MakeSpan(host, static_cast<size_t>(window.bytes()))));
  counts_.bytes_in += window.bytes();
  return host;
}

// Writes back, in the order in which it was opened.
absl::Status DeviceRunner::Close(HostWindows* windows) {
  for (HostWindow& entry : *windows) {
    if (entry.mapping.has_value()) {
      HY_RETURN_IF_ERROR(entry.mapping->Unmap());
    } else if (entry.plan->way == Way::kStaged && entry.window.writes) {
      HY_RETURN_IF_ERROR(entry.window.buffer->Write(
          entry.window.begin,
          absl::MakeConstSpan(entry.host, static_cast<size_t>(entry.window.bytes()))));
      counts_.bytes_out += entry.window.bytes();
    }
  }
  return absl::OkStatus();
}

void DeviceRunner::Forget(const hal::Buffer& buffer) {
  for (auto shadow = shadows_.begin(); shadow != shadows_.end();) {
    if (shadow->first.first != buffer.id()) {
      ++shadow;
      continue;
    }
    counts_.shadow_bytes -= shadow->second->bytes();
    shadow = shadows_.erase(shadow);
  }
}

}  // namespace halyard::registry
