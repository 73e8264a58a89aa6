// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "conformance/bundle/bundle.h"
#include "conformance/bundle/sha256.h"
#include "conformance/golden/golden_facts.h"
#include "conformance/ops/coverage.h"
#include "conformance/report/report.h"
#include "conformance/shard.h"
#include "conformance/suite_version.h"
#include "conformance/waivers.h"

namespace halyard::conformance {
namespace {

using nlohmann::json;

class Verifier {
 public:
  Verifier(const std::vector<BundleFile>& files, absl::string_view date) : date_(date) {
    for (const BundleFile& file : files) files_[file.path] = file.contents;
  }

  absl::StatusOr<BundleReport> Verify() {
    for (const char* name : {kManifestName, kStatementName, kBundleName}) {
      if (files_.count(name) == 0) {
        return absl::InvalidArgumentError(absl::StrCat("no bundle: there is no ", name));
      }
    }
    CheckManifest();
    ReadResults();
    for (const RunResult& run : report_.runs) CheckRun(run);
    CheckTogether();
    report_.level = LevelOf(report_.runs);
    CheckStatement();
    return std::move(report_);
  }

 private:
  void Fault(const std::string& line) { report_.faults.push_back(line); }

  void CheckManifest() {
    std::set<std::string> listed = {kManifestName};
    for (const absl::string_view line :
         absl::StrSplit(files_[kManifestName], '\n', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(line, absl::MaxSplits("  ", 1));
      listed.insert(parts.second);
      const auto found = files_.find(parts.second);
      if (found == files_.end()) {
        Fault(absl::StrCat(parts.second, " is in the manifest and not in the bundle"));
      } else if (Sha256(found->second) != parts.first) {
        Fault(absl::StrCat(parts.second, " has another digest than the manifest says"));
      }
    }
    for (const auto& [path, contents] : files_) {
      if (listed.count(path) == 0) Fault(absl::StrCat(path, " is not in the manifest"));
    }
  }

  void ReadResults() {
    const json index = json::parse(files_[kBundleName], nullptr, false);
    if (!index.is_object() || index.value("schema", "") != kBundleSchema ||
        !index.contains("results") || !index["results"].is_array()) {
      return Fault(absl::StrCat(kBundleName, " is no ", kBundleSchema));
    }
    std::vector<RunResult> results;
    for (const json& row : index["results"]) {
      const bool named = row.is_object() && row.contains("file") && row["file"].is_string();
      const auto file = files_.find(named ? row["file"].get<std::string>() : "");
      if (file == files_.end()) {
        Fault("a result that bundle.json lists is not there");
        continue;
      }
      absl::StatusOr<RunResult> run = ReadResult(file->first, file->second);
      if (!run.ok()) {
        Fault(std::string(run.status().message()));
        continue;
      }
      if (row.value("case_list_digest", "") != run->Fact(kCaseDigestFact)) {
        Fault(absl::StrCat(file->first, " is of another list of cases than bundle.json says"));
      }
      results.push_back(*std::move(run));
    }
    absl::StatusOr<std::vector<RunResult>> runs = MergeByLevel(results);
    if (!runs.ok()) return Fault(std::string(runs.status().message()));
    report_.runs = *std::move(runs);
  }

  // A summary that is not that of its cases was edited.
  absl::StatusOr<RunResult> ReadResult(const std::string& path, const std::string& text) {
    absl::StatusOr<RunResult> run = FromJson(text);
    if (!run.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": ", run.status().message()));
    }
    const json document = json::parse(text, nullptr, false);
    if (!document.contains("summary") || document["summary"] != ToJson(*run)["summary"]) {
      Fault(absl::StrCat(path, ": the summary is not that of the cases"));
    }
    return run;
  }

  void CheckRun(const RunResult& run) {
    if (run.Fact(kScopeFact) != kWholeList) {
      Fault(absl::StrCat("level ", run.level, " is not of the whole list: ", run.Fact(kScopeFact)));
    }
    for (const CaseResult& one : run.cases) {
      CheckWaived(run, one);
      if (!CountsAsFailed(one.verdict)) continue;
      const bool by_waiver = one.Fact(kWaiverFact) != nullptr;
      (by_waiver ? report_.waivers : report_.faults)
          .push_back(absl::StrCat(VerdictName(one.verdict), "  ", one.id));
    }
    for (const char* name : {"HALYARD_FORCE_KERNEL", "HALYARD_DISABLE_KERNEL"}) {
      const std::string value = run.Fact(name);
      if (!value.empty()) Fault(absl::StrCat("kernels were left out by ", name, "=", value));
    }
    for (const std::string& line : Unshown(run)) {
      Fault(absl::StrCat("nothing is shown of ", line));
    }
    for (const std::string& line : WaiverTroubles(run)) {
      report_.waivers.push_back(absl::StrCat("waiver ", line));
    }
    CheckDays(run);
    NoteCircumstances(run);
  }

  void NoteCircumstances(const RunResult& run) {
    if (run.Fact(kDirtyFact) != "no") {
      report_.notes.push_back(
          absl::StrCat("level ", run.level, " was run by a suite with changes on its commit"));
    }
    if (run.Fact("emulated") == "yes") {
      report_.notes.push_back(absl::StrCat("level ", run.level, " was run under an emulator"));
    }
    if (!run.Fact(kGoldenFact).empty()) {
      report_.notes.push_back(absl::StrCat("level ", run.level, ": ", run.Fact(kGoldenCasesFact),
                                           " cases were held against golden pack ",
                                           run.Fact(kGoldenFact)));
    }
  }

  // Of level L1 a waived case must be one that a waiver of the run covers.
  void CheckWaived(const RunResult& run, const CaseResult& one) {
    if (run.level != "L1" || one.verdict != Verdict::kWaived) return;
    for (const Waiver& waiver : run.waivers) {
      if (Speaks(waiver, one, run) && Covers(waiver, one)) return;
    }
    Fault(absl::StrCat("no waiver covers what is waived: ", one.id));
  }

  void CheckDays(const RunResult& run) {
    const absl::StatusOr<int64_t> today = DayOf(date_);
    for (const Waiver& waiver : run.waivers) {
      const absl::StatusOr<int64_t> last = DayOf(waiver.expires);
      const absl::StatusOr<int64_t> start = DayOf(run.started_utc);
      if (!last.ok() || !start.ok() || *last > *start + kMostWaiverDays) {
        Fault(absl::StrCat("waiver ", waiver.id, " has no day within ", kMostWaiverDays,
                           " days of the run"));
      } else if (today.ok() && *last < *today && *last >= *start) {
        report_.waivers.push_back(
            absl::StrCat("waiver ", waiver.id, " is over since ", waiver.expires));
      }
    }
  }

  void CheckTogether() {
    for (const RunResult& run : report_.runs) {
      const RunResult& first = report_.runs.front();
      for (const char* fact : {kSuiteFact, kCommitFact, "machine", "arch"}) {
        if (run.Fact(fact) == first.Fact(fact)) continue;
        Fault(absl::StrCat("levels ", first.level, " and ", run.level, " differ in ", fact));
      }
      if (run.port != first.port) {
        Fault(absl::StrCat("levels ", first.level, " and ", run.level, " are of other ports"));
      }
    }
  }

  void CheckStatement() {
    absl::StatusOr<Statement> statement = ParseStatement(files_[kStatementName]);
    if (!statement.ok()) return Fault(std::string(statement.status().message()));
    report_.statement = *std::move(statement);
    if (report_.statement.level != report_.level) {
      Fault(absl::StrCat("the statement says '", report_.statement.level, "', the results show '",
                         report_.level, "'"));
    }
  }

  std::map<std::string, std::string> files_;
  const absl::string_view date_;
  BundleReport report_;
};

}  // namespace

absl::StatusOr<BundleReport> VerifyBundle(const std::vector<BundleFile>& files,
                                          absl::string_view date) {
  HY_RETURN_IF_ERROR(DayOf(date).status());
  return Verifier(files, date).Verify();
}

}  // namespace halyard::conformance
