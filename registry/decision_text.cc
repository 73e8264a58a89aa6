// SPDX-License-Identifier: Apache-2.0
#include "registry/decision_text.h"

#include "absl/strings/str_cat.h"

namespace halyard::registry {
namespace {

absl::string_view Rank(int32_t priority) {
  if (priority >= HY_PRIORITY_VENDOR) return "vendor";
  if (priority >= HY_PRIORITY_ISA) return "isa";
  return priority >= HY_PRIORITY_GENERIC ? "generic" : "reference";
}

}  // namespace

std::string DecisionText(const Selection& selection) {
  const int32_t priority = selection.kernel->desc().priority;
  switch (selection.decided_by) {
    case DecidedBy::kForce:
      return "forced by HALYARD_FORCE_KERNEL";
    case DecidedBy::kProfile:
      return absl::StrCat("chosen by the profile",
                          selection.tier.empty() ? "" : absl::StrCat(" (", selection.tier, ")"));
    case DecidedBy::kPriority:
      return absl::StrCat("the highest priority that can run it: ", priority, " (", Rank(priority),
                          ")");
    case DecidedBy::kUnpacked:
      return absl::StrCat(
          "no kernel takes these packed weights; with canonical ones the highest "
          "priority is ",
          priority, " (", Rank(priority), ")");
    case DecidedBy::kOnly:
      return "asked for by its id";
  }
  return "";
}

std::string PassedOverText(const Kernel& loser, const Selection& winner) {
  const absl::string_view id = winner.kernel->id();
  if (winner.decided_by == DecidedBy::kForce) return absl::StrCat("could run; ", id, " is forced");
  if (winner.decided_by == DecidedBy::kProfile)
    return absl::StrCat("could run; the profile chose ", id);
  if (winner.decided_by == DecidedBy::kOnly)
    return absl::StrCat("could run; ", id, " was asked for");
  if (loser.desc().priority == winner.kernel->desc().priority)
    return absl::StrCat("could run; same priority as ", id, ", which comes first by name");
  return absl::StrCat("could run; priority ", loser.desc().priority, " (",
                      Rank(loser.desc().priority), ") is below ", winner.kernel->desc().priority,
                      " of the chosen one");
}

absl::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kChosen:
      return "chosen";
    case Verdict::kDeclined:
      return "declined";
    case Verdict::kDisabled:
      return "disabled";
    case Verdict::kQuarantined:
      return "quarantined";
    case Verdict::kTypes:
      return "types";
    case Verdict::kIsa:
      return "isa";
    case Verdict::kActivation:
      return "activation";
    case Verdict::kLayout:
      return "layout";
    case Verdict::kPredicate:
      return "predicate";
    case Verdict::kPassedOver:
      return "passed over";
  }
  return "";
}

}  // namespace halyard::registry
