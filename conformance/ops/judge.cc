// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/judge.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "conformance/ops/judge_gates.h"
#include "conformance/ops/judge_records.h"

namespace halyard::conformance {
namespace {

using reference::ExpectedOutput;

void AddBad(OutputVerdict* out, BadElement bad) {
  ++out->bad;
  if (out->first_bad.size() < kFirstBad) out->first_bad.push_back(std::move(bad));
}

void CountError(double ratio, OutputVerdict* out) {
  size_t bucket = 0;
  while (bucket < kErrorBuckets.size() && !(ratio <= kErrorBuckets[bucket])) ++bucket;
  ++out->histogram[bucket];
}

/// What element `i` must be, and how far off it may be.
struct Target {
  double value;
  double bound;  // 0: equal
  bool sign_matters;
};

Target TargetOf(const ExpectedOutput& want, uint32_t type, size_t i) {
  const double bound = want.exact || want.bound.empty() ? 0 : want.bound[i];
  const bool rounds = bound == 0 && hy_type_is_float(type);
  return {rounds ? reference::RoundTo(type, want.value[i]) : want.value[i], bound, want.exact};
}

bool IsAlternative(const ExpectedOutput& want, size_t i, double got) {
  if (i >= want.alternatives.size()) return false;
  const std::vector<double>& others = want.alternatives[i];
  return std::find(others.begin(), others.end(), got) != others.end();
}

bool Holds(const Target& target, double got) {
  if (std::isnan(target.value)) return std::isnan(got);
  if (got == target.value) {
    return !target.sign_matters || std::signbit(got) == std::signbit(target.value);
  }
  return std::isfinite(target.value) && std::abs(got - target.value) <= target.bound;
}

void JudgeElement(const ExpectedOutput& want, uint32_t type, size_t i, double got, GateSums* gates,
                  OutputVerdict* out) {
  const Target target = TargetOf(want, type, i);
  if (IsAlternative(want, i, got)) return CountError(0, out);
  const double error = std::abs(got - target.value);
  if (!std::isfinite(error) && !Holds(target, got)) ++out->not_finite;
  if (std::isfinite(error)) {
    const double ratio = error == 0 ? 0 : target.bound > 0 ? error / target.bound : INFINITY;
    CountError(ratio, out);
    out->worst_error = std::max(out->worst_error, ratio);
    out->worst_ulp = std::max(out->worst_ulp, error / UlpOf(type, target.value));
    gates->Add(type, got, target.value, target.bound);
  }
  if (!Holds(target, got)) {
    AddBad(out, {static_cast<int64_t>(i), got, target.value, target.bound, ""});
  }
}

void JudgeUntouched(const hy_tensor& tensor, const ExpectedOutput& want, const RowBeforeFn& before,
                    OutputVerdict* out) {
  const auto cols = static_cast<size_t>(hy_tensor_cols(&tensor));
  const uint64_t row_bytes = hy_type_row_bytes(tensor.type, hy_tensor_cols(&tensor));
  for (size_t first = 0; cols > 0 && first < want.untouched.size(); first += cols) {
    const auto row = static_cast<int64_t>(first / cols);
    const auto begin = want.untouched.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::find(begin, begin + static_cast<std::ptrdiff_t>(cols), 1) ==
        begin + static_cast<std::ptrdiff_t>(cols)) {
      continue;
    }
    const std::vector<uint8_t> was = before(tensor, row);
    const auto* is = static_cast<const uint8_t*>(hy_tensor_row(&tensor, row));
    // Elements of a size of their own one by one; blocks of a format only as whole rows.
    const bool plain = hy_type_facts(tensor.type)->block == 1 && !hy_type_is_a8(tensor.type);
    const uint64_t size = plain ? row_bytes / cols : row_bytes;
    for (size_t c = 0; c * size < row_bytes; ++c) {
      if (want.untouched[first + c] == 0) continue;
      if (std::memcmp(is + c * size, was.data() + c * size, static_cast<size_t>(size)) == 0) {
        continue;
      }
      AddBad(out, {static_cast<int64_t>(first + c), 0, 0, 0, "must not be touched, and was"});
    }
  }
}

void JudgeBytes(const hy_tensor& tensor, const ExpectedOutput& want, OutputVerdict* out) {
  const uint64_t row_bytes = hy_type_row_bytes(tensor.type, hy_tensor_cols(&tensor));
  out->exact = true;
  out->elements = want.bytes.size();
  for (uint64_t i = 0; row_bytes > 0 && i < want.bytes.size(); ++i) {
    const auto row = static_cast<int64_t>(i / row_bytes);
    const auto* at = static_cast<const uint8_t*>(hy_tensor_row(&tensor, row));
    if (want.bytes[i] == at[i % row_bytes]) continue;
    const bool spared = !want.untouched.empty() &&
                        want.untouched[static_cast<size_t>(row * hy_tensor_cols(&tensor))] != 0;
    if (spared) continue;
    AddBad(out, {static_cast<int64_t>(i), static_cast<double>(at[i % row_bytes]),
                 static_cast<double>(want.bytes[i]), 0, "byte"});
  }
}

OutputVerdict JudgeOne(const hy_op_desc& op, const void* args, const ExpectedOutput& want,
                       const RowBeforeFn& before, Gates which) {
  const hy_tensor& tensor = *hy_operand_tensor(&op.operands[want.operand], args);
  OutputVerdict out;
  out.operand = want.operand;
  if (!want.untouched.empty()) JudgeUntouched(tensor, want, before, &out);
  if (!want.bytes.empty()) {
    JudgeBytes(tensor, want, &out);
    return out;
  }
  const std::vector<double> got = LoadValues(tensor);
  out.elements = got.size();
  if (want.value.size() != got.size()) {
    out.gate = absl::StrCat("the reference gave ", want.value.size(), " values for ", got.size(),
                            " elements");
    return out;
  }
  out.exact = true;
  GateSums gates;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!want.untouched.empty() && want.untouched[i] != 0) continue;
    if (!want.exact && want.bound[i] != 0) out.exact = false;
    JudgeElement(want, tensor.type, i, got[i], &gates, &out);
  }
  if (hy_type_is_a8(tensor.type)) out.gate = RecordFault(tensor);
  if (out.gate.empty()) out.gate = gates.Fault(which, &out);
  return out;
}

}  // namespace

double UlpOf(uint32_t type, double value) {
  if (!hy_type_is_float(type)) return 1;
  const int bits = type == HY_TYPE_F16 ? 11 : type == HY_TYPE_BF16 ? 8 : 24;
  const int smallest = type == HY_TYPE_F16 ? -24 : type == HY_TYPE_BF16 ? -133 : -149;
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, smallest);
  return std::ldexp(1.0, std::max(smallest, std::ilogb(value) - bits + 1));
}

std::vector<double> LoadValues(const hy_tensor& tensor) {
  const int64_t rows = hy_tensor_rows(&tensor);
  const auto cols = static_cast<size_t>(hy_tensor_cols(&tensor));
  std::vector<double> values(static_cast<size_t>(rows) * cols);
  for (int64_t r = 0; r < rows && cols > 0; ++r) {
    reference::LoadRow(tensor, r, &values[static_cast<size_t>(r) * cols]);
  }
  return values;
}

bool Judgement::holds() const {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const OutputVerdict& out) { return out.bad == 0 && out.gate.empty(); });
}

bool Judgement::off_by_numbers() const {
  return !holds() && std::all_of(outputs.begin(), outputs.end(), [](const OutputVerdict& out) {
    return out.not_finite == 0 &&
           std::all_of(out.first_bad.begin(), out.first_bad.end(),
                       [](const BadElement& bad) { return bad.note.empty(); });
  });
}

bool Judgement::exact() const {
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(),
                                         [](const OutputVerdict& out) { return out.exact; });
}

std::string Judgement::Reason(const hy_op_desc& op) const {
  std::string reason;
  for (const OutputVerdict& out : outputs) {
    if (out.bad == 0 && out.gate.empty()) continue;
    if (!reason.empty()) reason += "; ";
    absl::StrAppend(&reason, op.operands[out.operand].name, ": ");
    if (out.bad == 0) {
      reason += out.gate;
      continue;
    }
    const BadElement& first = out.first_bad.front();
    absl::StrAppend(&reason, out.bad, " of ", out.elements, out.exact ? " (exact)" : "",
                    " are wrong, first [", first.index, "]");
    if (first.note.empty() || first.note == "byte") {
      absl::StrAppend(&reason, absl::StrFormat(": %.9g, expected %.9g", first.got, first.want));
      if (first.bound > 0) absl::StrAppend(&reason, absl::StrFormat(" +- %.3g", first.bound));
    } else {
      absl::StrAppend(&reason, ": ", first.note);
    }
  }
  return reason;
}

Judgement JudgeOutputs(const hy_op_desc& op, const void* args, const reference::Expected& expected,
                       const RowBeforeFn& before, Gates gates) {
  Judgement judgement;
  for (const ExpectedOutput& want : expected.outputs) {
    judgement.outputs.push_back(JudgeOne(op, args, want, before, gates));
  }
  if (expected.terms_sampled != 0) {
    judgement.power =
        static_cast<double>(expected.terms_visible) / static_cast<double>(expected.terms_sampled);
  }
  constexpr double kLeastPower = 0.9;
  if (judgement.power < kLeastPower && !judgement.exact()) {
    judgement.weak =
        absl::StrFormat("the bound hides a dropped term (power %.2f)", judgement.power);
  }
  return judgement;
}

}  // namespace halyard::conformance
