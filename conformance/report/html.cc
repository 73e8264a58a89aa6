// SPDX-License-Identifier: Apache-2.0
//
// A part of a page. Classes are those of the program's style sheet; nothing needs a script.
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "conformance/ops/coverage.h"
#include "conformance/report/areas.h"
#include "conformance/report/html_parts.h"
#include "conformance/report/report.h"

namespace halyard::conformance {
namespace {

// What is claimed of which port.
std::string Claim(const RunResult& result) {
  if (result.port == "selftest") return "Deliberate faults, each of which must be found";
  return absl::StrCat(result.level == "L1"   ? "Operators and kernels on port "
                      : result.level == "L2" ? "Graphs of operators on port "
                                             : "HAL contract of port ",
                      EscapeMarkup(result.port));
}

std::string HoldsText(const RunResult& result, const Summary& summary) {
  // What was not run is not claimed.
  const std::string scope = result.Fact(kScopeFact);
  const std::string holds = scope == kChosenCases ? "chosen cases hold"
                            : scope == kOneCase   ? "this case holds"
                                                  : "holds";
  if (summary.waived + result.waivers.size() == 0) return holds;
  std::string text = absl::StrCat(holds, ", ", summary.waived, " waived");
  if (!result.waivers.empty()) absl::StrAppend(&text, " by ", result.waivers.size(), " waivers");
  return text;
}

std::string Heading(const RunResult& result, const Summary& summary) {
  const bool ran = summary.passed + summary.failed + summary.waived + summary.weak != 0;
  std::string html = absl::StrCat("<section>\n<h2>", Claim(result), " ");
  if (!ran) {
    html += HtmlBadge("skip", "not run");
  } else if (Holds(result)) {
    html += HtmlBadge("pass", HoldsText(result, summary));
  } else {
    html += HtmlBadge("fail", "does not hold");
  }
  absl::StrAppend(&html, "</h2>\n<p class=\"lead\">");
  if (!result.device_name.empty()) {
    absl::StrAppend(&html, EscapeMarkup(result.device_name), " (<code>",
                    EscapeMarkup(result.device), "</code>). ");
  }
  if (result.device_name.empty()) {
    const std::string machine = result.Fact("machine");
    if (!machine.empty()) absl::StrAppend(&html, EscapeMarkup(machine), ". ");
  }
  if (!result.port_version.empty()) {
    absl::StrAppend(&html, "Version ", EscapeMarkup(result.port_version), ", ",
                    EscapeMarkup(result.port_origin), ". ");
  }
  absl::StrAppend(&html, EscapeMarkup(result.started_utc),
                  absl::StrFormat(", %.1f s", result.seconds));
  if (result.shards > 1) {
    absl::StrAppend(&html, ", shard ", result.shard, " of ", result.shards);
  }
  return html + ".</p>\n";
}

std::string Cards(const Summary& summary) {
  const auto card = [](uint32_t count, absl::string_view label, absl::string_view css_class) {
    return absl::StrCat("<li><b class=\"", count == 0 ? "skip" : css_class, "\">", count,
                        "</b><span>", label, "</span></li>\n");
  };
  return absl::StrCat("<ul class=\"cards\">\n", card(summary.passed, "passed", "pass"),
                      card(summary.failed, "failed", "fail"), card(summary.weak, "weak", "weak"),
                      card(summary.waived, "waived", "waived"),
                      card(summary.skipped, "skipped", "skip"), "</ul>\n");
}

std::string FailureBlock(const RunResult& result, const CaseResult& one) {
  std::string html = absl::StrCat("<h3>", VerdictBadge(one.verdict), " ", EscapeMarkup(one.duty),
                                  " <small>", EscapeMarkup(one.mode), "</small></h3>\n<p>",
                                  EscapeMarkup(one.title), "</p>\n<pre>");
  absl::StrAppend(&html, EscapeMarkup(one.reason));
  for (const Finding& finding : one.findings) {
    const std::string place =
        finding.file.empty() ? "" : absl::StrCat(finding.file, ":", finding.line);
    if (finding.message == one.reason) {
      if (!place.empty()) absl::StrAppend(&html, "\n  at ", EscapeMarkup(place));
    } else {
      absl::StrAppend(&html, "\n", EscapeMarkup(place), place.empty() ? "" : ": ",
                      EscapeMarkup(finding.message));
    }
  }
  return absl::StrCat(html, "</pre>\n<p>Again: <code>", EscapeMarkup(ReplayLine(result, one)),
                      "</code></p>\n");
}

// Which kernels they are of, or which duties in which mode: one fault fails many cases.
std::string FailureCounts(const std::vector<const CaseResult*>& failures) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const CaseResult* one : failures) ++counts[{one->duty, one->mode}];
  std::string html = "<table>\n";
  for (const auto& [what, count] : counts) {
    absl::StrAppend(&html, "<tr><td class=\"num\">", count, "</td><td>", EscapeMarkup(what.first),
                    "</td><td><code>", EscapeMarkup(what.second), "</code></td></tr>\n");
  }
  return html + "</table>\n";
}

std::string Failures(const RunResult& result) {
  constexpr size_t kShownAtOnce = 20;
  std::vector<const CaseResult*> failures;
  for (const CaseResult& one : result.cases) {
    const bool weak_fails = result.level == "L0" && one.verdict == Verdict::kWeak;
    if (CountsAsFailed(one.verdict) || weak_fails) failures.push_back(&one);
  }
  if (failures.empty()) return "";
  std::string html = "<h2>What does not hold</h2>\n";
  if (failures.size() > 1) html += FailureCounts(failures);
  for (size_t i = 0; i < failures.size(); ++i) {
    if (i == kShownAtOnce) {
      absl::StrAppend(&html, "<details><summary>", failures.size() - i, " more</summary>\n");
    }
    html += FailureBlock(result, *failures[i]);
  }
  return html + (failures.size() > kShownAtOnce ? "</details>\n" : "");
}

std::string AreaTable(const std::vector<Area>& areas) {
  std::string html =
      "<h2>By area</h2>\n<table>\n<tr><th>Area</th><th></th><th class=\"num\">passed</th>"
      "<th class=\"num\">failed</th><th class=\"num\">waived</th><th class=\"num\">skipped</th>"
      "</tr>\n";
  for (const Area& area : areas) {
    const Summary& sum = area.summary;
    const bool ran = sum.passed + sum.failed + sum.waived + sum.weak != 0;
    absl::StrAppend(&html, "<tr><td>", EscapeMarkup(area.title), "</td><td>",
                    sum.failed + sum.weak != 0 ? HtmlBadge("fail", "does not hold")
                    : ran                      ? HtmlBadge("pass", "holds")
                                               : HtmlBadge("skip", "cannot be told"),
                    "</td><td class=\"num\">", sum.passed, "</td><td class=\"num\">",
                    sum.failed + sum.weak, "</td><td class=\"num\">", sum.waived,
                    "</td><td class=\"num\">", sum.skipped, "</td></tr>\n");
  }
  return html + "</table>\n";
}

std::string CaseRow(const CaseResult& one) {
  std::string test = one.id;
  const size_t first = test.find('/', test.find('/') + 1);
  if (first != std::string::npos) {
    test = test.substr(first + 1, test.find('/', first + 1) - first - 1);
  }
  std::string note = EscapeMarkup(one.reason);
  for (const auto& [name, value] : one.facts) {
    absl::StrAppend(&note, note.empty() ? "" : "<br>", EscapeMarkup(name), " = ",
                    EscapeMarkup(value));
  }
  return absl::StrCat("<tr><td>", VerdictBadge(one.verdict), "</td><td><code>",
                      EscapeMarkup(one.duty), "</code></td><td>", EscapeMarkup(one.title),
                      "<br><code>", EscapeMarkup(test), "</code> ", EscapeMarkup(one.mode),
                      "</td><td>", note, "</td><td class=\"num\">",
                      absl::StrFormat("%.3f", one.seconds), "</td></tr>\n");
}

std::string AllCases(const std::vector<Area>& areas) {
  std::string html = "<h2>Every case</h2>\n";
  for (const Area& area : areas) {
    absl::StrAppend(&html, "<details><summary>", EscapeMarkup(area.title), ": ",
                    SummaryText(area.summary),
                    "</summary>\n<table>\n<tr><th></th><th>Duty</th><th>In words</th><th>Note</th>"
                    "<th class=\"num\">s</th></tr>\n");
    for (const CaseResult* one : area.cases) html += CaseRow(*one);
    html += "</table></details>\n";
  }
  return html;
}

std::string Facts(const RunResult& result) {
  std::string html = "<h2>Where this was found</h2>\n<table>\n";
  for (const auto& [name, value] : result.facts) {
    absl::StrAppend(&html, "<tr><td>", EscapeMarkup(name), "</td><td>", EscapeMarkup(value),
                    "</td></tr>\n");
  }
  return html + "</table>\n";
}

constexpr char kLegend[] =
    "<h2>How to read this</h2>\n<table>\n"
    "<tr><td><span class=\"badge pass\">pass</span></td><td>what the case asks was seen to "
    "hold</td></tr>\n"
    "<tr><td><span class=\"badge fail\">fail</span></td><td>it was seen not to hold; crash and "
    "timeout: the port ended or hung the process; xpass: a known failure passes, so the entry "
    "must go</td></tr>\n"
    "<tr><td><span class=\"badge waived\">waived</span></td><td>it fails, and the port's list of "
    "expected failures says so</td></tr>\n"
    "<tr><td><span class=\"badge skip\">skip</span></td><td>it cannot be told here, for the reason "
    "given; nothing is claimed</td></tr>\n</table>\n";
constexpr char kHalModes[] =
    "<p>bare: the port as it is. validate: each call checked in both directions. fault: the n-th "
    "call or allocation fails, for every n.</p>\n";

std::string DutiesHtml(const RunResult& result) {
  const std::vector<Area> areas = AreasOf(result);
  return AreaTable(areas) + AllCases(areas);
}

constexpr char kOpsLegend[] =
    "<h2>How to read this</h2>\n<table>\n"
    "<tr><td><span class=\"badge pass\">pass</span></td><td>every element is within its own bound, "
    "or equal where the case is exact; nothing else was touched; the same for every count of "
    "workers and every repeat</td></tr>\n"
    "<tr><td><span class=\"badge pass\">pass_fallback</span></td><td>right, but by another kernel "
    "than the one that was chosen, or by the reference</td></tr>\n"
    "<tr><td><span class=\"badge weak\">weak</span></td><td>right as far as it can be told, but "
    "the "
    "bound would hide a dropped term, or the values hardly differ; counts for nothing</td></tr>\n"
    "<tr><td><span class=\"badge skip\">not_supported</span></td><td>the kernel's predicate "
    "refuses the case, with the reason given</td></tr>\n</table>\n"
    "<p>A cell counts cases of the types (row) that cover the edge (column): passed, then failed "
    "and weak if there are any. err/T is the largest error in units of what the element may be off "
    "by; ulp the same in units of the last place.</p>\n";

}  // namespace

std::string HtmlBadge(absl::string_view css_class, absl::string_view text) {
  return absl::StrCat("<span class=\"badge ", css_class, "\">", EscapeMarkup(text), "</span>");
}

std::string VerdictBadge(Verdict verdict) {
  return HtmlBadge(VerdictName(verdict), VerdictName(verdict));
}

std::string ToHtmlSection(const RunResult& result) {
  const Summary summary = result.Summarise();
  const bool ops = result.level == "L1" && result.port != "selftest";
  return absl::StrCat(Heading(result, summary), Cards(summary), Failures(result),
                      ops ? OpsHtml(result) : DutiesHtml(result), Facts(result),
                      ops ? kOpsLegend : kLegend, result.level == "L2" ? "" : kHalModes,
                      "</section>\n");
}

}  // namespace halyard::conformance
