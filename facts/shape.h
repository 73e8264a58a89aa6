// SPDX-License-Identifier: Apache-2.0
//
// A topology in numbers, as a chip sheet counts.
#ifndef HALYARD_FACTS_SHAPE_H_
#define HALYARD_FACTS_SHAPE_H_

#include <cstdint>
#include <optional>

#include "facts/chip_sheet.h"
#include "hal/topology.h"

namespace halyard::facts {

struct Shape {
  uint32_t sockets = 1;
  uint32_t cores = 0;
  uint32_t cores_per_socket = 0;  ///< of the socket with most
  uint32_t threads_per_core = 1;  ///< of the core with most
  uint32_t cpu_nodes = 0;         ///< memory nodes with CPUs
};

/// Units whose core is not known count as a core each.
Shape CountShape(const hal::Topology& topology);

/// Cores of all classes in one socket of the largest part; empty if the sheet does not know.
std::optional<uint32_t> CoresPerSocket(const ChipSheet& sheet);

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_SHAPE_H_
