// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace halyard {
namespace {

constexpr size_t kMaxIds = 65536;

absl::Status Malformed(absl::string_view text, absl::string_view why) {
  constexpr size_t kShown = 80;
  absl::string_view tail = text.size() > kShown ? "..." : "";
  return absl::InvalidArgumentError(
      absl::StrCat("'", text.substr(0, kShown), tail, "' is no list of ids: ", why));
}

// SimpleAtoi takes signs and blanks, which the kernel never writes.
bool ParseNumber(absl::string_view text, uint32_t* out) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, out);
}

struct Range {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t step = 1;
};

absl::StatusOr<Range> ParseRange(absl::string_view item, absl::string_view text) {
  Range range;
  const size_t dash = item.find('-');
  if (!ParseNumber(item.substr(0, dash), &range.first)) {
    return Malformed(text, "a number is missing");
  }
  range.last = range.first;
  if (dash == absl::string_view::npos) return range;
  absl::string_view rest = item.substr(dash + 1);
  const size_t slash = rest.find('/');
  if (!ParseNumber(rest.substr(0, slash), &range.last)) {
    return Malformed(text, "the end of a range is missing");
  }
  if (slash != absl::string_view::npos && !ParseNumber(rest.substr(slash + 1), &range.step)) {
    return Malformed(text, "the step of a range is missing");
  }
  if (range.step == 0) return Malformed(text, "a step of 0");
  if (range.last < range.first) return Malformed(text, "a range runs backwards");
  return range;
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> ParseCpuList(absl::string_view text) {
  std::vector<uint32_t> ids;
  const absl::string_view stripped = absl::StripAsciiWhitespace(text);
  if (stripped.empty()) return ids;
  for (absl::string_view item : absl::StrSplit(stripped, ',')) {
    HY_ASSIGN_OR_RETURN(const Range range, ParseRange(item, text));
    const uint64_t count = uint64_t{range.last - range.first} / range.step + 1;
    if (count > kMaxIds - ids.size()) {
      return Malformed(text, absl::StrCat("more than ", kMaxIds, " ids"));
    }
    for (uint64_t id = range.first; id <= range.last; id += range.step) {
      ids.push_back(static_cast<uint32_t>(id));
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::string FormatCpuList(absl::Span<const uint32_t> ids) {
  std::vector<uint32_t> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string text;
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ",", sorted[begin]);
    if (end - begin > 1) absl::StrAppend(&text, "-", sorted[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace halyard
