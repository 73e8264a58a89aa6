// SPDX-License-Identifier: Apache-2.0
//
// The parts of the topology reader, in the order in which ReadTopology calls them.
#ifndef HALYARD_HAL_TOPOLOGY_PARTS_H_
#define HALYARD_HAL_TOPOLOGY_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hal/system_view.h"
#include "hal/topology.h"
#include "halyard/hal_types.h"

namespace halyard::hal {

/// A unit while it is read: its record, and what the classes are made from.
struct UnitDraft {
  hy_pu pu{};
  std::string core_type;      ///< units of other types are never of one class; may be empty
  uint64_t raw_capacity = 0;  ///< as the kernel scales it; 0: not told
};

/// A cache and the online units that share it.
struct CacheDraft {
  hy_cache cache{};
  std::vector<uint32_t> units;
};

/// Files of one value. Nothing if the file is absent or holds something else; what a kernel writes
/// for "not known" (-1) is nothing, too.
std::optional<uint64_t> ReadNumber(const SystemView& view, absl::string_view path);
std::optional<std::vector<uint32_t>> ReadList(const SystemView& view, absl::string_view path);

/// Value of the line "key: value" of a text; empty if there is none.
absl::string_view LineValue(absl::string_view text, absl::string_view key);

/// Numbers N of the entries "<prefix>N" of a folder, ascending.
std::vector<uint32_t> ListNumbered(const SystemView& view, absl::string_view folder,
                                   absl::string_view prefix);

/// Units `online` with core, thread, cluster, package, speed and ISA; every core and cluster gets a
/// number of its own, in the order of its first unit.
std::vector<UnitDraft> ReadUnits(const SystemView& view, absl::Span<const uint32_t> online);

/// Caches of the units, which must be sorted by os id.
std::vector<CacheDraft> ReadCaches(const SystemView& view, absl::Span<const UnitDraft> units);

/// Sets perf_class and capacity of every unit.
void AssignClasses(absl::string_view arch, absl::Span<UnitDraft> units);

/// Memory nodes, their distances and the page pools; node_id of every unit.
void ReadNodes(const SystemView& view, Topology* topology, absl::Span<UnitDraft> units);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_TOPOLOGY_PARTS_H_
