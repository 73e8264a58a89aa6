// SPDX-License-Identifier: Apache-2.0
#include "conformance/filter.h"

#include "absl/strings/str_split.h"

namespace halyard::conformance {

bool GlobMatches(absl::string_view glob, absl::string_view text) {
  // The place to go back to: the last star, and the text it has swallowed so far.
  size_t g = 0, t = 0, star = absl::string_view::npos, swallowed = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      swallowed = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != absl::string_view::npos) {
      g = star + 1;
      t = ++swallowed;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

Filter::Filter(absl::string_view text) {
  for (absl::string_view part : absl::StrSplit(text, ':', absl::SkipWhitespace())) {
    if (part.front() == '-') {
      excluded_.emplace_back(part.substr(1));
    } else {
      wanted_.emplace_back(part);
    }
  }
}

bool Filter::Chooses(absl::string_view duty, absl::string_view test, absl::string_view id) const {
  const auto any = [&](const std::vector<std::string>& globs) {
    for (const std::string& glob : globs) {
      if (GlobMatches(glob, duty) || GlobMatches(glob, test) || GlobMatches(glob, id)) return true;
    }
    return false;
  };
  return (wanted_.empty() || any(wanted_)) && !any(excluded_);
}

}  // namespace halyard::conformance
