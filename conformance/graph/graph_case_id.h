// SPDX-License-Identifier: Apache-2.0
//
// Ids of cases of level L2: a graph by its name and sizes, on so many workers. The text is complete.
#ifndef HALYARD_CONFORMANCE_GRAPH_GRAPH_CASE_ID_H_
#define HALYARD_CONFORMANCE_GRAPH_GRAPH_CASE_ID_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ops/case.h"

namespace halyard::conformance {

/// L2/dag/f32.q4_k/ops=7/dist=normal/lay=pad64/seed=41/thr=3, and where steps are left out, as
/// shrinking does, /drop=2+5 before /thr. Instead of dag, the name of a scenario.
struct GraphCaseId {
  ops::Case c;
  std::vector<int64_t> drop;
  uint32_t workers = 1;
};
inline constexpr uint32_t kMostGraphWorkers = 8;

std::string GraphCaseIdText(const GraphCaseId& id);
/// Errors   INVALID_ARGUMENT: what is wrong with the text.
absl::StatusOr<GraphCaseId> ParseGraphCaseId(absl::string_view text);
bool IsGraphCaseId(absl::string_view text);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GRAPH_GRAPH_CASE_ID_H_
