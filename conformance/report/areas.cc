// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/areas.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace halyard::conformance {
namespace {

// "HAL-MEM-03" has the area MEM; other duties are their own area.
std::string AreaCode(const std::string& duty) {
  if (!absl::StartsWith(duty, "HAL-")) return duty;
  const std::vector<std::string> parts = absl::StrSplit(duty, '-');
  return parts.size() == 3 ? parts[1] : duty;
}

std::string AreaTitle(const std::string& code) {
  static const auto* const titles = new std::map<std::string, std::string>{
      {"ABI", "The ABI"},         {"ERR", "Errors and discipline"},
      {"DEV", "Devices"},         {"QRY", "Queries"},
      {"TOP", "Topology"},        {"MEM", "Memory and placement"},
      {"IMP", "Imported memory"}, {"MAP", "Maps"},
      {"SYN", "Hand-over"},       {"TEAM", "Teams"},
      {"BND", "Binding"},         {"QUE", "Queues"},
      {"FEN", "Fences"},          {"TIM", "Time"},
      {"REL", "Release"},         {"selftest", "Broken HALs"}};
  const auto found = titles->find(code);
  return found == titles->end() ? code : found->second;
}

void Count(const CaseResult& one, Summary* summary) {
  RunResult single;
  single.cases.push_back(one);
  const Summary add = single.Summarise();
  summary->passed += add.passed;
  summary->failed += add.failed;
  summary->weak += add.weak;
  summary->skipped += add.skipped;
  summary->waived += add.waived;
}

// In single quotes for a shell.
std::string Quoted(const std::string& text) {
  if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_-./=:,+@%") == std::string::npos) {
    return text;
  }
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::vector<Area> AreasOf(const RunResult& result) {
  std::vector<Area> areas;
  for (const CaseResult& one : result.cases) {
    const std::string code = AreaCode(one.duty);
    auto area = std::find_if(areas.begin(), areas.end(),
                             [&](const Area& other) { return other.code == code; });
    if (area == areas.end()) {
      areas.push_back({code, AreaTitle(code), {}, {}});
      area = areas.end() - 1;
    }
    area->cases.push_back(&one);
    Count(one, &area->summary);
  }
  return areas;
}

std::vector<ReasonCount> ReasonsOf(const RunResult& result, bool (*chosen)(Verdict)) {
  std::map<std::string, ReasonCount> by_reason;
  for (const CaseResult& one : result.cases) {
    if (!chosen(one.verdict)) continue;
    const size_t end = one.verdict == Verdict::kWeak ? one.reason.find(" (") : std::string::npos;
    const std::string reason = one.reason.substr(0, end);
    ReasonCount& entry = by_reason.emplace(reason, ReasonCount{reason, 0, &one}).first->second;
    ++entry.count;
  }
  std::vector<ReasonCount> reasons;
  for (auto& [reason, entry] : by_reason) reasons.push_back(std::move(entry));
  return reasons;
}

std::string ReplayLine(const RunResult& result, const CaseResult& one) {
  std::string line =
      absl::StrCat("halyard conform replay ", Quoted(one.id), " --port ", Quoted(result.port));
  if (const std::string device = result.Fact(kAskedDeviceFact); !device.empty()) {
    absl::StrAppend(&line, " --device ", Quoted(device));
  }
  for (const auto& [name, value] : result.facts) {
    absl::string_view key = name;
    if (!absl::ConsumePrefix(&key, kOpenOptionFact)) continue;
    absl::StrAppend(&line, " --option ", Quoted(absl::StrCat(key, "=", value)));
  }
  const std::string plugins = result.Fact(kKernelFilesFact);
  for (const absl::string_view path : absl::StrSplit(plugins, ':', absl::SkipEmpty())) {
    absl::StrAppend(&line, " --kernels ", Quoted(std::string(path)));
  }
  return line;
}

std::string EscapeMarkup(absl::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default: {
        // Bytes above 127 may be half of a character: a test's output is cut anywhere.
        const auto byte = static_cast<unsigned char>(c);
        const bool legal = (byte >= 0x20 && byte < 0x7f) || c == '\n' || c == '\t' || c == '\r';
        escaped += legal ? c : '?';
      }
    }
  }
  return escaped;
}

std::string SummaryText(const Summary& summary) {
  std::string text = absl::StrCat(summary.passed, " passed, ", summary.failed, " failed");
  if (summary.weak != 0) absl::StrAppend(&text, ", ", summary.weak, " weak");
  if (summary.waived != 0) absl::StrAppend(&text, ", ", summary.waived, " waived");
  if (summary.skipped != 0) absl::StrAppend(&text, ", ", summary.skipped, " skipped");
  return text;
}

}  // namespace halyard::conformance
