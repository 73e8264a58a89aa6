// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/bundle/bundle.h"
#include "conformance/bundle/sha256.h"
#include "conformance/machine.h"
#include "conformance/report/report.h"
#include "conformance/runner.h"
#include "conformance/shard.h"
#include "conformance/suite_version.h"

namespace halyard::conformance {
namespace {

using nlohmann::json;

std::string NameOf(const RunResult& run) {
  return run.shards == 1
             ? absl::StrCat("results/", run.level, ".json")
             : absl::StrCat("results/", run.level, "-", run.shard, "-of-", run.shards, ".json");
}

json RowOf(const RunResult& run, const std::string& file) {
  return {{"file", file},
          {"level", run.level},
          {"shard", run.shard},
          {"shards", run.shards},
          {"cases", run.cases.size()},
          {"case_list_digest", run.Fact(kCaseDigestFact)}};
}

std::string Manifest(const std::vector<BundleFile>& files) {
  std::string text;
  for (const BundleFile& file : files) {
    absl::StrAppend(&text, Sha256(file.contents), "  ", file.path, "\n");
  }
  return text;
}

absl::Status CheckStatement(const Statement& statement) {
  if (statement.product.empty()) return absl::InvalidArgumentError("a bundle names a product");
  if (statement.contact.empty()) return absl::InvalidArgumentError("a bundle names a contact");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<RunResult>> MergeByLevel(const std::vector<RunResult>& results) {
  std::map<std::string, std::vector<RunResult>> levels;
  for (const RunResult& one : results) levels[one.level].push_back(one);
  std::vector<RunResult> merged;
  for (const auto& [level, shards] : levels) {
    absl::StatusOr<RunResult> run = MergeShards(shards);
    if (!run.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("level ", level, ": ", run.status().message()));
    }
    merged.push_back(*std::move(run));
  }
  return merged;
}

absl::StatusOr<std::vector<BundleFile>> MakeBundle(const std::vector<std::string>& documents,
                                                   Statement* statement) {
  HY_RETURN_IF_ERROR(CheckStatement(*statement));
  std::vector<RunResult> results;
  std::vector<BundleFile> files;
  json rows = json::array();
  for (const std::string& text : documents) {
    HY_ASSIGN_OR_RETURN(RunResult run, FromJson(text));
    files.push_back({NameOf(run), text});
    rows.push_back(RowOf(run, files.back().path));
    results.push_back(std::move(run));
  }
  HY_ASSIGN_OR_RETURN(const std::vector<RunResult> runs, MergeByLevel(results));
  if (runs.empty()) return absl::InvalidArgumentError("a bundle holds results");
  Complete(runs, statement);
  const json index = {{"schema", kBundleSchema},
                      {"created_utc", UtcNow()},
                      {"suite", runs.front().Fact(kSuiteFact)},
                      {"source_commit", runs.front().Fact(kCommitFact)},
                      {"source_dirty", runs.front().Fact(kDirtyFact)},
                      {"results", rows}};
  files.push_back({kBundleName, index.dump(2) + "\n"});
  files.push_back({kStatementName, StatementText(*statement)});
  std::sort(files.begin(), files.end(),
            [](const BundleFile& a, const BundleFile& b) { return a.path < b.path; });
  files.push_back({kManifestName, Manifest(files)});
  return files;
}

}  // namespace halyard::conformance
