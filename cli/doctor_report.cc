// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/describe.h"
#include "cli/doctor.h"
#include "cli/html_page.h"

namespace halyard::cli {
namespace {

using facts::BandwidthRow;
using facts::Finding;
using facts::Severity;
using nlohmann::json;

std::string Where(const BandwidthRow& row) {
  return row.node_id == HY_ID_NONE ? "anywhere" : absl::StrCat("node ", row.node_id);
}

constexpr const char* kMarks[] = {"ok     ", "warning", "ERROR  "};

/// Bars of the medians, with a whisker from the least to the most.
std::string BandwidthChart(const std::vector<BandwidthRow>& rows) {
  double most = 0;
  for (const BandwidthRow& row : rows) most = std::max(most, row.max_gb_per_s);
  if (most <= 0) return "";
  constexpr int kRow = 26;
  constexpr double kLeft = 190;
  constexpr double kWide = 480;
  std::string svg = absl::StrFormat(
      "<svg viewBox=\"0 0 760 %u\" role=\"img\" aria-label=\"Memory bandwidth\" width=\"100%%\">\n",
      static_cast<unsigned>(kRow * rows.size() + 8));
  int y = 4;
  for (const BandwidthRow& row : rows) {
    const auto x = [&](double rate) { return kLeft + kWide * rate / most; };
    absl::StrAppendFormat(&svg,
                          "<text x=\"%.0f\" y=\"%d\" text-anchor=\"end\">%s, %u threads, %s</text>"
                          "<rect class=\"bar %s\" x=\"%.0f\" y=\"%d\" width=\"%.1f\" height=\"16\"/>"
                          "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"currentColor\"/>"
                          "<text x=\"%.1f\" y=\"%d\">%.1f</text>\n",
                          kLeft - 8, y + 13, row.work, row.threads, Where(row), row.work, kLeft, y,
                          x(row.median_gb_per_s) - kLeft, x(row.min_gb_per_s), x(row.max_gb_per_s),
                          y + 8, y + 8, x(row.max_gb_per_s) + 6, y + 13, row.median_gb_per_s);
    y += kRow;
  }
  return svg + "</svg>\n";
}

std::string FindingRow(const Finding& finding) {
  const std::string severity(facts::SeverityName(finding.severity));
  return absl::StrCat("<tr><td><span class=\"badge ", severity, "\">",
                      severity == "info" ? "ok" : severity, "</span></td><td>",
                      HtmlEscape(finding.title), "</td><td>", HtmlEscape(finding.remedy),
                      "</td></tr>\n");
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
                   {"chip_sheet", report.sheet ? json(report.sheet->id) : json(nullptr)},
                   {"budget", BudgetText(report.topology)},
                   {"summary",
                    {{"error", report.Count(Severity::kError)},
                     {"warning", report.Count(Severity::kWarning)},
                     {"info", report.Count(Severity::kInfo)}}}};
  json& findings = document["findings"] = json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"id", finding.id},
                        {"severity", facts::SeverityName(finding.severity)},
                        {"title", finding.title},
                        {"remedy", finding.remedy}});
  }
  json& rows = document["bandwidth"] = json::array();
  for (const BandwidthRow& row : report.bandwidth) {
    rows.push_back({{"work", row.work},
                    {"threads", row.threads},
                    {"node_id", row.node_id == HY_ID_NONE ? json(nullptr) : json(row.node_id)},
                    {"runs", row.runs},
                    {"median_gb_per_s", row.median_gb_per_s},
                    {"min_gb_per_s", row.min_gb_per_s},
                    {"max_gb_per_s", row.max_gb_per_s},
                    {"bytes_per_thread", row.bytes_per_thread},
                    {"kernel", row.kernel},
                    {"workers_bound", row.workers_bound}});
  }
  return document;
}

std::string DoctorText(const DoctorReport& report) {
  std::string text = absl::StrCat("Doctor  ", report.port, ", device ", report.device, "\n  chip sheet  ",
                                  report.sheet ? report.sheet->name : "none fits this machine",
                                  "\n  budget      ", BudgetText(report.topology), "\n");
  if (!report.bandwidth.empty()) {
    absl::StrAppend(&text, "Memory bandwidth, GB/s (copy counts bytes read and written)\n",
                    "  work  threads  where        median     min     max\n");
  }
  for (const BandwidthRow& row : report.bandwidth) {
    absl::StrAppendFormat(&text, "  %-5s %7u  %-10s %8.1f %7.1f %7.1f\n", row.work, row.threads,
                          Where(row), row.median_gb_per_s, row.min_gb_per_s, row.max_gb_per_s);
  }
  absl::StrAppend(&text, "Findings\n");
  for (const Finding& finding : report.findings) {
    absl::StrAppend(&text, "  ", kMarks[static_cast<size_t>(finding.severity)], "  ", finding.title,
                    "\n");
    if (!finding.remedy.empty()) absl::StrAppend(&text, "           -> ", finding.remedy, "\n");
  }
  absl::StrAppendFormat(&text, "%u errors, %u warnings\n", report.Count(Severity::kError),
                        report.Count(Severity::kWarning));
  return text;
}

std::string DoctorHtml(const DoctorReport& report) {
  std::string html = absl::StrCat(
      "<h2>Machine</h2>\n<p>Chip sheet: ",
      HtmlEscape(report.sheet ? report.sheet->name : "none fits this machine"), ". Budget: ",
      HtmlEscape(BudgetText(report.topology)), ".</p>\n<pre>",
      HtmlEscape(hal::DrawTopology(report.topology)), "</pre>\n");
  if (!report.bandwidth.empty()) {
    absl::StrAppend(&html,
                    "<h2>Memory bandwidth</h2>\n<p class=\"lead\">GB/s: the bar is the median, the "
                    "line runs from the least to the most of ",
                    report.bandwidth.front().runs,
                    " runs. Copy counts the bytes read and those written.</p>\n",
                    BandwidthChart(report.bandwidth));
  }
  absl::StrAppend(&html,
                  "<h2>Findings</h2>\n<table><tr><th></th><th>Seen</th><th>What to do</th></tr>\n");
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kInfo}) {
    for (const Finding& finding : report.findings) {
      if (finding.severity == severity) absl::StrAppend(&html, FindingRow(finding));
    }
  }
  return html + "</table>\n";
}

}  // namespace halyard::cli
