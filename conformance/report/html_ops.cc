// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "conformance/ops/coverage.h"
#include "conformance/ops/edges.h"
#include "conformance/ops/op_facts.h"
#include "conformance/report/areas.h"
#include "conformance/report/html_parts.h"
#include "conformance/waivers.h"

namespace halyard::conformance {
namespace {

using EdgeCounts = std::map<std::string, CaseCounts>;

/// An op's coverage: by kernel, and summed by types.
struct OpTable {
  std::string op;
  CaseCounts counts;
  std::vector<const KernelCoverage*> kernels;
  std::vector<std::pair<std::string, EdgeCounts>> types;
};

void AddCounts(const CaseCounts& from, CaseCounts* to) {
  to->passed += from.passed;
  to->failed += from.failed;
  to->weak += from.weak;
  to->waived += from.waived;
  to->skipped += from.skipped;
}

EdgeCounts& RowOf(OpTable& table, const KernelCoverage& one) {
  const std::string name = one.is_check ? absl::StrCat("check ", one.types) : one.types;
  for (auto& [types, counts] : table.types) {
    if (types == name) return counts;
  }
  table.types.emplace_back(name, EdgeCounts());
  return table.types.back().second;
}

std::vector<OpTable> TablesOf(const std::vector<KernelCoverage>& coverage) {
  std::vector<OpTable> tables;
  std::map<std::string, size_t> places;
  for (const KernelCoverage& one : coverage) {
    const auto [place, is_new] = places.emplace(one.op, tables.size());
    if (is_new) tables.push_back({one.op, {}, {}, {}});
    OpTable& table = tables[place->second];
    table.kernels.push_back(&one);
    AddCounts(one.counts, &table.counts);
    EdgeCounts& row = RowOf(table, one);
    for (const auto& [edge, counts] : one.edges) AddCounts(counts, &row[edge]);
  }
  return tables;
}

std::vector<std::string> EdgesCovered(const std::vector<KernelCoverage>& coverage) {
  std::set<std::string> edges;
  for (const KernelCoverage& one : coverage) {
    for (const auto& [edge, counts] : one.edges) edges.insert(edge);
  }
  return {edges.begin(), edges.end()};
}

// "12" passed; "12+1!+3?" with failed and weak ones.
std::string HeatCell(const EdgeCounts& row, const std::string& edge) {
  const auto found = row.find(edge);
  if (found == row.end() || found->second.ran() == 0) return "<td></td>";
  const CaseCounts& counts = found->second;
  const char* const shade = counts.failed != 0   ? "f"
                            : counts.waived != 0 ? "v"
                            : counts.passed == 0 ? "w"
                                                 : "p";
  std::string html = absl::StrCat("<td class=\"", shade, "\">", counts.passed);
  if (counts.failed != 0) absl::StrAppend(&html, " <b>", counts.failed, "</b>");
  if (counts.waived != 0) absl::StrAppend(&html, " <u>", counts.waived, "</u>");
  if (counts.weak != 0) absl::StrAppend(&html, " <i>", counts.weak, "</i>");
  return html + "</td>";
}

std::string HeadRow(absl::string_view first, const std::vector<std::string>& edges) {
  std::string html = absl::StrCat("<tr><th>", first, "</th>");
  for (const std::string& edge : edges) {
    absl::StrAppend(&html, "<th title=\"", EscapeMarkup(EdgeTitle(edge)), "\">", edge.substr(1),
                    "</th>");
  }
  return html + "</tr>\n";
}

std::string HeatRow(absl::string_view name, const EdgeCounts& row,
                    const std::vector<std::string>& edges) {
  std::string html = absl::StrCat("<tr><td>", EscapeMarkup(name), "</td>");
  for (const std::string& edge : edges) html += HeatCell(row, edge);
  return html + "</tr>\n";
}

std::string ByTypes(const OpTable& table, const std::vector<std::string>& edges) {
  std::string html = "<div class=\"scroll\"><table class=\"heat\">\n" + HeadRow("types", edges);
  for (const auto& [types, row] : table.types) html += HeatRow(types, row, edges);
  return html + "</table></div>\n";
}

std::string ByKernel(const OpTable& table, const std::vector<std::string>& edges) {
  std::string html =
      "<details><summary>By kernel</summary>\n<div class=\"scroll\">"
      "<table class=\"heat\">\n" +
      HeadRow("types, kernel", edges);
  for (const KernelCoverage* one : table.kernels) {
    html += HeatRow(absl::StrCat(one->types, ", ", one->kernel), one->edges, edges);
  }
  return html + "</table></div></details>\n";
}

std::string WorstRow(const RunResult& result, const KernelCoverage& one) {
  return absl::StrCat("<tr><td>", EscapeMarkup(one.kernel), "<br>", EscapeMarkup(one.types),
                      "</td><td class=\"num\">", *one.worst_error->Fact(kErrorFact),
                      "</td><td class=\"num\">", *one.worst_ulp->Fact(kUlpFact), "</td><td><code>",
                      EscapeMarkup(ReplayLine(result, *one.worst_error)), "</code></td></tr>\n");
}

std::string Worst(const RunResult& result, const OpTable& table) {
  std::string rows;
  for (const KernelCoverage* one : table.kernels) {
    if (one->worst_error != nullptr) rows += WorstRow(result, *one);
  }
  if (rows.empty()) return "";
  return absl::StrCat("<details><summary>Worst case of each kernel</summary>\n<table>\n<tr><th>",
                      "Kernel, types</th><th class=\"num\">err/T</th><th class=\"num\">ulp</th>",
                      "<th>Again</th></tr>\n", rows, "</table></details>\n");
}

std::string UnshownHtml(const RunResult& result) {
  const std::vector<std::string> lines = Unshown(result);
  if (lines.empty()) return "";
  std::string html = "<h2>What nothing is shown of</h2>\n<ul>\n";
  for (const std::string& line : lines) {
    absl::StrAppend(&html, "<li>", EscapeMarkup(line), "</li>\n");
  }
  return html + "</ul>\n";
}

std::string UncoveredHtml(const std::vector<std::string>& covered) {
  std::string html;
  for (const std::string& edge : AllEdges()) {
    bool found = false;
    for (const std::string& other : covered) found = found || other == edge;
    if (!found) {
      absl::StrAppend(&html, html.empty() ? "" : "; ", edge, " ", EscapeMarkup(EdgeTitle(edge)));
    }
  }
  if (html.empty()) return "";
  return absl::StrCat("<p>No case of this run covers ", html, ".</p>\n");
}

std::string EdgeLegend(const std::vector<std::string>& edges) {
  std::string html = "<details><summary>What the edges are</summary>\n<table>\n";
  for (const std::string& edge : edges) {
    absl::StrAppend(&html, "<tr><td>", edge, "</td><td>", EscapeMarkup(EdgeTitle(edge)),
                    "</td></tr>\n");
  }
  return html + "</table></details>\n";
}

bool IsWeak(Verdict verdict) { return verdict == Verdict::kWeak; }
bool IsWaived(Verdict verdict) { return verdict == Verdict::kWaived; }

std::string Reasons(const RunResult& result) {
  std::string html;
  const std::pair<const char*, bool (*)(Verdict)> kinds[] = {
      {"Weak, so that they count for nothing", &IsWeak},
      {"Waived", &IsWaived},
      {"Skipped, because it cannot be told here", &CountsAsSkipped}};
  for (const auto& [title, chosen] : kinds) {
    const std::vector<ReasonCount> reasons = ReasonsOf(result, chosen);
    if (reasons.empty()) continue;
    absl::StrAppend(&html, "<details><summary>", title, "</summary>\n<table>\n");
    for (const ReasonCount& one : reasons) {
      absl::StrAppend(&html, "<tr><td class=\"num\">", one.count, "</td><td>",
                      EscapeMarkup(one.reason), "</td><td><code>", EscapeMarkup(one.first->id),
                      "</code></td></tr>\n");
    }
    html += "</table></details>\n";
  }
  return html;
}

std::string WaiversHtml(const RunResult& result) {
  if (result.waivers.empty()) return "";
  std::string html = "<h2>Waivers</h2>\n";
  for (const std::string& line : WaiverTroubles(result)) {
    absl::StrAppend(&html, "<p>", HtmlBadge("fail", "waiver"), " ", EscapeMarkup(line), "</p>\n");
  }
  html +=
      "<table>\n<tr><th>Id</th><th>Cases, kernel</th><th>Reason</th><th>Until</th>"
      "<th class=\"num\">err/T up to</th><th>By</th></tr>\n";
  for (const Waiver& one : result.waivers) {
    absl::StrAppend(&html, "<tr><td>", EscapeMarkup(one.id), "</td><td><code>",
                    EscapeMarkup(one.cases), "</code><br><code>", EscapeMarkup(one.kernel),
                    "</code></td><td>", EscapeMarkup(one.reason), "<br>", EscapeMarkup(one.issue),
                    "</td><td>", EscapeMarkup(one.expires), "</td><td class=\"num\">",
                    one.max_error, "</td><td>", EscapeMarkup(one.approved_by), "</td></tr>\n");
  }
  return html + "</table>\n";
}

std::string MutationHtml(const RunResult& result) {
  const std::string killed = result.Fact("mutants_killed");
  if (killed.empty()) return "";
  return absl::StrCat("<p>Proof of the suite itself: it found ", EscapeMarkup(killed),
                      " of the deliberately broken kernels, and ",
                      EscapeMarkup(result.Fact("reserve_mutants_killed")),
                      " of the reserve.</p>\n");
}

}  // namespace

std::string OpsHtml(const RunResult& result) {
  const std::vector<KernelCoverage> coverage = CoverageOf(result);
  const std::vector<std::string> edges = EdgesCovered(coverage);
  std::string html =
      absl::StrCat(UnshownHtml(result), WaiversHtml(result), MutationHtml(result), Reasons(result),
                   "<h2>Coverage</h2>\n", UncoveredHtml(edges), EdgeLegend(edges));
  for (const OpTable& table : TablesOf(coverage)) {
    absl::StrAppend(&html, "<h3>", EscapeMarkup(table.op), " <small>", table.counts.passed,
                    " passed, ", table.counts.failed, " failed, ", table.counts.weak, " weak, ",
                    table.counts.skipped, " skipped</small></h3>\n", ByTypes(table, edges),
                    ByKernel(table, edges), Worst(result, table));
  }
  return html;
}

}  // namespace halyard::conformance
