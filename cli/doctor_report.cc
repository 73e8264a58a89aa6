// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/describe.h"
#include "cli/doctor.h"
#include "cli/html_page.h"
#include "hal/topology_draw.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

using facts::BandwidthRow;
using facts::Finding;
using facts::Severity;
using nlohmann::json;

constexpr size_t kColumns = 100;

std::string Where(const BandwidthRow& row) {
  return row.node_id == HY_ID_NONE ? "anywhere" : absl::StrCat("node ", row.node_id);
}

/// What stands before a finding. One that needs nothing is "ok"; one that may, "note".
const char* Mark(const Finding& finding) {
  if (finding.severity == Severity::kError) return "ERROR";
  if (finding.severity == Severity::kWarning) return "warning";
  return finding.remedy.empty() ? "ok" : "note";
}

/// Worst first; those of one mark in the order in which they were looked at.
std::vector<const Finding*> Sorted(const std::vector<Finding>& findings) {
  std::vector<const Finding*> sorted;
  for (const Finding& finding : findings) sorted.push_back(&finding);
  const auto rank = [](const Finding* finding) {
    return std::pair(-static_cast<int>(finding->severity), finding->remedy.empty());
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&rank](const Finding* a, const Finding* b) { return rank(a) < rank(b); });
  return sorted;
}

/// Words in lines of at most kColumns, all but the first behind `indent` blanks.
std::string Wrap(const std::string& text, size_t indent) {
  std::string lines;
  size_t column = indent;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (column > indent && column + 1 + word.size() > kColumns) {
      absl::StrAppend(&lines, "\n", std::string(indent, ' '));
      column = indent;
    } else if (column > indent) {
      absl::StrAppend(&lines, " ");
      ++column;
    }
    absl::StrAppend(&lines, word);
    column += word.size();
  }
  return lines;
}

std::string SheetText(const DoctorReport& report) {
  if (!report.sheet) return "none fits this machine; --chip ID names one";
  const facts::ChipSheet& sheet = *report.sheet;
  return absl::StrCat(sheet.id, ": ", sheet.name, ", ", facts::SheetKindName(sheet.kind), " sheet",
                      report.sheet_named ? ", named by you" : "");
}

std::string Verdict(const DoctorReport& report) {
  const uint32_t errors = report.Count(Severity::kError);
  const uint32_t warnings = report.Count(Severity::kWarning);
  const std::string counts =
      absl::StrCat(hal::FormatCount(errors, "error"), ", ", hal::FormatCount(warnings, "warning"));
  if (errors > 0) return absl::StrCat("Not fit: ", counts);
  if (warnings > 0) return absl::StrCat("Fit to run, with reservations: ", counts);
  return absl::StrCat("Fit: ", counts);
}

/// One line for each team, with its read and its copy figure.
std::string BandwidthText(const std::vector<BandwidthRow>& rows) {
  if (rows.empty()) return "";
  std::string text = absl::StrFormat(
      "Memory bandwidth in GB/s, median of %s (least - most)\n"
      "  %-10s%8s   %-24s%s\n",
      hal::FormatCount(rows.front().runs, "run"), "where", "threads", "read", "copy, both ways");
  for (size_t i = 0; i < rows.size(); ++i) {
    const BandwidthRow& row = rows[i];
    const bool second = i > 0 && rows[i - 1].threads == row.threads &&
                        rows[i - 1].node_id == row.node_id && rows[i - 1].work != row.work;
    if (!second) absl::StrAppendFormat(&text, "  %-10s%8u ", Where(row), row.threads);
    absl::StrAppendFormat(&text, "%7.1f (%5.1f - %5.1f)", row.median_gb_per_s, row.min_gb_per_s,
                          row.max_gb_per_s);
    const bool last = i + 1 == rows.size() || second;
    text += last ? "\n" : "  ";
  }
  return text;
}

/// Bars of the medians, with a whisker from the least to the most.
std::string BandwidthChart(const std::vector<BandwidthRow>& rows) {
  double most = 0;
  for (const BandwidthRow& row : rows) most = std::max(most, row.max_gb_per_s);
  if (most <= 0) return "";
  constexpr int kRow = 26;
  constexpr double kLeft = 210;
  constexpr double kWide = 470;
  std::string svg = absl::StrFormat(
      "<svg viewBox=\"0 0 760 %u\" role=\"img\" aria-label=\"Memory bandwidth\" width=\"100%%\">\n",
      static_cast<unsigned>(kRow * rows.size() + 8));
  int y = 4;
  for (const BandwidthRow& row : rows) {
    const auto x = [&](double rate) { return kLeft + kWide * rate / most; };
    absl::StrAppendFormat(
        &svg,
        "<text x=\"%.0f\" y=\"%d\" text-anchor=\"end\">%s, %s, %s</text>"
        "<rect class=\"bar %s\" x=\"%.0f\" y=\"%d\" width=\"%.1f\" height=\"16\"/>"
        "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"currentColor\"/>"
        "<text x=\"%.1f\" y=\"%d\">%.1f</text>\n",
        kLeft - 8, y + 13, row.work, hal::FormatCount(row.threads, "thread"), Where(row), row.work,
        kLeft, y, x(row.median_gb_per_s) - kLeft, x(row.min_gb_per_s), x(row.max_gb_per_s), y + 8,
        y + 8, x(row.max_gb_per_s) + 6, y + 13, row.median_gb_per_s);
    y += kRow;
  }
  return svg + "</svg>\n";
}

std::string FindingRow(const Finding& finding) {
  const std::string mark = Mark(finding);
  const std::string style = mark == "note" ? "skip" : std::string(SeverityName(finding.severity));
  return absl::StrCat("<tr><td><span class=\"badge ", style, "\">", mark, "</span></td><td>",
                      HtmlEscape(finding.title), "</td><td>", HtmlEscape(finding.remedy),
                      "</td></tr>\n");
}

json SheetJson(const DoctorReport& report) {
  if (!report.sheet) return nullptr;
  return {{"id", report.sheet->id},
          {"name", report.sheet->name},
          {"kind", facts::SheetKindName(report.sheet->kind)},
          {"named", report.sheet_named}};
}

json RowJson(const BandwidthRow& row) {
  return {{"work", row.work},
          {"threads", row.threads},
          {"node_id", row.node_id == HY_ID_NONE ? json(nullptr) : json(row.node_id)},
          {"runs", row.runs},
          {"median_gb_per_s", row.median_gb_per_s},
          {"min_gb_per_s", row.min_gb_per_s},
          {"max_gb_per_s", row.max_gb_per_s},
          {"bytes_per_thread", row.bytes_per_thread},
          {"kernel", row.kernel},
          {"workers_bound", row.workers_bound}};
}

}  // namespace

uint32_t DoctorReport::Count(Severity severity) const {
  return static_cast<uint32_t>(
      std::count_if(findings.begin(), findings.end(),
                    [severity](const Finding& finding) { return finding.severity == severity; }));
}

json DoctorJson(const DoctorReport& report) {
  json document = {{"schema", "halyard-doctor/1"},
                   {"port", report.port},
                   {"device", report.device},
                   {"machine", report.machine},
                   {"chip_sheet", SheetJson(report)},
                   {"budget", BudgetText(report.topology)},
                   {"summary",
                    {{"error", report.Count(Severity::kError)},
                     {"warning", report.Count(Severity::kWarning)},
                     {"info", report.Count(Severity::kInfo)}}}};
  json& findings = document["findings"] = json::array();
  for (const Finding* finding : Sorted(report.findings)) {
    findings.push_back({{"id", finding->id},
                        {"severity", facts::SeverityName(finding->severity)},
                        {"title", finding->title},
                        {"remedy", finding->remedy}});
  }
  json& rows = document["bandwidth"] = json::array();
  for (const BandwidthRow& row : report.bandwidth) rows.push_back(RowJson(row));
  return document;
}

std::string DoctorText(const DoctorReport& report) {
  std::string text = absl::StrCat(
      "Doctor  ", report.port, ", device ", report.device, "\n  machine     ", report.machine,
      "\n  chip sheet  ", SheetText(report), "\n  budget      ", BudgetText(report.topology), "\n",
      BandwidthText(report.bandwidth), "Findings\n");
  for (const Finding* finding : Sorted(report.findings)) {
    absl::StrAppendFormat(&text, "  %-7s  %s\n", Mark(*finding), Wrap(finding->title, 11));
    if (!finding->remedy.empty()) {
      absl::StrAppend(&text, "           -> ", Wrap(finding->remedy, 14), "\n");
    }
  }
  return absl::StrCat(text, Verdict(report), "\n");
}

std::string DoctorHtml(const DoctorReport& report) {
  std::string html =
      absl::StrCat("<h2>Machine</h2>\n<p>", HtmlEscape(report.machine),
                   ". Chip sheet: ", HtmlEscape(SheetText(report)),
                   ". Budget: ", HtmlEscape(BudgetText(report.topology)), ".</p>\n<pre>",
                   HtmlEscape(hal::DrawTopology(report.topology)), "</pre>\n");
  if (!report.bandwidth.empty()) {
    absl::StrAppend(&html,
                    "<h2>Memory bandwidth</h2>\n<p class=\"lead\">GB/s: the bar is the median, the "
                    "line runs from the least to the most of ",
                    hal::FormatCount(report.bandwidth.front().runs, "run"),
                    ". Copy counts the bytes read and those written.</p>\n",
                    BandwidthChart(report.bandwidth));
  }
  absl::StrAppend(&html,
                  "<h2>Findings</h2>\n<table><tr><th></th><th>Seen</th><th>What to do</th></tr>\n");
  for (const Finding* finding : Sorted(report.findings))
    absl::StrAppend(&html, FindingRow(*finding));
  return absl::StrCat(html, "</table>\n<p>", HtmlEscape(Verdict(report)), ".</p>\n");
}

}  // namespace halyard::cli
