// SPDX-License-Identifier: Apache-2.0
#include "conformance/bundle/spot_check.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/ops/coverage.h"
#include "conformance/ops/op_case_id.h"
#include "conformance/ops/op_case_run.h"
#include "conformance/ops/op_check.h"
#include "conformance/ops/op_facts.h"
#include "conformance/ops/run_ops.h"
#include "conformance/shard.h"

namespace halyard::conformance {
namespace {

constexpr size_t kOneOf = 100;
constexpr size_t kAtLeast = 10;

bool IsExact(const CaseResult& one) {
  return IsTelling(one) && *one.Fact(kModeFact) == "E" && !IsOpCheckId(one.id);
}

}  // namespace

std::vector<std::string> SpotCases(const RunResult& run, uint64_t seed) {
  std::vector<std::pair<uint64_t, std::string>> drawn;
  for (const CaseResult& one : run.cases) {
    const absl::StatusOr<OpCaseId> parsed = ParseOpCaseId(one.id);
    if (!IsExact(one) || !parsed.ok()) continue;
    const uint64_t draw = Digest(absl::StrCat(one.id, " ", seed));
    OpCaseId id = *parsed;
    id.c.seed = draw >> 33;  // as short as others are
    drawn.emplace_back(draw, OpCaseIdText(id));
  }
  std::sort(drawn.begin(), drawn.end());
  const size_t count = std::min(drawn.size(), std::max(kAtLeast, drawn.size() / kOneOf));
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(drawn[i].second);
  return ids;
}

absl::StatusOr<RunResult> SpotCheck(const RunResult& run, uint64_t seed, const RunRequest& base,
                                    const std::function<void(const Progress&)>& on_progress) {
  HY_ASSIGN_OR_RETURN(RunResult spot, RunOpIds(SpotCases(run, seed), base, on_progress));
  const auto has_fixed_data = [](const CaseResult& one) {
    return absl::StartsWith(one.reason, kNoCase);
  };
  spot.cases.erase(std::remove_if(spot.cases.begin(), spot.cases.end(), has_fixed_data),
                   spot.cases.end());
  spot.facts.emplace_back("spot_check_seed", absl::StrCat(seed));
  return spot;
}

}  // namespace halyard::conformance
