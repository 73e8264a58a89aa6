// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/weak_values.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace halyard::conformance {
namespace {

using reference::Expected;
using reference::ExpectedOutput;

// Of fewer values nobody expects that they differ.
constexpr uint64_t kFewValues = 8;

bool Same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

struct Tally {
  uint64_t free = 0;  // elements that could differ
  uint64_t zeros = 0;
  bool all_equal = true;
};

Tally Count(const ExpectedOutput& want, const ExpectedOutput* other) {
  Tally tally;
  double first = 0;
  for (size_t i = 0; i < want.value.size(); ++i) {
    if (i < want.untouched.size() && want.untouched[i] != 0) continue;
    if (other != nullptr && Same(want.value[i], other->value[i])) continue;
    if (tally.free++ == 0) first = want.value[i];
    tally.zeros += want.value[i] == 0 ? 1 : 0;
    tally.all_equal = tally.all_equal && Same(want.value[i], first);
  }
  return tally;
}

const ExpectedOutput* Counterpart(const Expected* other, size_t i, size_t size) {
  if (other == nullptr || i >= other->outputs.size()) return nullptr;
  return other->outputs[i].value.size() == size ? &other->outputs[i] : nullptr;
}

bool Says(const Tally& tally) {
  return tally.free > 0 && !tally.all_equal && 2 * tally.zeros <= tally.free;
}

std::string WhatIsWeak(absl::string_view name, const Tally& tally) {
  return tally.all_equal ? absl::StrCat("all elements of ", name, " are the same")
                         : absl::StrCat("most elements of ", name, " are zero");
}

// `few`: of the elements that are free, those of outputs with too few to differ.
std::string EdgeOf(uint64_t elements, uint64_t free, uint64_t few) {
  if (elements == 0) return "there is nothing to compute";
  if (free == 0) return "every element is the same for any data";
  return few == free ? "too few elements to differ" : "";
}

}  // namespace

ValueStrength StrengthOf(const hy_op_desc& op, const Expected& expected, const Expected* other) {
  ValueStrength strength;
  if (expected.status != HY_OK) {
    strength.edge = "it must be refused";
    return strength;
  }
  uint64_t elements = 0;
  uint64_t free = 0;
  uint64_t few = 0;
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    const ExpectedOutput& want = expected.outputs[i];
    elements += want.value.size() + want.bytes.size();
    free += want.bytes.size();
    const Tally tally = Count(want, Counterpart(other, i, want.value.size()));
    free += tally.free;
    if (tally.free == 0 || Says(tally)) continue;
    if (tally.free < kFewValues) {
      few += tally.free;
    } else if (strength.weak.empty()) {
      strength.weak = WhatIsWeak(op.operands[want.operand].name, tally);
      strength.all_same = tally.all_equal;
    }
  }
  if (!strength.weak.empty()) return strength;
  strength.edge = EdgeOf(elements, free, few);
  return strength;
}

bool IsPlainDistribution(absl::string_view dist) {
  static constexpr absl::string_view kPlain[] = {"uniform",  "normal", "llm",
                                                 "positive", "cancel", "lossless"};
  return std::find(std::begin(kPlain), std::end(kPlain), dist) != std::end(kPlain);
}

}  // namespace halyard::conformance
