// SPDX-License-Identifier: Apache-2.0
#include "engine/tokenizer/pretokenizer.h"

#include <algorithm>

namespace halyard::engine {
namespace {

using Points = absl::Span<const CodePoint>;

bool Has(const ClassSet& set, uint16_t classes) {
  return ((classes & set.mask) != 0) != set.negated;
}

/// Matches at places of one piece, of which nothing outside is seen.
class Matcher {
 public:
  Matcher(absl::string_view text, Points points, size_t begin, size_t end)
      : text_(text), points_(points), end_(end) {
    // Once, since to look from each place of a long run would take its square.
    trailing_spaces_ = end;
    while (trailing_spaces_ > begin && (points[trailing_spaces_ - 1].classes & kSpace) != 0)
      --trailing_spaces_;
  }

  /// How many code points the stage takes at `at`; 0: none.
  size_t Match(const Stage& stage, size_t at) const {
    for (const Alternative& one : stage) {
      if (const size_t taken = Match(one, at); taken != 0) return taken;
    }
    return 0;
  }

 private:
  size_t Match(const Alternative& one, size_t at) const {
    switch (one.kind) {
      case Alternative::kRun:
        return Run(one, at);
      case Alternative::kContraction:
        return Contraction(at, false);
      case Alternative::kContractionAnyCase:
        return Contraction(at, true);
      case Alternative::kSpacesToNewline:
        return SpacesToNewline(at);
      case Alternative::kSpacesBeforeWord: {
        const size_t spaces = Spaces(at);
        return at + spaces == end_ ? spaces : spaces > 1 ? spaces - 1 : 0;
      }
      case Alternative::kSpaces:
        return Spaces(at);
      case Alternative::kSpacesAtEnd:
        return at >= trailing_spaces_ ? end_ - at : 0;
    }
    return 0;
  }

  size_t Count(const ClassSet& set, size_t at, size_t most) const {
    size_t count = 0;
    while (count < most && at + count < end_ && Has(set, points_[at + count].classes)) ++count;
    return count;
  }

  // A prefix and a body have no class in common, so that trying with and without one is enough.
  size_t Run(const Alternative& one, size_t at) const {
    for (const size_t skip : {Count(one.prefix, at, 1), size_t{0}}) {
      const size_t body = Count(one.body, at + skip, one.most);
      if (body < one.least) continue;
      const size_t suffix =
          one.suffix.mask == 0 ? 0 : Count(one.suffix, at + skip + body, SIZE_MAX);
      return skip + body + suffix;
    }
    return 0;
  }

  size_t Spaces(size_t at) const { return Count({kSpace}, at, SIZE_MAX); }

  size_t SpacesToNewline(size_t at) const {
    size_t last = 0;
    const size_t spaces = Spaces(at);
    for (size_t i = 0; i < spaces; ++i) {
      if ((points_[at + i].classes & kNewline) != 0) last = i + 1;
    }
    return last;
  }

  char Letter(size_t at, bool any_case) const {
    if (at >= end_) return 0;
    const char c = text_[points_[at].offset];
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }

  size_t Contraction(size_t at, bool any_case) const {
    if (Letter(at, false) != '\'') return 0;
    const char first = Letter(at + 1, any_case);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
    const char second = Letter(at + 2, any_case);
    const bool three = (first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
                       (first == 'l' && second == 'l');
    return three ? 3 : 0;
  }

  const absl::string_view text_;
  const Points points_;
  const size_t end_;
  size_t trailing_spaces_;
};

// Cuts one piece; `out` takes the ends, as numbers of code points.
void CutPiece(const Stage& stage, absl::string_view text, Points points, size_t begin, size_t end,
              std::vector<size_t>* out) {
  const Matcher matcher(text, points, begin, end);
  size_t gap = begin;  // where what nothing took begins
  for (size_t at = begin; at < end;) {
    const size_t taken = matcher.Match(stage, at);
    if (taken == 0) {
      ++at;
      continue;
    }
    if (gap < at) out->push_back(at);
    at += taken;
    gap = at;
    out->push_back(at);
  }
  if (gap < end) out->push_back(end);
}

}  // namespace

std::vector<uint32_t> CutIntoWords(const PreRule& rule, absl::string_view text) {
  if (text.empty()) return {};
  const std::vector<CodePoint> points = CodePointsOf(text);
  std::vector<size_t> ends = {points.size() - 1};
  std::vector<size_t> next;
  for (const Stage& stage : rule.stages) {
    next.clear();
    size_t begin = 0;
    for (const size_t end : ends) {
      CutPiece(stage, text, points, begin, end, &next);
      begin = end;
    }
    ends.swap(next);
  }
  std::vector<uint32_t> offsets(ends.size());
  std::transform(ends.begin(), ends.end(), offsets.begin(),
                 [&](size_t end) { return points[end].offset; });
  return offsets;
}

}  // namespace halyard::engine
