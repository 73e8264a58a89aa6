// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/op_facts.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace halyard::conformance {
namespace {

OutputVerdict WorstOf(const Judgement& judgement) {
  OutputVerdict all;
  for (const OutputVerdict& one : judgement.outputs) {
    all.worst_error = std::max(all.worst_error, one.worst_error);
    all.worst_ulp = std::max(all.worst_ulp, one.worst_ulp);
    all.rms = std::max(all.rms, one.rms);
    all.bias = std::max(all.bias, one.bias);
    for (size_t i = 0; i < all.histogram.size(); ++i) all.histogram[i] += one.histogram[i];
  }
  return all;
}

}  // namespace

void AddValueFacts(const Judgement& judgement, CaseResult* out) {
  const auto add = [&](const char* name, std::string value) {
    out->facts.emplace_back(name, std::move(value));
  };
  const OutputVerdict all = WorstOf(judgement);
  add(kModeFact, judgement.exact() ? "E" : "B");
  if (judgement.outputs.empty()) return;
  add(kErrorFact, absl::StrFormat("%.3g", all.worst_error));
  add(kUlpFact, absl::StrFormat("%.3g", all.worst_ulp));
  if (judgement.off_by_numbers()) add(kOffByNumbersFact, "yes");
  if (judgement.exact()) return;
  add("rms", absl::StrFormat("%.3f", all.rms));
  add("bias_z", absl::StrFormat("%.2f", all.bias));
  add("power", absl::StrFormat("%.3f", judgement.power));
  add("histogram", absl::StrJoin(all.histogram, " "));
}

void AddExpectedBy(bool golden, CaseResult* out) {
  out->facts.emplace_back(kExpectedByFact, golden ? kByPack : kComputed);
}

double FactNumber(const CaseResult& one, absl::string_view name) {
  const std::string* const text = one.Fact(name);
  double value = 0;
  return text != nullptr && absl::SimpleAtod(*text, &value) ? value : 0;
}

}  // namespace halyard::conformance
