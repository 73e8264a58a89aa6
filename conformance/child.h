// SPDX-License-Identifier: Apache-2.0
//
// Runs cases in child processes: whatever a case does to its process ends as its verdict.
#ifndef HALYARD_CONFORMANCE_CHILD_H_
#define HALYARD_CONFORMANCE_CHILD_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "conformance/result.h"

namespace halyard::conformance {

/// A case as the parent sees it.
struct ChildCase {
  double deadline_s = 10;
  bool alone = false;  ///< not in one process with other cases
  bool exits = false;  ///< the process calls exit() after the case and must end with status 0
};

/// Hooks of the parent.
struct ChildHooks {
  std::function<void(size_t index)> on_start;
  std::function<void(size_t index, const CaseResult& result)> on_result;
  std::function<bool(size_t index)> stop_after;  ///< after on_result: true ends the run here
  size_t most_in_one_child = 16;
};

/// Runs `body(index, &results[index])` for each case, in children: up to hooks.most_in_one_child
/// cases in one, and no further case in a child after a failure. Each result keeps what `results` held and gets verdict,
/// reason, findings, facts and seconds. A case that writes to standard output or error fails. A
/// failure in company is run again alone, and the reason says whether that fails too.
/// Fork without exec: under a user-mode emulator the guest's program cannot be started again.
absl::Status RunInChildren(const std::vector<ChildCase>& cases,
                           const std::function<void(size_t, CaseResult*)>& body,
                           const ChildHooks& hooks, std::vector<CaseResult>* inout_results);

/// Calls `answer` in a child with a deadline and gives its text: how the parent asks about a port
/// without loading it.
/// Errors   those of `answer`; INTERNAL: the child died or hung.
absl::StatusOr<std::string> AskInChild(const std::function<absl::StatusOr<std::string>()>& answer,
                                       double deadline_s);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_CHILD_H_
