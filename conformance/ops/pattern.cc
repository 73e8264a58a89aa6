// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/pattern.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace halyard::conformance {
namespace {

constexpr double kNear = 1e-3;
constexpr int64_t kLongestShift = 256;
// What one element shows is no pattern.
constexpr size_t kLeastElements = 3;

std::vector<size_t> BadPlaces(const PatternInput& in) {
  std::vector<size_t> places;
  for (size_t i = 0; i < in.bad.size(); ++i) {
    if (in.bad[i] != 0) places.push_back(i);
  }
  return places;
}

bool Near(double a, double b) { return std::abs(a - b) <= kNear * std::abs(b); }

// A factor that takes every wrong element from what it should be.
std::string Factor(const PatternInput& in, const std::vector<size_t>& bad) {
  double factor = 0;
  for (const size_t i : bad) {
    if (in.want[i] == 0 || !std::isfinite(in.got[i]) || !std::isfinite(in.want[i])) return "";
    const double ratio = in.got[i] / in.want[i];
    if (factor == 0) factor = ratio;
    if (ratio == 0 || !Near(ratio, factor)) return "";
  }
  if (Near(factor, -1)) return "all have the other sign";
  return absl::StrFormat("all are off by the factor %.6g", factor);
}

std::string Kind(const PatternInput& in, const std::vector<size_t>& bad) {
  const auto all = [&](auto holds) { return std::all_of(bad.begin(), bad.end(), holds); };
  if (all([&](size_t i) { return std::isnan(in.got[i]) && !std::isnan(in.want[i]); })) {
    return "all are NaN";
  }
  if (all([&](size_t i) { return in.got[i] == 0 && in.want[i] != 0; })) return "all are zero";
  if (all([&](size_t i) { return std::isinf(in.got[i]); })) return "all are infinite";
  return "";
}

// Elements that hold what belongs some places on, in the order of memory.
std::string Shift(const PatternInput& in, const std::vector<size_t>& bad) {
  const auto size = static_cast<int64_t>(in.want.size());
  for (int64_t distance = 1; distance <= kLongestShift; ++distance) {
    for (const int64_t d : {distance, -distance}) {
      const bool fits = std::all_of(bad.begin(), bad.end(), [&](size_t i) {
        const int64_t from = static_cast<int64_t>(i) + d;
        return from >= 0 && from < size && Near(in.got[i], in.want[static_cast<size_t>(from)]) &&
               in.got[i] != 0;
      });
      if (fits) return absl::StrCat("each holds what belongs ", d, " elements on");
    }
  }
  return "";
}

std::set<int64_t> Distinct(const std::vector<size_t>& bad, int64_t cols, bool columns) {
  std::set<int64_t> found;
  for (const size_t i : bad) {
    const auto at = static_cast<int64_t>(i);
    found.insert(columns ? at % cols : at / cols);
  }
  return found;
}

// Where along an axis of `size` the numbers in `at` lie; empty if all over it.
std::string Place(const std::set<int64_t>& at, int64_t size, absl::string_view axis) {
  if (static_cast<int64_t>(at.size()) == size) return "";
  if (at.size() == 1) return absl::StrCat("only ", axis, " ", *at.begin(), " of ", size);
  const int64_t first = *at.begin();
  const int64_t last = *at.rbegin();
  const bool joined = last - first + 1 == static_cast<int64_t>(at.size());
  if (joined && last == size - 1) {
    std::string text = absl::StrCat("only the last ", at.size(), " of ", size, " ", axis, "s");
    for (const int64_t width : {4, 8, 16, 32, 64, 128, 256}) {
      if (size % width == static_cast<int64_t>(at.size())) {
        absl::StrAppend(&text, ", the tail behind whole runs of ", width);
        break;
      }
    }
    return text;
  }
  for (int64_t period = 256; period >= 2; period /= 2) {
    const bool fits = std::all_of(at.begin(), at.end(),
                                  [&](int64_t one) { return one % period == first % period; });
    if (fits) return absl::StrCat("every ", period, "th ", axis, ", from ", first % period);
  }
  if (joined) return absl::StrCat("only ", axis, "s ", first, " to ", last, " of ", size);
  return "";
}

std::string Owner(const PatternInput& in, const std::vector<size_t>& bad) {
  if (in.owner.empty() || in.workers < 2) return "";
  const uint32_t first = in.owner[bad.front()];
  const bool one =
      std::all_of(bad.begin(), bad.end(), [&](size_t i) { return in.owner[i] == first; });
  return one ? absl::StrCat("only what worker ", first, " of ", in.workers, " wrote") : "";
}

}  // namespace

std::vector<std::string> FindPatterns(const PatternInput& in) {
  std::vector<std::string> patterns;
  const std::vector<size_t> bad = BadPlaces(in);
  if (bad.empty() || in.cols == 0) return patterns;
  const auto add = [&](std::string text) {
    if (!text.empty()) patterns.push_back(std::move(text));
    return !text.empty();
  };
  const std::string kind = Kind(in, bad);
  if (!kind.empty()) {
    add(kind);
  } else if (bad.size() >= kLeastElements) {
    const std::string factor = Factor(in, bad);
    add(factor.empty() ? Shift(in, bad) : factor);
  }
  const auto rows = static_cast<int64_t>(in.want.size()) / in.cols;
  add(Place(Distinct(bad, in.cols, true), in.cols, "column"));
  add(Place(Distinct(bad, in.cols, false), rows, "row"));
  add(Owner(in, bad));
  return patterns;
}

}  // namespace halyard::conformance
