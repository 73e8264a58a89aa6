// SPDX-License-Identifier: Apache-2.0
//
// Runs one case of level L2 in a child process. The steps of a graph run in one region of a team, as
// a plan of the registry, and one by one; both must give the same bits, with new inputs, in other
// memory, and for other counts of workers, and what each step gives is judged by its own reference.
#ifndef HALYARD_CONFORMANCE_GRAPH_GRAPH_CASE_RUN_H_
#define HALYARD_CONFORMANCE_GRAPH_GRAPH_CASE_RUN_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/graph/graph_case_id.h"
#include "conformance/graph/one_by_one.h"
#include "conformance/runner.h"
#include "registry/plan.h"

namespace halyard::conformance {

/// From the seed of a case to that of other inputs, and to others again: away from seeds of lists.
inline constexpr uint64_t kGraphOtherSeed = 1'000'003;

class GraphCaseRun {
 public:
  /// All borrowed.
  GraphCaseRun(const UnderTest& under_test, const RunRequest& request, const GraphCaseId& id,
               bool closely, CaseResult* out);

  /// Fills in verdict, reason, findings and facts.
  void Run();
  /// Instruction sets that the kernels of the run need together.
  std::array<uint64_t, 2> isa() const;

 private:
  bool Prepare();
  absl::Status MakeMemory(const hy_kernel_target& target);
  absl::StatusOr<std::unique_ptr<registry::Plan>> MakePlan(const hal::Team* team,
                                                           const GraphMemory& memory, size_t steps);
  bool FirstRun();
  bool NewInputs();
  bool OtherMemory();
  bool OtherCounts();
  bool OtherCount(uint32_t workers);
  bool References();

  /// Runs a plan on memory that was just reset, and compares it with the same steps one by one.
  bool RunPlan(registry::Plan* plan, uint32_t workers, GraphMemory* memory, const OneByOne& alone,
               const std::string& what);
  bool SameKernels(const registry::Plan& plan, const OneByOne& alone, const std::string& what);
  // graph_blame.cc
  /// Names the first step that is wrong.
  bool Blame(uint32_t workers, GraphMemory* memory, const OneByOne& alone, const std::string& what,
             const GraphMemory::Difference& seen);
  /// Runs ever longer plans, each twice, with other data at first; the memory is left as after the
  /// shortest that goes wrong.
  absl::StatusOr<GraphMemory::Difference> FindFirst(uint32_t workers, GraphMemory* memory,
                                                    const OneByOne& alone);
  static std::vector<StepKernel> KernelsOf(const registry::Plan& plan);
  std::vector<StepKernel> ReferencesOf(uint32_t workers) const;
  bool AllInvariant(const std::vector<StepKernel>& kernels) const;
  RunMode Mode(uint32_t workers, uint64_t salt) const;
  bool Fail(Verdict verdict, const std::string& reason);
  void Pass();
  void AddFacts();

  const UnderTest& under_test_;
  const RunRequest& request_;
  const GraphCaseId& id_;
  const bool closely_;
  CaseResult* const out_;

  Graph graph_;
  std::unique_ptr<GraphMemory> memory_;
  std::unique_ptr<GraphMemory> other_;  // other data but for the weights, guards on the other side
  std::unique_ptr<registry::Plan> plan_;
  std::vector<StepKernel> kernels_;
  std::optional<OneByOne> alone_;        // on memory_
  std::optional<OneByOne> other_alone_;  // on other_
  std::string fallback_;                 // what ran in another's place
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GRAPH_GRAPH_CASE_RUN_H_
