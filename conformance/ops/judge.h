// SPDX-License-Identifier: Apache-2.0
//
// The verdict on what a kernel wrote: every element against its own bound, and the whole for what
// single elements cannot show. Rules and their reasons: docs/conformance.md.
#ifndef HALYARD_CONFORMANCE_OPS_JUDGE_H_
#define HALYARD_CONFORMANCE_OPS_JUDGE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "halyard/kernel.h"
#include "reference/reference.h"

namespace halyard::conformance {

/// Buckets of err/T: up to 1/8, 1/4, 1/2, 3/4, 1, 2, more.
inline constexpr std::array<double, 6> kErrorBuckets = {0.125, 0.25, 0.5, 0.75, 1, 2};
using ErrorHistogram = std::array<uint64_t, 7>;

/// An element that is not what it should be.
struct BadElement {
  int64_t index = 0;  ///< over rows and columns; of bytes: over all rows
  double got = 0;
  double want = 0;
  double bound = 0;
  std::string note;  ///< "never written", "must not be touched"; empty for a number that is off
};

/// One output operand.
struct OutputVerdict {
  uint32_t operand = 0;
  bool exact = false;  ///< all elements were compared without tolerance
  uint64_t elements = 0;
  uint64_t bad = 0;
  uint64_t not_finite = 0;  ///< of those, NaN or infinite where they must not be, or the reverse
  std::vector<BadElement> first_bad;  ///< up to kFirstBad
  double worst_error = 0;             ///< largest err/T of what has a T
  double worst_ulp = 0;               ///< largest error in units of the last place
  double rms = 0;                     ///< of arithmetic errors in units of their bound
  double bias = 0;                    ///< |z| of the signed rounding error
  ErrorHistogram histogram{};
  std::string gate;  ///< what the whole fails by, though each element is within its bound
};
inline constexpr size_t kFirstBad = 16;

struct Judgement {
  std::vector<OutputVerdict> outputs;
  double power = 1;  ///< share of sampled terms that would be missed
  std::string weak;  ///< why the bounds of a pass say little; see also weak_values.h
  bool holds() const;
  /// It does not hold, and all that is wrong is how far finite numbers are off.
  bool off_by_numbers() const;
  /// All outputs were compared without tolerance.
  bool exact() const;
  /// What is wrong, in a line.
  std::string Reason(const hy_op_desc& op) const;
};

/// Bytes of a row of an operand as they were before the run.
using RowBeforeFn = std::function<std::vector<uint8_t>(const hy_tensor& tensor, int64_t row)>;

/// Which of the gates on whole outputs apply. Inputs that are results themselves lie on the coarse grid
/// of their type: what is made of them rounds in step, and a bias of rounding means nothing.
enum class Gates { kAll, kWithoutBias };

/// Judges the outputs in `args` after a run.
Judgement JudgeOutputs(const hy_op_desc& op, const void* args, const reference::Expected& expected,
                       const RowBeforeFn& before, Gates gates = Gates::kAll);

/// All elements of a tensor of a type that has values.
std::vector<double> LoadValues(const hy_tensor& tensor);

/// Distance of neighbours of a float type at `value`; 1 for integers.
double UlpOf(uint32_t type, double value);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_JUDGE_H_
