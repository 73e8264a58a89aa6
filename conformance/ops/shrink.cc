// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/shrink.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "conformance/graph/graph_cases.h"
#include "conformance/ops/op_case_run.h"
#include "conformance/ops/run_ops.h"

namespace halyard::conformance {
namespace {

constexpr int kMostTrials = 300;

// Values below `value` that a size may shrink to, the smallest first. What a kernel does depends on
// whole blocks and on the tail behind them, so both are kept apart.
std::vector<int64_t> SmallerSizes(int64_t value) {
  std::set<int64_t> sizes;
  if (value > 1) sizes.insert(1);
  for (const int64_t block : {256, 128, 64, 32, 16, 8, 4}) {
    const int64_t tail = value % block;
    const int64_t whole = value / block;
    if (whole == 0) continue;
    sizes.insert(block + tail);
    sizes.insert(whole / 2 * block + tail);
    sizes.insert((whole + 1) / 2 * block + tail);
    if (tail != 0) sizes.insert(tail);
  }
  sizes.insert(value / 2);
  sizes.insert(value - 1);
  std::vector<int64_t> smaller;
  for (const int64_t size : sizes) {
    if (size > 0 && size < value) smaller.push_back(size);
  }
  return smaller;
}

void AddDims(const OpCaseId& id, std::vector<OpCaseId>* out) {
  for (size_t i = 0; i < id.c.dims.size(); ++i) {
    const int64_t value = id.c.dims[i].second;
    OpCaseId other = id;
    if (value == 1) {
      other.c.dims[i].second = 0;  // an option; an op without elements does not fail alike
      out->push_back(other);
    }
    for (const int64_t size : value > 1 ? SmallerSizes(value) : std::vector<int64_t>{}) {
      other.c.dims[i].second = size;
      out->push_back(other);
    }
  }
}

void AddLays(const OpCaseId& id, std::vector<OpCaseId>* out) {
  if (id.c.lay == "dense") return;
  OpCaseId other = id;
  other.c.lay = "dense";
  out->push_back(other);
  const std::vector<std::string> parts = absl::StrSplit(id.c.lay, '+');
  for (size_t drop = 0; parts.size() > 1 && drop < parts.size(); ++drop) {
    std::vector<std::string> left = parts;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(drop));
    other.c.lay = absl::StrJoin(left, "+");
    out->push_back(other);
  }
}

std::vector<std::string> SmallerOps(const std::string& text) {
  std::vector<std::string> texts;
  const absl::StatusOr<OpCaseId> id = ParseOpCaseId(text);
  if (!id.ok()) return texts;
  for (const OpCaseId& one : SmallerCases(*id)) texts.push_back(OpCaseIdText(one));
  return texts;
}

}  // namespace

std::vector<OpCaseId> SmallerCases(const OpCaseId& id) {
  std::vector<OpCaseId> smaller;
  OpCaseId other = id;
  for (const uint32_t workers : {1u, 2u, id.workers / 2, id.workers - 1}) {
    if (workers == 0 || workers >= id.workers) continue;
    other.workers = workers;
    smaller.push_back(other);
  }
  if (!id.params.empty()) {
    other = id;
    other.params.clear();
    smaller.push_back(other);
  }
  AddLays(id, &smaller);
  AddDims(id, &smaller);
  if (id.c.dist != "walking" && id.c.dist != "lossless") {
    for (const char* dist : {"walking", "lossless"}) {
      other = id;
      other.c.dist = dist;
      smaller.push_back(other);
    }
  }
  return smaller;
}

std::string FailureSignature(const CaseResult& result) {
  if (!CountsAsFailed(result.verdict) || absl::StartsWith(result.reason, kNoCase)) return "";
  std::string signature(VerdictName(result.verdict));
  if (result.verdict != Verdict::kFail) return signature;
  for (const char* kind : {"must not be touched", ": nan,", ": -nan,", "rms(err/T)",
                           "rounding errs", "record of row", "it returns"}) {
    if (absl::StrContains(result.reason, kind)) return absl::StrCat(signature, " ", kind);
  }
  return absl::StrCat(signature, " values");
}

std::string ShrinkText(const std::string& id,
                       const std::function<std::vector<std::string>(const std::string&)>& smaller,
                       const std::function<bool(const std::string&)>& fails_alike,
                       int most_trials) {
  std::string smallest = id;
  std::set<std::string> tried = {id};
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const std::string& candidate : smaller(smallest)) {
      if (!tried.insert(candidate).second) continue;
      if (most_trials-- <= 0) return smallest;
      if (!fails_alike(candidate)) continue;
      smallest = candidate;
      shrunk = true;
      break;
    }
  }
  return smallest;
}

OpCaseId ShrinkCase(const OpCaseId& id, const std::function<bool(const OpCaseId&)>& fails_alike,
                    int most_trials) {
  const std::string smallest = ShrinkText(
      OpCaseIdText(id), SmallerOps,
      [&](const std::string& text) {
        const absl::StatusOr<OpCaseId> candidate = ParseOpCaseId(text);
        return candidate.ok() && fails_alike(*candidate);
      },
      most_trials);
  const absl::StatusOr<OpCaseId> parsed = ParseOpCaseId(smallest);
  return parsed.ok() ? *parsed : id;
}

absl::StatusOr<RunResult> ShrinkOp(const std::string& id, const RunRequest& base,
                                   const std::function<void(const Progress&)>& on_progress) {
  HY_ASSIGN_OR_RETURN(const RunResult first, ReplayOp(id, base));
  const std::string signature = FailureSignature(first.cases.front());
  if (signature.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the case does not fail: ", VerdictName(first.cases.front().verdict), " ",
                     first.cases.front().reason));
  }
  Progress progress;
  progress.total = kMostTrials;
  const auto fails_alike = [&](const std::string& candidate) {
    progress.current = candidate;
    if (on_progress) on_progress(progress);
    ++progress.done;
    const absl::StatusOr<RunResult> run = ReplayOp(candidate, base);
    return run.ok() && FailureSignature(run->cases.front()) == signature;
  };
  const auto smaller = [&](const std::string& text) {
    return IsGraphCaseId(text) ? SmallerGraphs(text, *base.ops.builtin) : SmallerOps(text);
  };
  const std::string smallest = ShrinkText(id, smaller, fails_alike, kMostTrials);
  HY_ASSIGN_OR_RETURN(RunResult result, ReplayOp(smallest, base));
  progress.done = progress.total;
  if (on_progress) on_progress(progress);
  result.facts.emplace_back("shrunk_from", id);
  return result;
}

}  // namespace halyard::conformance
