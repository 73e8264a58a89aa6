// SPDX-License-Identifier: Apache-2.0
#include "ports/linux/nodes.h"

#include <numa.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "halyard/hal_port.h"

namespace halyard::linux_port {

bool HasNodeCalls() { return numa_available() >= 0; }

bool IsNodeAllowed(uint32_t node_id) {
  // numa_alloc_onnode and numa_set_membind warn and go on with a node that is not there (libnuma
  // 2.0.16), so the set is asked before any such call, and none of them is used.
  if (!HasNodeCalls()) return node_id == 0;
  bitmask* const allowed = numa_get_mems_allowed();
  if (allowed == nullptr) return false;
  const bool is_allowed = node_id < allowed->size && numa_bitmask_isbitset(allowed, node_id) != 0;
  numa_bitmask_free(allowed);
  return is_allowed;
}

uint32_t FirstForbidden(const hy_array& nodes) {
  for (uint32_t i = 0; i < nodes.count; ++i) {
    uint32_t node_id = 0;
    std::memcpy(&node_id, hy_array_at(&nodes, i), sizeof node_id);
    if (!IsNodeAllowed(node_id)) return node_id;
  }
  return HY_ID_NONE;
}

void MarkAllowedNodes(hy_array* nodes) {
  constexpr size_t kNeeded = offsetof(hy_node, flags) + sizeof(uint64_t);
  if (nodes->data == nullptr || nodes->stride < kNeeded || !HasNodeCalls()) return;
  for (uint32_t i = 0; i < std::min(nodes->count, nodes->capacity); ++i) {
    void* const record = hy_array_at(nodes, i);
    hy_node node;
    std::memcpy(&node, record, sizeof node);
    node.flags &= ~HY_NODE_ALLOWED;
    if (IsNodeAllowed(node.os_id)) node.flags |= HY_NODE_ALLOWED;
    std::memcpy(static_cast<char*>(record) + offsetof(hy_node, flags), &node.flags,
                sizeof node.flags);
  }
}

}  // namespace halyard::linux_port
