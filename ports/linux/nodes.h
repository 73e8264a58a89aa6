// SPDX-License-Identifier: Apache-2.0
//
// Memory nodes as libnuma sees them.
#ifndef HALYARD_PORTS_LINUX_NODES_H_
#define HALYARD_PORTS_LINUX_NODES_H_

#include <cstdint>

#include "halyard/hal.h"

namespace halyard::linux_port {

/// True if the kernel answers NUMA calls; false under user-mode emulation and without NUMA.
bool HasNodeCalls();

/// True if this process may take memory of a node. Nodes that do not exist are not allowed.
bool IsNodeAllowed(uint32_t node_id);

/// First node of a list that is not allowed, or HY_ID_NONE. `nodes` is of uint32_t.
uint32_t FirstForbidden(const hy_array& nodes);

/// Sets HY_NODE_ALLOWED of each record by the memory nodes of this process, which a cpuset narrows.
void MarkAllowedNodes(hy_array* nodes);

}  // namespace halyard::linux_port

#endif  // HALYARD_PORTS_LINUX_NODES_H_
