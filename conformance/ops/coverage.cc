// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/coverage.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "conformance/ops/auto_run.h"
#include "conformance/ops/edges.h"
#include "conformance/ops/op_case_id.h"
#include "conformance/ops/op_check.h"
#include "conformance/ops/op_facts.h"

namespace halyard::conformance {
namespace {

constexpr char kSelfTest[] = "selftest";

std::vector<std::string> EdgesIn(const CaseResult& one, bool is_check) {
  std::vector<std::string> edges;
  const std::string* const own = one.Fact("edges");
  if (own != nullptr) edges = absl::StrSplit(*own, ' ', absl::SkipEmpty());
  if (is_check) return edges;
  const std::vector<std::string> of_all = EdgesOfEveryCase();
  edges.insert(edges.end(), of_all.begin(), of_all.end());
  return edges;
}

void KeepWorst(const CaseResult& one, absl::string_view fact, const CaseResult** worst) {
  if (*worst == nullptr || FactNumber(one, fact) > FactNumber(**worst, fact)) *worst = &one;
}

void AddCase(const CaseResult& one, KernelCoverage* out) {
  out->counts.Add(one.verdict);
  if (CountsAsSkipped(one.verdict)) return;
  for (const std::string& edge : EdgesIn(one, out->is_check)) out->edges[edge].Add(one.verdict);
  const std::string* const mode = one.Fact(kModeFact);
  if (IsTelling(one)) {
    ++out->telling;
    out->exact += *mode == "E" ? 1 : 0;
  }
  if (mode == nullptr || (*mode == "E" && !CountsAsFailed(one.verdict))) return;
  if (one.Fact(kErrorFact) == nullptr || one.Fact(kUlpFact) == nullptr) return;
  KeepWorst(one, kErrorFact, &out->worst_error);
  KeepWorst(one, kUlpFact, &out->worst_ulp);
}

bool IsWholeAnswer(const RunResult& run) {
  return run.level == "L1" && run.shards == 1 && run.Fact(kScopeFact) != kOneCase;
}

std::string UnshownLine(const KernelCoverage& one) {
  std::string line = absl::StrCat(one.kernel, " on ", one.types, ": ");
  if (one.counts.weak != 0) absl::StrAppend(&line, one.counts.weak, " weak");
  if (one.counts.weak != 0 && one.counts.passed != 0) line += ", ";
  if (one.counts.passed != 0) absl::StrAppend(&line, one.counts.passed, " of edges alone");
  return line;
}

}  // namespace

void CaseCounts::Add(Verdict verdict) {
  passed += CountsAsPassed(verdict) ? 1 : 0;
  failed += CountsAsFailed(verdict) ? 1 : 0;
  weak += verdict == Verdict::kWeak ? 1 : 0;
  waived += verdict == Verdict::kWaived ? 1 : 0;
  skipped += CountsAsSkipped(verdict) ? 1 : 0;
}

bool IsTelling(const CaseResult& one) {
  const std::string* const mode = one.Fact(kModeFact);
  return CountsAsPassed(one.verdict) && mode != nullptr && (*mode == "E" || *mode == "B") &&
         one.Fact(kEdgeOnlyFact) == nullptr;
}

std::vector<KernelCoverage> CoverageOf(const RunResult& run) {
  std::vector<KernelCoverage> all;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> places;
  for (const CaseResult& one : run.cases) {
    if (one.level != "L1" || one.duty == kSelfTest || !IsOpCaseId(one.id)) continue;
    const auto [place, is_new] =
        places.emplace(std::tuple(one.duty, one.title, one.mode), all.size());
    if (is_new) {
      all.emplace_back();
      all.back().op = one.duty;
      all.back().types = one.title;
      all.back().kernel = one.mode;
      all.back().is_check = IsOpCheckId(one.id);
    }
    AddCase(one, &all[place->second]);
  }
  return all;
}

std::vector<std::string> Unshown(const RunResult& run) {
  std::vector<std::string> lines;
  if (!IsWholeAnswer(run)) return lines;
  const bool whole = run.Fact(kScopeFact) == kWholeList;
  for (const KernelCoverage& one : CoverageOf(run)) {
    if (one.is_check || IsRegistryRun(one.kernel) || one.telling != 0) continue;
    if (one.counts.weak != 0 || (whole && one.counts.passed != 0)) {
      lines.push_back(UnshownLine(one));
    }
  }
  return lines;
}

bool Holds(const RunResult& run) {
  const Summary summary = run.Summarise();
  if (summary.failed != 0) return false;
  return run.level == "L0" ? summary.weak == 0 : Unshown(run).empty();
}

}  // namespace halyard::conformance
