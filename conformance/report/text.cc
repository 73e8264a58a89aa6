// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "conformance/report/areas.h"
#include "conformance/report/report.h"

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

// Reasons with the number of cases that each has left out.
std::string Skips(const RunResult& result) {
  std::map<std::string, std::vector<const CaseResult*>> by_reason;
  for (const CaseResult& one : result.cases) {
    if (CountsAsSkipped(one.verdict)) by_reason[one.reason].push_back(&one);
  }
  if (by_reason.empty()) return "";
  std::string text = "Skipped, because it cannot be told here:\n";
  for (const auto& [reason, cases] : by_reason) {
    absl::StrAppend(&text, absl::StrFormat("  %3u  ", cases.size()), reason, " (",
                    cases.front()->duty, cases.size() > 1 ? ", ..." : "", ")\n");
  }
  return text + "\n";
}

}  // namespace

std::string ToText(const RunResult& result, bool verbose) {
  std::string text;
  for (const CaseResult& one : result.cases) {
    if (CountsAsFailed(one.verdict) || one.verdict == Verdict::kWeak) {
      absl::StrAppend(&text, OneFailure(result, one));
    } else if (one.verdict == Verdict::kWaived) {
      absl::StrAppend(&text, "waived  ", one.id, "\n", Indented(one.reason, "  "), "\n");
    } else if (verbose) {
      absl::StrAppend(&text,
                      absl::StrFormat("%-6s %7.3f s  ", VerdictName(one.verdict), one.seconds),
                      one.id, one.reason.empty() ? "" : "  -- ", one.reason, "\n");
      for (const auto& [name, value] : one.facts) {
        absl::StrAppend(&text, "                  ", name, " = ", value, "\n");
      }
    }
  }
  if (verbose && !result.cases.empty()) text += "\n";
  absl::StrAppend(&text, Skips(result));
  absl::StrAppend(&text, result.level, " ", result.port, ": ", SummaryText(result.Summarise()));
  if (result.shards > 1) absl::StrAppend(&text, ", shard ", result.shard, " of ", result.shards);
  absl::StrAppend(&text, absl::StrFormat(", %.1f s\n", result.seconds));
  return text;
}

}  // namespace halyard::conformance
