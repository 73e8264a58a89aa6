// SPDX-License-Identifier: Apache-2.0
//
// JUnit XML as Jenkins, GitLab and GitHub read it: testsuites, testsuite, testcase with failure,
// error or skipped; facts as properties of the suite.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "conformance/report/areas.h"
#include "conformance/report/report.h"

namespace halyard::conformance {
namespace {

// A crash or time-out is an error of the test, a wrong result its failure.
bool IsError(const CaseResult& one) {
  return one.verdict == Verdict::kCrash || one.verdict == Verdict::kTimeout ||
         one.verdict == Verdict::kMemoryViolation || one.verdict == Verdict::kToolchainFault;
}
bool IsFailure(const CaseResult& one) { return CountsAsFailed(one.verdict) && !IsError(one); }
bool IsSkipped(const CaseResult& one) {
  return CountsAsSkipped(one.verdict) || one.verdict == Verdict::kWaived ||
         one.verdict == Verdict::kWeak;
}

struct Counts {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
};

void AddTo(Counts* counts, const CaseResult& one) {
  ++counts->tests;
  counts->failures += IsFailure(one) ? 1 : 0;
  counts->errors += IsError(one) ? 1 : 0;
  counts->skipped += IsSkipped(one) ? 1 : 0;
  counts->seconds += one.seconds;
}

std::string Attributes(const Counts& counts) {
  return absl::StrFormat("tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.3f\"",
                         counts.tests, counts.failures, counts.errors, counts.skipped,
                         counts.seconds);
}

std::string FailureText(const RunResult& result, const CaseResult& one) {
  std::string text = absl::StrCat(one.duty, ": ", one.title, "\n", one.reason, "\n");
  for (const Finding& finding : one.findings) {
    absl::StrAppend(&text, finding.file, finding.file.empty() ? "" : ":", finding.line, ": ",
                    finding.message, "\n");
  }
  return absl::StrCat(text, "replay: ", ReplayLine(result, one), "\n");
}

std::string CaseElement(const RunResult& result, const Area& area, const CaseResult& one) {
  std::string xml = absl::StrFormat("    <testcase name=\"%s\" classname=\"%s.%s\" time=\"%.3f\"",
                                    EscapeMarkup(one.id), EscapeMarkup(one.level),
                                    EscapeMarkup(area.code), one.seconds);
  const std::string message = EscapeMarkup(one.reason);
  const std::string type(VerdictName(one.verdict));
  if (IsSkipped(one)) {
    return absl::StrCat(xml, ">\n      <skipped message=\"", type, ": ", message,
                        "\"/>\n    </testcase>\n");
  }
  if (!CountsAsFailed(one.verdict)) return xml + "/>\n";
  const char* const element = IsError(one) ? "error" : "failure";
  absl::StrAppend(&xml, ">\n      <", element, " type=\"", type, "\" message=\"", message, "\">",
                  EscapeMarkup(FailureText(result, one)), "</", element, ">\n    </testcase>\n");
  return xml;
}

std::string Properties(const RunResult& result) {
  std::string xml = "    <properties>\n";
  const auto add = [&](absl::string_view name, absl::string_view value) {
    absl::StrAppend(&xml, "      <property name=\"", EscapeMarkup(name), "\" value=\"",
                    EscapeMarkup(value), "\"/>\n");
  };
  add("port", result.port);
  add("port_version", result.port_version);
  add("device", result.device);
  add("device_name", result.device_name);
  add("shard", absl::StrCat(result.shard, "/", result.shards));
  for (const auto& [name, value] : result.facts) add(name, value);
  return xml + "    </properties>\n";
}

// Attribute values keep no zone: consumers read local or UTC time without one.
std::string Timestamp(const RunResult& result) {
  std::string time = result.started_utc;
  if (!time.empty() && time.back() == 'Z') time.pop_back();
  return EscapeMarkup(time);
}

}  // namespace

std::string ToJUnit(const RunResult& result) {
  Counts all;
  std::string suites;
  for (const Area& area : AreasOf(result)) {
    Counts counts;
    std::string cases;
    for (const CaseResult* one : area.cases) {
      AddTo(&counts, *one);
      AddTo(&all, *one);
      cases += CaseElement(result, area, *one);
    }
    absl::StrAppend(&suites, "  <testsuite name=\"", EscapeMarkup(result.level), "/",
                    EscapeMarkup(area.code), "\" ", Attributes(counts), " timestamp=\"",
                    Timestamp(result), "\">\n", Properties(result), cases, "  </testsuite>\n");
  }
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"halyard ",
                      EscapeMarkup(result.level), " ", EscapeMarkup(result.port), "\" ",
                      Attributes(all), ">\n", suites, "</testsuites>\n");
}

}  // namespace halyard::conformance
