// SPDX-License-Identifier: Apache-2.0
//
// Inner part of pages.h: memory nodes by the kernel's own calls. Not through libnuma, which answers
// a wish for a node that is not there with memory from another.
#ifndef HALYARD_HAL_NODE_POLICY_H_
#define HALYARD_HAL_NODE_POLICY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "hal/page_wish.h"

namespace halyard::hal {

/// Nodes with memory that this process may use, ascending; nothing if the system does not tell.
std::optional<std::vector<uint32_t>> UsableNodes();

/// Node that this thread runs on; nothing if the system does not tell.
std::optional<uint32_t> CurrentNode();

/// A wish for nodes, made ready for the kernel.
struct NodePlan {
  bool wanted = false;  ///< false: the kernel's default, nothing to set
  uint32_t policy = HY_NODES_DEFAULT;
  bool required = false;
  std::vector<uint32_t> nodes;  ///< those that are left of the wish
  uint64_t reasons = 0;         ///< HY_REASON_* already known: nodes of the wish that are absent
};

/// Errors   NOT_FOUND: a required node is absent.
absl::StatusOr<NodePlan> PlanNodes(const PageWish& wish);

/// Sets the policy of a mapped range that nobody has touched yet. 0 or an errno.
int ApplyNodePlan(void* ptr, uint64_t bytes, const NodePlan& plan);

/// Nodes of pages by their addresses: >= 0 the node, < 0 not present. Nothing if the system does
/// not tell. Never brings a page in.
std::optional<std::vector<int>> NodesOfPages(absl::Span<void* const> pages);

/// For each page whether it is in memory. Nothing if the system does not tell.
std::optional<std::vector<bool>> PagesPresent(absl::Span<void* const> pages);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_NODE_POLICY_H_
