// SPDX-License-Identifier: Apache-2.0
//
// The smallest case that still fails the same way.
#ifndef HALYARD_CONFORMANCE_OPS_SHRINK_H_
#define HALYARD_CONFORMANCE_OPS_SHRINK_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/ops/op_case_id.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// Cases one step smaller, the boldest first: one worker, plain memory, halves of each size that keep
/// its tail, single options off, data that is easier to read.
std::vector<OpCaseId> SmallerCases(const OpCaseId& id);

/// What stays while a case shrinks: the verdict, and for wrong values whether they are off, NaN or
/// never written.
std::string FailureSignature(const CaseResult& result);

/// Shrinks a case by its text: `smaller` gives candidates, `fails_alike` tells whether one still fails
/// the same way. At most `most_trials` are tried.
std::string ShrinkText(const std::string& id,
                       const std::function<std::vector<std::string>(const std::string&)>& smaller,
                       const std::function<bool(const std::string&)>& fails_alike, int most_trials);

/// Shrinks by `fails_alike`, which tells whether a candidate still fails the same way. At most
/// `most_trials` candidates are tried.
OpCaseId ShrinkCase(const OpCaseId& id, const std::function<bool(const OpCaseId&)>& fails_alike,
                    int most_trials);

/// Shrinks a failing case of level ops or graph and runs the smallest one closely. Facts say what it came from.
/// Errors   FAILED_PRECONDITION: the case does not fail.
absl::StatusOr<RunResult> ShrinkOp(const std::string& id, const RunRequest& base,
                                   const std::function<void(const Progress&)>& on_progress = {});

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_SHRINK_H_
