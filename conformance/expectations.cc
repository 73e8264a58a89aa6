// SPDX-License-Identifier: Apache-2.0
#include "conformance/expectations.h"

#include <yaml-cpp/yaml.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/filter.h"

namespace halyard::conformance {
namespace {

bool Matches(const Expectation& entry, const CaseResult& one, absl::string_view test) {
  return GlobMatches(entry.test, one.duty) || GlobMatches(entry.test, test) ||
         GlobMatches(entry.test, one.id);
}

std::string* FieldOf(Expectation* entry, const std::string& key, bool is_failure) {
  if (key == "test") return &entry->test;
  if (key == "reason") return &entry->reason;
  if (key == "issue" && is_failure) return &entry->issue;
  if (key == "since" && is_failure) return &entry->since;
  return nullptr;
}

absl::StatusOr<Expectation> ReadEntry(const YAML::Node& node, absl::string_view list) {
  const int line = node.Mark().line + 1;
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", line, ": ", what, " in an entry of ", list));
  };
  if (!node.IsMap()) return wrong("no map of keys");
  const bool is_failure = list == "expected_failures";
  Expectation entry;
  for (const auto& field : node) {
    const std::string key = field.first.as<std::string>();
    std::string* place = FieldOf(&entry, key, is_failure);
    if (place == nullptr) return wrong(absl::StrCat("unknown key '", key, "'"));
    *place = field.second.as<std::string>();
  }
  if (entry.test.empty()) return wrong("no 'test'");
  if (entry.reason.empty()) return wrong("no 'reason'");
  if (is_failure && entry.issue.empty()) return wrong("no 'issue'");
  if (is_failure && entry.since.empty()) return wrong("no 'since'");
  return entry;
}

absl::Status ReadList(const YAML::Node& node, absl::string_view list,
                      std::vector<Expectation>* out) {
  if (node.IsNull()) return absl::OkStatus();
  if (!node.IsSequence()) return absl::InvalidArgumentError(absl::StrCat(list, " is no list"));
  for (const YAML::Node& item : node) {
    HY_ASSIGN_OR_RETURN(Expectation entry, ReadEntry(item, list));
    out->push_back(std::move(entry));
  }
  return absl::OkStatus();
}

absl::StatusOr<Expectations> ReadDocument(const YAML::Node& root) {
  Expectations result;
  if (root.IsNull()) return result;
  if (!root.IsMap()) return absl::InvalidArgumentError("no map at the top");
  for (const auto& field : root) {
    const std::string key = field.first.as<std::string>();
    if (key == "unsupported") {
      HY_RETURN_IF_ERROR(ReadList(field.second, key, &result.unsupported));
    } else if (key == "expected_failures") {
      HY_RETURN_IF_ERROR(ReadList(field.second, key, &result.expected_failures));
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown key '", key, "'; known are 'unsupported' and 'expected_failures'"));
    }
  }
  return result;
}

}  // namespace

const Expectation* Expectations::FindUnsupported(const CaseResult& one,
                                                 absl::string_view test) const {
  for (const Expectation& entry : unsupported) {
    if (Matches(entry, one, test)) return &entry;
  }
  return nullptr;
}

void Expectations::Apply(absl::string_view test, CaseResult* inout_case) const {
  for (const Expectation& entry : expected_failures) {
    if (!Matches(entry, *inout_case, test)) continue;
    const std::string why =
        absl::StrCat("expected since ", entry.since, ": ", entry.reason, " (", entry.issue, ")");
    if (inout_case->verdict == Verdict::kFail) {
      inout_case->verdict = Verdict::kWaived;
      inout_case->reason = absl::StrCat(why, "; ", inout_case->reason);
    } else if (inout_case->verdict == Verdict::kPass) {
      inout_case->verdict = Verdict::kXpass;
      inout_case->reason = absl::StrCat("passes although it is ", why, "; remove the entry");
    }
    return;
  }
}

absl::StatusOr<Expectations> ParseExpectations(absl::string_view yaml) {
  // The one place where yaml-cpp's exceptions end.
  try {
    return ReadDocument(YAML::Load(std::string(yaml)));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

absl::StatusOr<Expectations> ReadExpectations(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat("no file of expectations at ", path));
  std::stringstream text;
  text << file.rdbuf();
  absl::StatusOr<Expectations> result = ParseExpectations(text.str());
  if (result.ok()) return result;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", result.status().message()));
}

}  // namespace halyard::conformance
