// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/diff.h"

#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "conformance/ops/op_facts.h"
#include "conformance/report/areas.h"

namespace halyard::conformance {
namespace {

using nlohmann::json;

constexpr double kNewsOfErrors = 1.25;

// Better is more: fails, weak, waived, passes. Skipped cases have no place in this order.
int RankOf(Verdict verdict) {
  if (CountsAsFailed(verdict)) return 0;
  if (verdict == Verdict::kWeak) return 1;
  return verdict == Verdict::kWaived ? 2 : 3;
}

void AddChange(const CaseResult& before, const CaseResult& after, RunDiff* diff) {
  if (before.verdict == after.verdict) return;
  const CaseChange change{after.id, before.verdict, after.verdict, after.reason};
  const int rise = RankOf(after.verdict) - RankOf(before.verdict);
  const bool fails = CountsAsFailed(after.verdict);
  if (!fails && (CountsAsSkipped(before.verdict) || CountsAsSkipped(after.verdict) || rise == 0)) {
    diff->other.push_back(change);
  } else {
    (rise < 0 ? diff->worse : rise > 0 ? diff->better : diff->other).push_back(change);
  }
}

std::map<std::string, double> WorstErrors(const RunResult& run) {
  std::map<std::string, double> worst;
  for (const CaseResult& one : run.cases) {
    if (one.level != "L1" || one.Fact(kErrorFact) == nullptr) continue;
    double& most = worst[one.mode];
    most = std::max(most, FactNumber(one, kErrorFact));
  }
  return worst;
}

std::string ChangeText(const CaseChange& one) {
  return absl::StrCat(VerdictName(one.before), " -> ", VerdictName(one.after), "  ", one.id,
                      one.reason.empty() ? "" : "  -- ", one.reason);
}

std::string CountsText(const RunDiff& diff) {
  return absl::StrCat(diff.worse.size(), " worse, ", diff.better.size(), " better, ",
                      diff.other.size(), " changed otherwise, ", diff.added, " new, ", diff.gone,
                      " gone");
}

json ChangesToJson(const std::vector<CaseChange>& changes) {
  json list = json::array();
  for (const CaseChange& one : changes) {
    list.push_back({{"id", one.id},
                    {"before", std::string(VerdictName(one.before))},
                    {"after", std::string(VerdictName(one.after))},
                    {"reason", one.reason}});
  }
  return list;
}

}  // namespace

absl::StatusOr<RunDiff> DiffRuns(const RunResult& before, const RunResult& after) {
  if (before.level != after.level) {
    return absl::InvalidArgumentError(
        absl::StrCat("the former run is of level ", before.level, ", this one of ", after.level));
  }
  RunDiff diff;
  diff.before_utc = before.started_utc;
  std::map<std::string, const CaseResult*> old;
  for (const CaseResult& one : before.cases) old.emplace(one.id, &one);
  size_t common = 0;
  for (const CaseResult& one : after.cases) {
    const auto found = old.find(one.id);
    if (found == old.end()) {
      ++diff.added;
      continue;
    }
    ++common;
    AddChange(*found->second, one, &diff);
  }
  diff.gone = static_cast<uint32_t>(old.size() - common);
  const std::map<std::string, double> errors = WorstErrors(before);
  for (const auto& [kernel, now] : WorstErrors(after)) {
    const auto then = errors.find(kernel);
    if (then == errors.end() || now == then->second) continue;
    const bool moved = now > then->second * kNewsOfErrors || then->second > now * kNewsOfErrors;
    if (moved) diff.errors.push_back({kernel, then->second, now});
  }
  return diff;
}

json DiffToJson(const RunDiff& diff) {
  json errors = json::array();
  for (const ErrorChange& one : diff.errors) {
    errors.push_back({{"kernel", one.kernel},
                      {"before", absl::StrFormat("%.3g", one.before)},
                      {"after", absl::StrFormat("%.3g", one.after)}});
  }
  return {{"before_utc", diff.before_utc},
          {"worse", ChangesToJson(diff.worse)},
          {"better", ChangesToJson(diff.better)},
          {"other", ChangesToJson(diff.other)},
          {"added", diff.added},
          {"gone", diff.gone},
          {"worst_err_T", errors}};
}

std::string DiffToText(const RunDiff& diff) {
  std::string text =
      absl::StrCat("Since the run of ", diff.before_utc, ": ", CountsText(diff), "\n");
  for (const CaseChange& one : diff.worse) absl::StrAppend(&text, "  ", ChangeText(one), "\n");
  for (const ErrorChange& one : diff.errors) {
    absl::StrAppend(&text, absl::StrFormat("  err/T %.3g -> %.3g  ", one.before, one.after),
                    one.kernel, "\n");
  }
  return text + "\n";
}

std::string DiffToHtml(const RunDiff& diff) {
  std::string html = absl::StrCat("<section>\n<h2>Since the run of ", EscapeMarkup(diff.before_utc),
                                  "</h2>\n<p>", CountsText(diff), ".</p>\n");
  const std::pair<const char*, const std::vector<CaseChange>*> lists[] = {
      {"Worse", &diff.worse}, {"Better", &diff.better}, {"Changed otherwise", &diff.other}};
  for (const auto& [title, changes] : lists) {
    if (changes->empty()) continue;
    const bool open = changes == &diff.worse;
    absl::StrAppend(&html, open ? "<details open>" : "<details>", "<summary>", title,
                    "</summary>\n<pre>");
    for (const CaseChange& one : *changes)
      absl::StrAppend(&html, EscapeMarkup(ChangeText(one)), "\n");
    html += "</pre></details>\n";
  }
  if (!diff.errors.empty()) {
    html +=
        "<table>\n<tr><th>Kernel</th><th class=\"num\">err/T before</th>"
        "<th class=\"num\">now</th></tr>\n";
    for (const ErrorChange& one : diff.errors) {
      absl::StrAppend(
          &html, "<tr><td>", EscapeMarkup(one.kernel), "</td>",
          absl::StrFormat("<td class=\"num\">%.3g</td><td class=\"num\">%.3g</td></tr>\n",
                          one.before, one.after));
    }
    html += "</table>\n";
  }
  return html + "</section>\n";
}

}  // namespace halyard::conformance
