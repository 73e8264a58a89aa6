// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "conformance/golden/golden_facts.h"
#include "conformance/ops/coverage.h"
#include "conformance/report/areas.h"
#include "conformance/report/report.h"
#include "conformance/waivers.h"

namespace halyard::conformance {
namespace {

std::string Indented(absl::string_view text, absl::string_view indent) {
  return absl::StrCat(indent, absl::StrReplaceAll(text, {{"\n", absl::StrCat("\n", indent)}}),
                      "\n");
}

std::string OneFailure(const RunResult& result, const CaseResult& one) {
  std::string text = absl::StrCat(VerdictName(one.verdict), "  ", one.id, "\n");
  absl::StrAppend(&text, Indented(one.title, "  "));
  absl::StrAppend(&text, Indented(one.reason, "  "));
  for (const Finding& finding : one.findings) {
    const std::string place =
        finding.file.empty() ? "" : absl::StrCat(finding.file, ":", finding.line, ": ");
    // The reason is the first finding; of that only the place is news.
    if (finding.message == one.reason) {
      if (!place.empty()) absl::StrAppend(&text, "    at ", finding.file, ":", finding.line, "\n");
    } else {
      absl::StrAppend(&text, Indented(place + finding.message, "    "));
    }
  }
  return absl::StrCat(text, "  replay: ", ReplayLine(result, one), "\n\n");
}

// Reasons with the number of cases that give them.
std::string Counts(const RunResult& result, absl::string_view title, bool (*chosen)(Verdict)) {
  const std::vector<ReasonCount> reasons = ReasonsOf(result, chosen);
  if (reasons.empty()) return "";
  std::string text = absl::StrCat(title, "\n");
  for (const ReasonCount& one : reasons) {
    absl::StrAppend(&text, absl::StrFormat("  %3u  ", one.count), one.reason, " (", one.first->duty,
                    one.count > 1 ? ", ..." : "", ")\n");
  }
  return text + "\n";
}

std::string WeakCounts(const RunResult& result) {
  if (result.level == "L0") return "";  // there each is listed as what does not hold
  return Counts(result, "Weak, so that they count for nothing:", [](Verdict verdict) {
    return verdict == Verdict::kWeak;
  });
}

std::string UnshownText(const RunResult& result) {
  std::string text;
  for (const std::string& line : Unshown(result)) {
    absl::StrAppend(&text, "nothing is shown of  ", line, "\n");
  }
  return text.empty() ? "" : text + "\n";
}

std::string WaiverText(const RunResult& result) {
  std::string text;
  for (const std::string& line : WaiverTroubles(result)) {
    absl::StrAppend(&text, "waiver  ", line, "\n");
  }
  return text.empty() ? "" : text + "\n";
}

std::string VerboseLine(const CaseResult& one) {
  std::string text =
      absl::StrCat(absl::StrFormat("%-6s %7.3f s  ", VerdictName(one.verdict), one.seconds), one.id,
                   one.reason.empty() ? "" : "  -- ", one.reason, "\n");
  for (const auto& [name, value] : one.facts) {
    absl::StrAppend(&text, "                  ", name, " = ", value, "\n");
  }
  return text;
}

// Of a run of selftest: how many of the deliberate faults were found.
std::string ScoreText(const RunResult& result) {
  static constexpr std::pair<const char*, const char*> kScores[] = {
      {"mutants_killed", "broken kernels and machines"},
      {"reserve_mutants_killed", "reserves"},
      {"graph_mutants_killed", "broken sequences"}};
  std::string text;
  for (const auto& [fact, words] : kScores) {
    const std::string score = result.Fact(fact);
    if (score.empty() || score == "0/0") continue;
    absl::StrAppend(&text, text.empty() ? "Deliberate faults found: " : ", ", score, " ", words);
  }
  return text.empty() ? text : absl::StrCat(text, "\n\n");
}

}  // namespace

std::string ToText(const RunResult& result, bool verbose) {
  std::string text;
  for (const CaseResult& one : result.cases) {
    const bool weak_fails = result.level == "L0" && one.verdict == Verdict::kWeak;
    if (CountsAsFailed(one.verdict) || weak_fails) {
      absl::StrAppend(&text, OneFailure(result, one));
    } else if (one.verdict == Verdict::kWaived) {
      absl::StrAppend(&text, "waived  ", one.id, "\n", Indented(one.reason, "  "), "\n");
    } else if (verbose) {
      absl::StrAppend(&text, VerboseLine(one));
    }
  }
  if (verbose && !result.cases.empty()) text += "\n";
  absl::StrAppend(&text, WeakCounts(result),
                  Counts(result, "Skipped, because it cannot be told here:", &CountsAsSkipped),
                  UnshownText(result), WaiverText(result), GoldenText(result), ScoreText(result));
  absl::StrAppend(&text, result.level, " ", result.port, ": ", SummaryText(result.Summarise()));
  if (result.shards > 1) absl::StrAppend(&text, ", shard ", result.shard, " of ", result.shards);
  absl::StrAppend(&text, absl::StrFormat(", %.1f s\n", result.seconds));
  return text;
}

}  // namespace halyard::conformance
