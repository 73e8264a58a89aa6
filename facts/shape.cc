// SPDX-License-Identifier: Apache-2.0
#include "facts/shape.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace halyard::facts {

Shape CountShape(const hal::Topology& topology) {
  std::map<uint32_t, std::set<std::pair<bool, uint32_t>>> cores_of_socket;
  std::map<uint32_t, uint32_t> threads_of_core;
  Shape shape;
  for (const hy_pu& pu : topology.pus) {
    const bool known = pu.core_id != HY_ID_NONE;
    cores_of_socket[pu.package_id].insert({known, known ? pu.core_id : pu.os_id});
    if (known) {
      shape.threads_per_core = std::max(shape.threads_per_core, ++threads_of_core[pu.core_id]);
    }
  }
  if (!cores_of_socket.empty()) shape.sockets = static_cast<uint32_t>(cores_of_socket.size());
  for (const auto& [socket, cores] : cores_of_socket) {
    const auto count = static_cast<uint32_t>(cores.size());
    shape.cores += count;
    shape.cores_per_socket = std::max(shape.cores_per_socket, count);
  }
  for (const hy_node& node : topology.nodes) {
    if ((node.flags & HY_NODE_HAS_CPUS) != 0) ++shape.cpu_nodes;
  }
  return shape;
}

std::optional<uint32_t> CoresPerSocket(const ChipSheet& sheet) {
  if (sheet.core_classes.empty()) return std::nullopt;
  uint32_t sum = 0;
  for (const CoreClass& cores : sheet.core_classes) {
    if (!cores.count) return std::nullopt;
    sum += *cores.count;
  }
  return sum;
}

}  // namespace halyard::facts
