// SPDX-License-Identifier: Apache-2.0
//
// What the elements of an output say together, though each is within its bound.
#ifndef HALYARD_CONFORMANCE_OPS_JUDGE_GATES_H_
#define HALYARD_CONFORMANCE_OPS_JUDGE_GATES_H_

#include <cstdint>
#include <string>

#include "conformance/ops/judge.h"

namespace halyard::conformance {

/// Sums over the elements of one output.
class GateSums {
 public:
  /// `got` and `want` are finite.
  void Add(uint32_t type, double got, double want, double bound);

  /// Sets rms and bias, and says what they fail by; empty if they hold.
  std::string Fault(Gates gates, OutputVerdict* out) const;

 private:
  // Errors beyond what storing costs, in units of what the arithmetic may.
  uint64_t arithmetic_count_ = 0;
  double arithmetic_squares_ = 0;
  // Signed errors in units of the last place, where storing is most of the bound: a store that
  // truncates stays within the bound of each element, but errs to one side.
  uint64_t stored_count_ = 0;
  double up_sum_ = 0, up_squares_ = 0;            // towards larger numbers
  double outward_sum_ = 0, outward_squares_ = 0;  // away from zero
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_JUDGE_GATES_H_
