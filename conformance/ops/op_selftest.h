// SPDX-License-Identifier: Apache-2.0
//
// The suite's own proof: every broken kernel must be found, within the quick set, by a case that
// cannot know it.
#ifndef HALYARD_CONFORMANCE_OPS_OP_SELFTEST_H_
#define HALYARD_CONFORMANCE_OPS_OP_SELFTEST_H_

#include <functional>
#include <string>
#include <vector>

#include "conformance/result.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// One case for each mutant whose id fits `filter`: passed means killed, and facts name the case that
/// did it. Then, if wanted, one for each control, which passes if nothing kills it.
std::vector<CaseResult> KillOpMutants(const RunRequest& base, const std::string& filter,
                                      bool with_controls,
                                      const std::function<void(const std::string&)>& on_start);

/// "20/20" and "8/8": killed of all, of those that results are there for. Variants of one fault count
/// as one.
struct MutationScore {
  std::string mutants;
  std::string reserves;
  std::string graphs;  ///< of broken kernels that only a graph shows
  bool full = true;    ///< nothing survived, and every control did
};
MutationScore ScoreOf(const std::vector<CaseResult>& results);

/// Adds the scores that there are to the facts of a run.
void AddScore(const MutationScore& score, RunResult* run);

/// A04..A08 and R9 from the results of HAL mutants (SelfTest).
std::vector<CaseResult> MapHalMutants(const std::vector<CaseResult>& hal_results);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_OP_SELFTEST_H_
