// SPDX-License-Identifier: Apache-2.0
//
// What the cases of a run of level L1 say together: of each kernel on each tuple of types which edges
// they cover, and whether any of them can tell it from a wrong one.
#ifndef HALYARD_CONFORMANCE_OPS_COVERAGE_H_
#define HALYARD_CONFORMANCE_OPS_COVERAGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/result.h"

namespace halyard::conformance {

struct CaseCounts {
  uint32_t passed = 0;
  uint32_t failed = 0;
  uint32_t weak = 0;
  uint32_t waived = 0;
  uint32_t skipped = 0;

  void Add(Verdict verdict);
  uint32_t ran() const { return passed + failed + weak + waived; }
};

/// One kernel on one tuple of types.
struct KernelCoverage {
  std::string op;
  std::string types;   ///< "f32.q4_k.f32", or of a check its name
  std::string kernel;  ///< id, "auto", or of a check its object
  bool is_check = false;
  CaseCounts counts;
  /// Of the cases that passed, those that show something: exact or by bounds that would have seen a
  /// dropped term, of values that can differ.
  uint32_t telling = 0;
  uint32_t exact = 0;                       ///< of these, the exact ones
  std::map<std::string, CaseCounts> edges;  ///< by code; those of every case included
  // Of the cases judged by bounds, or failed; nullptr if there is none. Borrowed from the run.
  const CaseResult* worst_error = nullptr;
  const CaseResult* worst_ulp = nullptr;
};

/// In the order in which they first come.
std::vector<KernelCoverage> CoverageOf(const RunResult& run);

/// True if a case that passed shows that values are right.
bool IsTelling(const CaseResult& one);

/// The vacuity rule: kernels and types of which only weak cases and edge cases speak, a line each.
/// Empty for a shard and for a replay, which are no ground to say so; merging asks again. Where only
/// chosen cases ran, edge cases alone are no reason.
std::vector<std::string> Unshown(const RunResult& run);

/// The verdict on a run: nothing failed, and of L0 nothing is weak, of L1 nothing unshown.
bool Holds(const RunResult& run);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_COVERAGE_H_
