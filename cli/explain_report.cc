// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/cpu_features.h"
#include "cli/command.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

using nlohmann::json;
using registry::Candidate;
using registry::Kernel;
using registry::Op;
using registry::Registry;

constexpr const char* kActivations[HY_QA_COUNT] = {"any",      "none",      "block32",
                                                   "block256", "token_sym", "token_asym"};

IsaMask MaskOf(const uint64_t isa[2]) { return {isa[0], isa[1]}; }

std::vector<std::string> ParamTexts(const registry::Selection& selection) {
  std::vector<std::string> texts;
  const hy_kernel_desc& desc = selection.kernel->desc();
  for (uint32_t i = 0; i < desc.param_count; ++i)
    texts.push_back(absl::StrCat(desc.params[i].name, "=", selection.params[i]));
  return texts;
}

size_t WidestId(absl::Span<const Kernel* const> kernels) {
  size_t widest = 8;
  for (const Kernel* kernel : kernels) widest = std::max(widest, kernel->id().size());
  return widest;
}

std::string ChosenText(const Registry& registry, const Explained& explained) {
  const registry::Selection& selection = explained.selection;
  std::string text = absl::StrFormat("chosen  %s\n        %s\n", selection.kernel->id(),
                                     explained.explanation.decision);
  if (selection.layout != HY_LAYOUT_CANONICAL)
    absl::StrAppend(&text, "        weights packed as ", registry.LayoutName(selection.layout),
                    "\n");
  if (selection.scratch_bytes > 0)
    absl::StrAppend(&text, "        scratch ", HumanBytes(selection.scratch_bytes), "\n");
  const std::vector<std::string> params = ParamTexts(selection);
  if (!params.empty()) absl::StrAppend(&text, "        ", absl::StrJoin(params, " "), "\n");
  for (const std::string& note : explained.explanation.notes)
    absl::StrAppend(&text, "note    ", note, "\n");
  return text;
}

/// What somebody looks for first: the chosen one, those that were set aside, then by how near a kernel
/// came. Kernels for other types, which are the most, are last.
std::vector<Candidate> NearestFirst(std::vector<Candidate> candidates) {
  using registry::Verdict;
  static constexpr Verdict kOrder[] = {
      Verdict::kChosen,     Verdict::kQuarantined, Verdict::kDeclined, Verdict::kDisabled,
      Verdict::kPassedOver, Verdict::kPredicate,   Verdict::kLayout,   Verdict::kActivation,
      Verdict::kIsa,        Verdict::kTypes};
  const auto place = [](const Candidate& candidate) {
    return std::find(std::begin(kOrder), std::end(kOrder), candidate.verdict);
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return place(a) < place(b); });
  return candidates;
}

json CandidateJson(const Candidate& candidate) {
  const hy_kernel_desc& desc = candidate.kernel->desc();
  return {{"kernel", desc.id},
          {"verdict", std::string(VerdictName(candidate.verdict))},
          {"reason", candidate.reason},
          {"priority", desc.priority},
          {"isa", IsaNames(MaskOf(desc.isa))},
          {"activation", kActivations[desc.activation]},
          {"provider", candidate.kernel->source().provider},
          {"origin", candidate.kernel->source().origin}};
}

json PlacementJson(const registry::CallPlan& plan) {
  return {{"staged_bytes", plan.staged_bytes()},
          {"kept_bytes", plan.shadow_bytes()},
          {"staging_bytes", plan.staging_bytes},
          {"pieces", plan.runs()},
          {"above_limit", plan.above_limit}};
}

std::string TypedNames(const Op& op) {
  std::vector<std::string> names;
  for (const uint32_t operand : op.typed()) names.emplace_back(op.operands()[operand].name);
  return absl::StrJoin(names, ",");
}

struct Provider {
  std::string origin;
  uint64_t kernels = 0;
  std::vector<std::string> refused;
};

std::map<std::string, Provider> Providers(const Registry& registry) {
  std::map<std::string, Provider> providers;
  const auto of = [&providers](const registry::Source& source) -> Provider& {
    Provider& provider = providers[absl::StrCat(source.provider, " ", source.origin)];
    provider.origin = source.origin;
    return provider;
  };
  for (const Kernel* kernel : registry.kernels()) ++of(kernel->source()).kernels;
  for (const registry::Refusal& refusal : registry.refusals())
    of(refusal.source).refused.push_back(absl::StrCat(refusal.what, " ", refusal.reason));
  return providers;
}

}  // namespace

std::string ExplainText(const Registry& registry, const Explained& explained) {
  std::string text = absl::StrFormat(
      "%s\n        on %d workers of %s with %s\n        %s at least, %.4g Mop: %.3g op/byte\n",
      explained.case_text, explained.target.workers, explained.where,
      absl::StrJoin(IsaNames(MaskOf(explained.target.isa)), " "), HumanBytes(explained.bytes),
      static_cast<double>(explained.flops) / 1e6,
      explained.bytes == 0
          ? 0.0
          : static_cast<double>(explained.flops) / static_cast<double>(explained.bytes));
  absl::StrAppend(&text, ChosenText(registry, explained), "\n");
  const int width = static_cast<int>(WidestId(explained.selection.kernel->op().kernels()));
  absl::StrAppendFormat(&text, "%-*s  %8s  %-11s  %s\n", width, "kernel", "priority", "verdict",
                        "reason");
  for (const Candidate& candidate : NearestFirst(explained.explanation.candidates)) {
    absl::StrAppendFormat(&text, "%-*s  %8d  %-11s  %s\n", width, candidate.kernel->id(),
                          candidate.kernel->desc().priority, VerdictName(candidate.verdict),
                          candidate.reason);
  }
  if (explained.placement.has_value()) {
    absl::StrAppend(&text, "\n",
                    registry::PlacementText({{explained.explanation.candidates[0].kernel->desc().op,
                                              *explained.placement}}));
  }
  return text;
}

json ExplainJson(const Registry& registry, const Explained& explained) {
  const registry::Selection& selection = explained.selection;
  json candidates = json::array();
  for (const Candidate& candidate : explained.explanation.candidates)
    candidates.push_back(CandidateJson(candidate));
  json params = json::object();
  for (uint32_t i = 0; i < selection.kernel->desc().param_count; ++i)
    params[selection.kernel->desc().params[i].name] = selection.params[i];
  json document = {{"case", explained.case_text},
                   {"op", std::string(selection.kernel->op().name())},
                   {"workers", explained.target.workers},
                   {"isa", IsaNames(MaskOf(explained.target.isa))},
                   {"vector_bytes", explained.target.vector_bytes},
                   {"bytes", explained.bytes},
                   {"flops", explained.flops},
                   {"chosen", std::string(selection.kernel->id())},
                   {"decision", explained.explanation.decision},
                   {"layout", registry.LayoutName(selection.layout)},
                   {"scratch_bytes", selection.scratch_bytes},
                   {"params", params},
                   {"notes", explained.explanation.notes},
                   {"candidates", candidates}};
  if (explained.placement.has_value()) document["placement"] = PlacementJson(*explained.placement);
  return document;
}

std::string OpsText(const Registry& registry) {
  std::string text = absl::StrFormat("%-16s %7s  %s\n", "op", "kernels", "types of");
  for (const Op* op : registry.ops()) {
    absl::StrAppendFormat(&text, "%-16s %7d  %s\n", op->name(), op->kernels().size(),
                          TypedNames(*op));
  }
  return absl::StrCat(text, "\n", ProvidersText(registry));
}

json OpsJson(const Registry& registry) {
  json ops = json::array();
  for (const Op* op : registry.ops()) {
    json kernels = json::array();
    for (const Kernel* kernel : op->kernels()) kernels.push_back(kernel->desc().id);
    ops.push_back({{"op", op->desc().name},
                   {"version", op->desc().version},
                   {"types_of", TypedNames(*op)},
                   {"kernels", kernels}});
  }
  return {{"ops", ops}, {"providers", ProvidersJson(registry)}};
}

std::string KernelsText(const Op& op) {
  const int width = static_cast<int>(WidestId(op.kernels()));
  std::string text =
      absl::StrFormat("%-*s  %8s  %-9s  %s\n", width, "kernel", "priority", "class", "needs");
  for (const Kernel* kernel : op.kernels()) {
    absl::StrAppendFormat(&text, "%-*s  %8d  %-9s  %s\n", width, kernel->id(),
                          kernel->desc().priority, kActivations[kernel->desc().activation],
                          absl::StrJoin(IsaNames(MaskOf(kernel->desc().isa)), " "));
  }
  return text;
}

std::string ProvidersText(const Registry& registry) {
  std::string text = absl::StrFormat("Kernels\n  %d ops, %d packed layouts\n",
                                     registry.ops().size(), registry.layouts().size());
  for (const auto& [key, provider] : Providers(registry)) {
    absl::StrAppendFormat(&text, "  %-16s %4d kernels, %s\n", key.substr(0, key.find(' ')),
                          provider.kernels, provider.origin);
    for (const std::string& refused : provider.refused)
      absl::StrAppend(&text, "  refused: ", refused, "\n");
  }
  return text;
}

json ProvidersJson(const Registry& registry) {
  json list = json::array();
  for (const auto& [key, provider] : Providers(registry)) {
    list.push_back({{"provider", key.substr(0, key.find(' '))},
                    {"origin", provider.origin},
                    {"kernels", provider.kernels},
                    {"refused", provider.refused}});
  }
  return list;
}

}  // namespace halyard::cli
