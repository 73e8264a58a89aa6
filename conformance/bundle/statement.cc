// SPDX-License-Identifier: Apache-2.0
#include "conformance/bundle/statement.h"

#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "conformance/ops/coverage.h"
#include "conformance/suite_version.h"

namespace halyard::conformance {
namespace {

struct Line {
  const char* key;
  std::string Statement::*place;
};
constexpr Line kLines[] = {{"product", &Statement::product},
                           {"part", &Statement::part},
                           {"os", &Statement::os},
                           {"kernel", &Statement::kernel},
                           {"compiler", &Statement::compiler},
                           {"memory", &Statement::memory},
                           {"suite", &Statement::suite},
                           {"level", &Statement::level},
                           {"waivers", &Statement::waivers},
                           {"contact", &Statement::contact}};

// The value of a line "key<separator>value" of a file of the system; "unknown" if there is none.
std::string FromFile(const char* path, absl::string_view key, char separator) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(separator, 1));
    if (parts.first != key) continue;
    absl::string_view value = absl::StripAsciiWhitespace(parts.second);
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return "unknown";
}

void Default(const std::string& value, std::string* out) {
  if (out->empty()) *out = value.empty() ? "unknown" : value;
}

std::string WaiverCount(const std::vector<RunResult>& runs) {
  uint32_t cases = 0;
  size_t waivers = 0;
  for (const RunResult& run : runs) {
    cases += run.Summarise().waived;
    waivers += run.waivers.size();
  }
  return absl::StrCat(cases, " cases, ", waivers, " waivers");
}

bool Shows(const std::vector<RunResult>& runs, absl::string_view level) {
  for (const RunResult& run : runs) {
    if (run.level == level) {
      return run.shards == 1 && run.Fact(kScopeFact) == kWholeList && Holds(run) &&
             run.Summarise().passed > 0;
    }
  }
  return false;
}

}  // namespace

void Complete(const std::vector<RunResult>& runs, Statement* statement) {
  if (!runs.empty()) {
    const RunResult& run = runs.front();
    Default(run.device_name.empty() ? run.Fact("machine") : run.device_name, &statement->part);
    Default(run.Fact("kernel"), &statement->kernel);
    Default(run.Fact("compiler"), &statement->compiler);
    Default(absl::StrCat(run.Fact(kSuiteFact), " ", run.Fact(kCommitFact),
                         run.Fact(kDirtyFact) == "no" ? "" : " with changes"),
            &statement->suite);
  }
  Default(FromFile("/etc/os-release", "PRETTY_NAME", '='), &statement->os);
  Default(FromFile("/proc/meminfo", "MemTotal", ':'), &statement->memory);
  statement->level = LevelOf(runs);
  statement->waivers = WaiverCount(runs);
}

std::string StatementText(const Statement& statement) {
  std::string text;
  for (const Line& line : kLines) {
    std::string value = statement.*line.place;
    for (char& c : value) c = c == '\n' || c == '\r' ? ' ' : c;
    absl::StrAppend(&text, line.key, ": ", value, "\n");
  }
  return text;
}

absl::StatusOr<Statement> ParseStatement(absl::string_view text) {
  Statement statement;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const Line* found = nullptr;
    for (const Line& known : kLines) {
      if (absl::StartsWith(line, absl::StrCat(known.key, ": "))) found = &known;
    }
    if (found == nullptr || !(statement.*found->place).empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the statement's line '", line, "' is unknown or there twice"));
    }
    statement.*found->place = std::string(line.substr(line.find(": ") + 2));
  }
  for (const Line& known : kLines) {
    if ((statement.*known.place).empty()) {
      return absl::InvalidArgumentError(absl::StrCat("the statement has no ", known.key));
    }
  }
  return statement;
}

std::string LevelOf(const std::vector<RunResult>& runs) {
  if (!Shows(runs, "L0")) return kNoLevel;
  return Shows(runs, "L1") ? "Halyard Ops" : "Halyard HAL";
}

}  // namespace halyard::conformance
