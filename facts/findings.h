// SPDX-License-Identifier: Apache-2.0
//
// Is this machine fit to run on? Each look gives findings, with what to do about each.
#ifndef HALYARD_FACTS_FINDINGS_H_
#define HALYARD_FACTS_FINDINGS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "facts/bandwidth.h"
#include "facts/chip_match.h"
#include "hal/device.h"
#include "hal/system_view.h"
#include "hal/topology.h"

namespace halyard::facts {

/// kError: results on this machine would be wrong or crash. kWarning: they would be slow or noisy.
enum class Severity { kInfo, kWarning, kError };
absl::string_view SeverityName(Severity severity);

struct Finding {
  std::string id;  ///< stable, such as "isa.build"
  Severity severity = Severity::kInfo;
  std::string title;   ///< one line: what was seen
  std::string remedy;  ///< what to do; empty when nothing is to be done
};

/// What the looks are taken at. Borrowed.
struct Machine {
  const hal::Device* device = nullptr;  ///< nullptr: nothing is tried out
  /// Live, or the image that the core reads; nullptr if the device simulates a machine of its own:
  /// then its topology is all that is known of it.
  const hal::SystemView* view = nullptr;
  const hal::Topology* topology = nullptr;  ///< the CPUs that this process may use
  const hal::Topology* whole = nullptr;     ///< all that are online; nullptr: not known
  const ChipSheet* sheet = nullptr;         ///< nullptr: no sheet fits
  ChipMarks marks;                          ///< of the view

  /// True if threads and memory of the device are those of the machine that is looked at.
  bool runs_here() const { return device != nullptr && view != nullptr && view->is_live(); }
};

/// The build's ISA against the live one; every unit's ISA against the sheet.
std::vector<Finding> LookAtIsa(const Machine& machine);
/// Cores, threads a core, caches, page size and nodes, as counted, against the sheet.
std::vector<Finding> LookAtSheet(const Machine& machine);
/// Budget, affinity, quota, SMT, isolated units; and that workers really get bound, by readback.
std::vector<Finding> LookAtThreads(const Machine& machine);
/// Governor, frequency limits, boost.
std::vector<Finding> LookAtClock(const Machine& machine);
/// Page pools, transparent huge pages, NUMA balancing, nodes; and that an allocation gets what it
/// asks for, by readback.
std::vector<Finding> LookAtMemory(const Machine& machine);
/// How much memory there is to have: free, cgroup, swap, overcommit, address space.
std::vector<Finding> LookAtMemoryLimits(const Machine& machine);
/// Measured bandwidth against the sheet, against itself (spread, scaling), node against node.
std::vector<Finding> LookAtBandwidth(const Machine& machine, const std::vector<BandwidthRow>& rows);

/// All but the bandwidth.
std::vector<Finding> LookAtAll(const Machine& machine);

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_FINDINGS_H_
