// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/golden_compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "conformance/golden/expectation.h"

namespace halyard::conformance {
namespace {

using reference::Expected;
using reference::ExpectedOutput;

constexpr double kApart = std::numeric_limits<double>::infinity();
constexpr size_t kMostLines = 20;
// Two steps of a bound of 16 bits.
constexpr double kBoundStep = 1.0 / 16384;

bool SameBits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

// Unlike ==, NaN is the same as NaN.
bool SameValues(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameBits);
}

bool CloseBounds(double a, double b) {
  return SameBits(a, b) || std::abs(a - b) <= kBoundStep * std::min(a, b);
}

// The largest difference of a value in units of its bound; kApart where they differ in kind.
double DifferenceOf(const ExpectedOutput& a, const ExpectedOutput& b) {
  if (a.operand != b.operand || a.exact != b.exact || a.value.size() != b.value.size() ||
      a.bound.size() != b.bound.size() || a.bytes != b.bytes || a.untouched != b.untouched ||
      !std::equal(a.alternatives.begin(), a.alternatives.end(), b.alternatives.begin(),
                  b.alternatives.end(), SameValues)) {
    return kApart;
  }
  double worst = 0;
  for (size_t i = 0; i < a.value.size(); ++i) {
    const bool bounded = i < a.bound.size();
    if (bounded && !CloseBounds(a.bound[i], b.bound[i])) return kApart;
    if (SameBits(a.value[i], b.value[i])) continue;
    const double bound = bounded && !a.exact ? std::min(a.bound[i], b.bound[i]) : 0;
    const double ratio = std::abs(a.value[i] - b.value[i]) / bound;
    worst = std::max(worst, std::isnan(ratio) ? kApart : ratio);
  }
  return worst;
}

double DifferenceOf(const Expected& a, const Expected& b) {
  if (a.status != b.status || a.terms_sampled != b.terms_sampled ||
      a.outputs.size() != b.outputs.size()) {
    return kApart;
  }
  double worst = 0;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    worst = std::max(worst, DifferenceOf(a.outputs[i], b.outputs[i]));
  }
  return worst;
}

void AddLine(const GoldenArgs& args, const reference::Numerics& numerics, absl::string_view what,
             GoldenCheck* inout) {
  if (inout->lines.size() >= kMostLines) return;
  inout->lines.push_back(absl::StrCat(args.case_text, " (activation ", numerics.activation,
                                      ", accumulator ", numerics.accumulator, "): ", what));
}

void CompareOne(const GoldenArgs& args, const GoldenExpectation& here,
                const GoldenExpectation& pack, GoldenCheck* inout) {
  if (EncodeExpectations({here}) == EncodeExpectations({pack})) {
    ++inout->same;
    return;
  }
  const double difference = DifferenceOf(here.expected, pack.expected);
  inout->worst = std::max(inout->worst, difference);
  const bool close = difference <= kCloseToBound;
  ++(close ? inout->close : inout->differ);
  if (close) return;
  AddLine(args, here.numerics,
          std::isfinite(difference) ? absl::StrFormat("off by %.3g of the bound", difference)
                                    : "other results, bounds or kinds of them",
          inout);
}

}  // namespace

void CompareExpectations(const GoldenArgs& computed, const std::vector<GoldenExpectation>& pack,
                         GoldenCheck* inout) {
  for (const GoldenExpectation& here : computed.all) {
    const auto same = std::find_if(pack.begin(), pack.end(), [&](const GoldenExpectation& one) {
      return SameNumerics(one.numerics, here.numerics);
    });
    if (same != pack.end()) {
      CompareOne(computed, here, *same, inout);
      continue;
    }
    ++inout->missing;
    AddLine(computed, here.numerics, "the pack does not have it", inout);
  }
}

std::string GoldenCheckToText(const GoldenCheck& check) {
  std::string text = absl::StrCat("#", check.same, " ", check.close, " ", check.differ, " ",
                                  check.missing, " ", absl::StrFormat("%.17g", check.worst), "\n");
  for (const std::string& line : check.lines) absl::StrAppend(&text, line, "\n");
  return text;
}

absl::StatusOr<GoldenCheck> GoldenCheckFromText(absl::string_view text) {
  GoldenCheck all;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] != '#') {
      if (all.lines.size() < kMostLines) all.lines.emplace_back(line);
      continue;
    }
    const std::vector<std::string> words = absl::StrSplit(line.substr(1), ' ');
    GoldenCheck one;
    if (words.size() != 5 || !absl::SimpleAtoi(words[0], &one.same) ||
        !absl::SimpleAtoi(words[1], &one.close) || !absl::SimpleAtoi(words[2], &one.differ) ||
        !absl::SimpleAtoi(words[3], &one.missing) || !absl::SimpleAtod(words[4], &one.worst)) {
      return absl::InternalError("a part of the check reports nonsense");
    }
    all.same += one.same;
    all.close += one.close;
    all.differ += one.differ;
    all.missing += one.missing;
    all.worst = std::max(all.worst, one.worst);
  }
  return all;
}

}  // namespace halyard::conformance
