// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/expectation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/golden/byte_order.h"

namespace halyard::conformance {
namespace {

using reference::Expected;
using reference::ExpectedOutput;

constexpr int kBoundBits = 16;

double RoundUp(double bound) {
  if (!(bound > 0) || !std::isfinite(bound)) return bound;
  constexpr uint64_t kBelow = (UINT64_C(1) << (53 - kBoundBits)) - 1;
  // A carry goes on into the exponent, which is right.
  return std::bit_cast<double>((std::bit_cast<uint64_t>(bound) + kBelow) & ~kBelow);
}

// Which NaN an operation gives depends on the machine and on the order of operands; judges take any.
void UnifyNans(std::vector<double>* inout_values) {
  std::replace_if(
      inout_values->begin(), inout_values->end(), [](double value) { return std::isnan(value); },
      std::numeric_limits<double>::quiet_NaN());
}

void MakePortable(ExpectedOutput* inout) {
  std::transform(inout->bound.begin(), inout->bound.end(), inout->bound.begin(), RoundUp);
  UnifyNans(&inout->value);
  UnifyNans(&inout->bound);
  for (std::vector<double>& others : inout->alternatives) UnifyNans(&others);
}

// Judges index tensors by these, and trust references; a file is not trusted.
bool Fits(const registry::Op& op, const void* args, const ExpectedOutput& output) {
  if (output.operand >= op.operands().size()) return false;
  const hy_tensor& tensor = op.tensor(output.operand, args);
  if (!hy_tensor_present(&tensor)) return false;
  const auto rows = static_cast<uint64_t>(hy_tensor_rows(&tensor));
  const uint64_t elements = rows * static_cast<uint64_t>(hy_tensor_cols(&tensor));
  const uint64_t bytes = rows * hy_type_row_bytes(tensor.type, hy_tensor_cols(&tensor));
  return (output.value.empty() || output.value.size() == elements) &&
         (output.bytes.empty() || output.bytes.size() == bytes) &&
         (output.untouched.empty() || output.untouched.size() == elements);
}

}  // namespace

reference::Numerics NumericsOf(const hy_kernel_desc& kernel) {
  return {kernel.activation, kernel.accumulator, kernel.flags & HY_KERNEL_FTZ};
}

bool SameNumerics(const reference::Numerics& a, const reference::Numerics& b) {
  return a.activation == b.activation && a.accumulator == b.accumulator && a.flags == b.flags;
}

absl::StatusOr<Expected> ComputeExpectation(const TestedOp& op, const void* args,
                                            const reference::Numerics& numerics) {
  Expected expected;
  HY_RETURN_IF_ERROR(op.reference->expect(args, numerics, &expected));
  for (ExpectedOutput& output : expected.outputs) MakePortable(&output);
  return expected;
}

absl::StatusOr<std::vector<GoldenExpectation>> ReadExpectations(const GoldenPack& pack,
                                                                const TestedOp& op,
                                                                const void* args) {
  HY_ASSIGN_OR_RETURN(std::vector<GoldenExpectation> all, pack.Find(KeyOf(*op.op, args)));
  for (GoldenExpectation& one : all) {
    for (const ExpectedOutput& output : one.expected.outputs) {
      if (Fits(*op.op, args, output)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "the golden pack has an entry that does not fit ", op.op->name(), ": write it again"));
    }
    ToLittleEndian(*op.op, args, &one.expected);
  }
  return all;
}

}  // namespace halyard::conformance
