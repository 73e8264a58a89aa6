// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/graph_case_id.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace halyard::conformance {
namespace {

constexpr absl::string_view kLevel = "L2/";

absl::Status Wrong(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is no case id: ", what,
                   "; one looks like L2/dag/f32.q4_k/ops=7/dist=normal/lay=dense/seed=41/thr=3"));
}

// Takes "/name=value" off the end of *text; false if it does not end so.
bool TakeLast(absl::string_view name, absl::string_view* text, absl::string_view* out_value) {
  const size_t at = text->rfind(absl::StrCat("/", name, "="));
  if (at == absl::string_view::npos) return false;
  *out_value = text->substr(at + name.size() + 2);
  *text = text->substr(0, at);
  return true;
}

}  // namespace

bool IsGraphCaseId(absl::string_view text) { return absl::StartsWith(text, kLevel); }

std::string GraphCaseIdText(const GraphCaseId& id) {
  std::string text = absl::StrCat(kLevel, ops::CaseText(id.c));
  if (!id.drop.empty()) absl::StrAppend(&text, "/drop=", absl::StrJoin(id.drop, "+"));
  return absl::StrCat(text, "/thr=", id.workers);
}

absl::StatusOr<GraphCaseId> ParseGraphCaseId(absl::string_view text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, kLevel)) return Wrong(text, "it does not begin with L2");
  GraphCaseId id;
  absl::string_view value;
  if (!TakeLast("thr", &rest, &value) || !absl::SimpleAtoi(value, &id.workers) || id.workers == 0 ||
      id.workers > kMostGraphWorkers) {
    return Wrong(text,
                 absl::StrCat("it lacks /thr=, the number of workers, up to ", kMostGraphWorkers));
  }
  if (TakeLast("drop", &rest, &value)) {
    for (const absl::string_view part : absl::StrSplit(value, '+')) {
      int64_t step = 0;
      if (!absl::SimpleAtoi(part, &step) || step < 0) {
        return Wrong(text, "drop is not numbers of steps joined by '+'");
      }
      id.drop.push_back(step);
    }
  }
  absl::StatusOr<ops::Case> c = ops::ParseCase(rest);
  if (!c.ok()) return Wrong(text, c.status().message());
  id.c = *std::move(c);
  return id;
}

}  // namespace halyard::conformance
