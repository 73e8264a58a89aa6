// SPDX-License-Identifier: Apache-2.0
//
// Runs one case of level L1 in a child process: one kernel on one case, in every way that its
// contract promises to be the same.
#ifndef HALYARD_CONFORMANCE_OPS_OP_CASE_RUN_H_
#define HALYARD_CONFORMANCE_OPS_OP_CASE_RUN_H_

#include <string>
#include <vector>

#include "conformance/ops/execute.h"
#include "conformance/ops/fixture.h"
#include "conformance/ops/judge.h"
#include "conformance/ops/op_case_id.h"
#include "conformance/ops/under_test.h"
#include "conformance/ops/weak_values.h"
#include "conformance/result.h"

namespace halyard::conformance {

struct OpRunOptions {
  uint32_t repeats = 2;   ///< further runs for the same bits
  bool all_edges = true;  ///< other counts, threads, overlap; false: the judged run alone
};

class OpCaseRun {
 public:
  /// All borrowed. `cache` may hold fixtures of the case from another kernel.
  OpCaseRun(const UnderTest& under_test, const OpCaseId& id, const OpRunOptions& options,
            FixtureCache* cache, CaseResult* out);

  /// Fills in verdict, reason, findings and facts.
  void Run();

  /// After Run, for who looks closer: what was run, and what came out of the judged run.
  const registry::Kernel* kernel() const { return kernel_; }
  Fixture* fixture() const { return after_; }
  const Judgement& judgement() const { return judgement_; }
  const reference::Expected* expected() const { return expected_; }
  KernelCall Call(const Fixture& fixture) const {
    return {&kernel_->desc(), fixture.args(), params_};
  }
  RunMode Mode() const;

 private:
  bool Prepare();
  bool FindKernel();
  bool FindParams();
  bool CheckPredicate();
  bool Primary();
  bool Elsewhere();
  bool OtherCounts();
  bool Threads();
  bool Overlap();
  bool RowsAlone();
  int64_t RowsToCut() const;
  bool OneRowAlone(int64_t row, int64_t rows, const std::vector<uint8_t>& want);

  /// Runs on a fixture and checks everything but the values.
  bool Execute(Fixture& fixture, const RunMode& mode, uint8_t poison, bool threads,
               const std::string& step);
  bool CheckOutcome(const Fixture& fixture, const RunOutcome& outcome, const std::string& step);
  /// The bits of the judged run, or a verdict.
  bool SameBits(const Fixture& fixture, const std::string& step, absl::string_view promise);
  bool Fail(Verdict verdict, const std::string& reason);
  ValueStrength Strength();
  void Pass();
  void AddFacts();

  const UnderTest& under_test_;
  const OpCaseId& id_;
  const OpRunOptions& options_;
  FixtureCache* const cache_;
  CaseResult* const out_;

  const TestedOp* op_ = nullptr;
  const registry::Kernel* kernel_ = nullptr;
  const hy_layout_desc* layout_ = nullptr;
  std::vector<int64_t> params_;
  Fixture* after_ = nullptr;
  const reference::Expected* expected_ = nullptr;  // none for random bits
  bool golden_ = false;                            // all that it was held against is of a pack
  Judgement judgement_;
  std::vector<uint8_t> bits_;
  uint64_t work_ = 0;
};

/// What the reason of a failure begins with whose case there is no way to run.
inline constexpr char kNoCase[] = "no such case: ";

/// Work (arithmetic operations) above which a case runs fewer times.
inline constexpr uint64_t kHeavyWork = 8'000'000;

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_OP_CASE_RUN_H_
