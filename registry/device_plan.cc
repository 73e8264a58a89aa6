// SPDX-License-Identifier: Apache-2.0
#include "registry/device_plan.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "registry/select.h"

namespace halyard::registry {
namespace {

constexpr uint32_t kAllOperands = UINT32_MAX;
constexpr uint64_t kPadding = 128;  // to begin as far off a line as in the buffer, and end on one

bool IsHostVisible(const hal::Device& device, const hal::Buffer& buffer) {
  if (buffer.shares_host_memory()) return true;
  for (const hy_memory_class& memory : device.memory_classes()) {
    if (memory.id == buffer.memory_class()) return (memory.flags & HY_MEMORY_HOST_VISIBLE) != 0;
  }
  return false;
}

std::vector<WindowPlan> Ways(const Registry& registry, const hal::Device& device,
                             const PlacedCall& call, const StagingLimits& limits) {
  std::vector<WindowPlan> plans;
  for (Window& window : WindowsOf(registry, call, kAllOperands)) {
    WindowPlan plan;
    if (IsHostVisible(device, *window.buffer)) {
      plan.way = Way::kView;
    } else if (window.constant && window.bytes() <= limits.shadow_bytes) {
      plan.way = Way::kShadow;
    } else {
      plan.bytes_in = window.discards ? 0 : window.bytes();
      plan.bytes_out = window.writes ? window.bytes() : 0;
    }
    plan.window = std::move(window);
    plans.push_back(std::move(plan));
  }
  return plans;
}

// What cutting along one group would give; nothing if no piece fits.
std::optional<CallPlan> Cut(const PlacedCall& call, const CallPlan& whole, uint32_t group,
                            uint64_t limit) {
  CallPlan plan = whole;
  plan.group = group;
  plan.pieces = PiecesOf(call, group);
  if (plan.pieces < 2) return std::nullopt;
  uint64_t fixed = 0;
  uint64_t piece = 0;
  for (WindowPlan& entry : plan.windows) {
    if (entry.way != Way::kStaged) continue;
    const std::vector<uint32_t>& operands = entry.window.operands;
    entry.in_pieces = std::all_of(operands.begin(), operands.end(), [&](uint32_t operand) {
      return IsCutOutermost(call, group, operand);
    });
    const auto pieces = static_cast<uint64_t>(plan.pieces);
    if (entry.in_pieces) {
      piece += (entry.window.bytes() + pieces - 1) / pieces;
      fixed += kPadding;
    } else {
      fixed += PaddedBytes(entry.window);
    }
  }
  if (piece == 0 || fixed + piece > limit) return std::nullopt;
  plan.pieces_at_once = std::min(plan.pieces, static_cast<int64_t>((limit - fixed) / piece));
  plan.staging_bytes = fixed + piece * static_cast<uint64_t>(plan.pieces_at_once);
  // A group is for shapes that the contract takes in pieces; whether it does here is asked.
  PlacedCall first = SliceOf(call, group, 0, plan.pieces_at_once);
  for (size_t i = 0; i < first.places.size(); ++i) first.args.tensor(i).data = nullptr;
  if (!Validate(*call.op, first.args.data()).ok()) return std::nullopt;
  return plan;
}

std::string OperandNames(const CallPlan& plan, const Window& window) {
  std::vector<absl::string_view> names;
  for (const uint32_t operand : window.operands)
    names.emplace_back(plan.op->operands()[operand].name);
  return absl::StrJoin(names, "+");
}

std::string WayText(const WindowPlan& plan) {
  switch (plan.way) {
    case Way::kView:
      return "host view";
    case Way::kShadow:
      return "kept on the host, copied once";
    case Way::kStaged:
      return plan.in_pieces ? "staged in pieces" : "staged";
  }
  return "";
}

}  // namespace

uint64_t PaddedBytes(const Window& window) {
  return hy_round_up(window.begin % 64 + window.bytes(), 64);
}

uint64_t CallPlan::staged_bytes() const {
  uint64_t bytes = 0;
  for (const WindowPlan& plan : windows) bytes += plan.bytes_in + plan.bytes_out;
  return bytes;
}

uint64_t CallPlan::shadow_bytes() const {
  uint64_t bytes = 0;
  for (const WindowPlan& plan : windows)
    bytes += plan.way == Way::kShadow ? plan.window.bytes() : 0;
  return bytes;
}

CallPlan PlanCall(const Registry& registry, const hal::Device& device, const PlacedCall& call,
                  const StagingLimits& limits) {
  CallPlan whole;
  whole.op = call.op;
  whole.windows = Ways(registry, device, call, limits);
  for (const WindowPlan& plan : whole.windows)
    whole.staging_bytes += plan.way == Way::kStaged ? PaddedBytes(plan.window) : 0;
  if (whole.staging_bytes <= limits.staging_bytes) return whole;
  std::optional<CallPlan> best;
  for (uint32_t group = 0; group < HY_SLICE_GROUPS; ++group) {
    std::optional<CallPlan> plan = Cut(call, whole, group, limits.staging_bytes);
    if (plan.has_value() && (!best.has_value() || plan->runs() < best->runs()))
      best = std::move(plan);
  }
  if (best.has_value()) return *std::move(best);
  whole.above_limit = true;
  return whole;
}

std::string PlacementText(absl::Span<const std::pair<std::string, CallPlan>> calls) {
  std::string text = absl::StrFormat("%-28s %-12s %14s  %-30s %12s %12s\n", "call", "operand",
                                     "bytes", "way", "in per run", "out per run");
  uint64_t staged = 0;
  uint64_t kept = 0;
  for (const auto& [name, plan] : calls) {
    staged += plan.staged_bytes();
    kept += plan.shadow_bytes();
    for (const WindowPlan& entry : plan.windows) {
      absl::StrAppendFormat(&text, "%-28s %-12s %14d  %-30s %12d %12d\n", name,
                            OperandNames(plan, entry.window), entry.window.bytes(), WayText(entry),
                            entry.bytes_in, entry.bytes_out);
    }
    if (plan.runs() > 1)
      absl::StrAppendFormat(&text, "%-28s in %d pieces, to stay within staging\n", "", plan.runs());
    if (plan.above_limit)
      absl::StrAppendFormat(&text, "%-28s stages %d bytes at once, above the limit\n", "",
                            plan.staging_bytes);
  }
  absl::StrAppendFormat(&text, "moved in each run: %d bytes; kept on the host: %d bytes\n", staged,
                        kept);
  return text;
}

}  // namespace halyard::registry
