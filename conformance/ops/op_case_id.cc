// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/op_case_id.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "conformance/shard.h"

namespace halyard::conformance {
namespace {

constexpr absl::string_view kLevel = "L1/";
constexpr uint32_t kMostWorkers = 4096;

absl::Status Wrong(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is no case id: ", what,
      "; one looks like L1/matmul/f32.q4_k.f32/M=3,N=5,K=256/dist=lossless/lay=dense/seed=1/thr=3/"
      "kern=matmul/any/generic_base@halyard"));
}

// Takes "/name=value" off the end of *text; false if it does not end so.
bool TakeLast(absl::string_view name, absl::string_view* text, absl::string_view* out_value) {
  const size_t at = text->rfind(absl::StrCat("/", name, "="));
  if (at == absl::string_view::npos) return false;
  *out_value = text->substr(at + name.size() + 2);
  *text = text->substr(0, at);
  return true;
}

bool ParseParams(absl::string_view text, std::vector<std::pair<std::string, int64_t>>* out) {
  for (const absl::string_view part : absl::StrSplit(text, '+')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    int64_t value = 0;
    if (pair.first.empty() || !absl::SimpleAtoi(pair.second, &value)) return false;
    out->emplace_back(std::string(pair.first), value);
  }
  return true;
}

}  // namespace

bool IsOpCaseId(absl::string_view text) { return absl::StartsWith(text, kLevel); }

std::string OpCaseIdText(const OpCaseId& id) {
  std::string text = absl::StrCat(kLevel, ops::CaseText(id.c), "/thr=", id.workers);
  for (size_t i = 0; i < id.params.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "/par=" : "+", id.params[i].first, "=", id.params[i].second);
  }
  return absl::StrCat(text, "/kern=", id.kernel);
}

absl::StatusOr<OpCaseId> ParseOpCaseId(absl::string_view text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, kLevel)) return Wrong(text, "it does not begin with L1");
  OpCaseId id;
  const size_t kernel_at = rest.find("/kern=");
  if (kernel_at == absl::string_view::npos) return Wrong(text, "it lacks /kern=");
  id.kernel = std::string(rest.substr(kernel_at + 6));
  rest = rest.substr(0, kernel_at);
  absl::string_view value;
  if (TakeLast("par", &rest, &value) && !ParseParams(value, &id.params)) {
    return Wrong(text, "par is not NAME=INTEGER joined by '+'");
  }
  if (!TakeLast("thr", &rest, &value) || !absl::SimpleAtoi(value, &id.workers) || id.workers == 0 ||
      id.workers > kMostWorkers) {
    return Wrong(text, "it lacks /thr=, the number of workers");
  }
  if (id.kernel.empty()) return Wrong(text, "it names no kernel");
  absl::StatusOr<ops::Case> c = ops::ParseCase(rest);
  if (!c.ok()) return Wrong(text, c.status().message());
  id.c = *std::move(c);
  return id;
}

uint32_t ChooseWorkers(const ops::Case& c, int64_t rows) {
  const auto above = static_cast<uint32_t>(std::min<int64_t>(std::max<int64_t>(rows, 0) + 1, 200));
  const uint32_t choices[] = {1, 2, 3, 5, above, 64, 2, 3};
  return choices[Digest(ops::CaseText(c)) % 8];
}

}  // namespace halyard::conformance
