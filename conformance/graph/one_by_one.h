// SPDX-License-Identifier: Apache-2.0
//
// The steps of a graph one after the other, each judged against its own reference on the tensors that
// the run itself produced: a bound never has to hold the errors of the steps before.
#ifndef HALYARD_CONFORMANCE_GRAPH_ONE_BY_ONE_H_
#define HALYARD_CONFORMANCE_GRAPH_ONE_BY_ONE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "conformance/graph/graph_memory.h"
#include "conformance/ops/close_look.h"
#include "conformance/ops/execute.h"
#include "conformance/ops/judge.h"
#include "conformance/result.h"

namespace halyard::conformance {

/// A kernel for a step.
struct StepKernel {
  const registry::Kernel* kernel = nullptr;
  std::vector<int64_t> params;
};

/// A step as it was run and judged.
struct StepRecord {
  std::vector<uint64_t> args;  ///< as the kernel had them
  reference::Expected expected;
  Judgement judgement;
  std::vector<std::vector<uint8_t>> before;  ///< of each output operand, row after row
  std::vector<std::pair<int, std::vector<uint8_t>>> after;  ///< bits of each tensor it wrote to
};

class OneByOne {
 public:
  /// All borrowed. `mode`: workers, scratch and seed of a run.
  OneByOne(GraphMemory* memory, const std::vector<StepKernel>* kernels, const RunMode& mode,
           std::string what);

  /// Resets the memory and runs; false with a verdict in *out at the first step that is wrong.
  /// `closely`: with the elements that are.
  bool Run(uint8_t poison, bool closely, CaseResult* out);

  const GraphBits& bits() const { return bits_; }
  const registry::Kernel* kernel(size_t step) const { return kernels_[step].kernel; }
  const StepRecord& record(size_t step) const { return records_[step]; }
  /// The bits that tensors had when the first `steps` of them were done; those that were not written
  /// are empty.
  GraphBits BitsAfter(size_t steps) const;
  /// The status that a run of all steps must give.
  hy_status status() const { return status_; }
  /// Whether what steps computed was exact, as the inputs determine it, tensor by tensor.
  const std::vector<bool>& determined() const { return determined_; }

  /// Judges what is in a memory of the graph now as the outputs of a step of this run, whose inputs
  /// were the same.
  Judgement JudgeAgain(const GraphMemory& memory, size_t step) const;

 private:
  bool RunStep(size_t step, CaseResult* out);
  bool Judge(size_t step, const RunOutcome& outcome, CaseResult* out);
  bool CheckOthers(size_t step, CaseResult* out);
  bool CheckEqualities(size_t step, CaseResult* out);
  bool IsPromised(const Equality& equality) const;
  void NoteDetermined(size_t step);
  void KeepBefore(size_t step);
  RowBeforeFn BeforeFn(size_t step) const;
  void LookAt(size_t step, uint8_t poison, CaseResult* out);
  bool Fail(size_t step, Verdict verdict, const std::string& reason, CaseResult* out) const;
  KernelCall CallOf(size_t step) const;

  GraphMemory* const memory_;
  const std::vector<StepKernel>& kernels_;
  const RunMode mode_;
  const std::string what_;
  std::vector<StepRecord> records_;
  GraphBits bits_;
  std::vector<bool> determined_;
  hy_status status_ = HY_OK;
};

/// "step 3 (rmsnorm by rmsnorm/any/generic_base@halyard)".
std::string StepText(const Graph& graph, size_t step, const registry::Kernel* kernel);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GRAPH_ONE_BY_ONE_H_
