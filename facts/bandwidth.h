// SPDX-License-Identifier: Apache-2.0
//
// Measures how fast the workers of a device read and copy memory. Used by `doctor`, and by whoever
// needs the memory roof of the machine.
#ifndef HALYARD_FACTS_BANDWIDTH_H_
#define HALYARD_FACTS_BANDWIDTH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hal/device.h"

namespace halyard::facts {

/// One measured figure. All rates in 1e9 bytes a second.
struct BandwidthRow {
  std::string work;  ///< "read"; "copy" counts the bytes read and those written
  uint32_t threads = 0;
  /// Memory of this node, read by workers of it, or by any if it has no CPUs. HY_ID_NONE: anywhere.
  uint32_t node_id = HY_ID_NONE;
  uint32_t runs = 0;
  double median_gb_per_s = 0;
  double min_gb_per_s = 0;
  double max_gb_per_s = 0;
  uint64_t bytes_per_thread = 0;  ///< read by each in one run; a copy moves twice that
  std::string kernel;             ///< what read or copied: an ISA level, or memcpy
  uint32_t workers_bound = 0;     ///< workers that the system confirmed on their unit
};

struct BandwidthRequest {
  /// Per worker and buffer, of which each has two; must exceed the share of the last-level cache by
  /// far. 0: chosen from the caches and the memory to have.
  uint64_t bytes_per_thread = 0;
  uint64_t headroom_bytes = 0;  ///< memory that all workers together may fill; 0: not known
  uint32_t runs = 7;
  uint32_t max_threads = 0;  ///< 0: the budget of the device
  bool per_node = true;      ///< also each node alone, if there are several
};

/// What is measured: this many workers, or one on each of these units.
struct BandwidthPlan {
  hal::TeamRequest team;
  uint32_t node_id = HY_ID_NONE;
};

/// 1, 2, 3, 4, 8 .. all workers, then each node that has memory, if there are several: workers of
/// its own, or any where it has none. Pure.
std::vector<BandwidthPlan> PlanBandwidth(const hal::Topology& topology,
                                         const BandwidthRequest& request);

/// Bytes for each worker and buffer: several times its share of the last-level caches, within a
/// part of the memory to have. A multiple of 4 KiB. Pure.
uint64_t ChooseBytes(const hal::Topology& topology, uint32_t threads, uint64_t headroom_bytes);

/// Measures what PlanBandwidth says. Every worker reads memory that it touched first and takes its
/// own time stamps: a run lasts from the first start to the last end, so that a late coordinator
/// cannot shorten it. `on_row` is called as rows are ready, also if a later one fails.
/// Errors   RESOURCE_EXHAUSTED: too little memory; INTERNAL: what was read is not what was written;
///          those of the device.
absl::StatusOr<std::vector<BandwidthRow>> MeasureBandwidth(
    const hal::Device& device, const BandwidthRequest& request,
    const std::function<void(const BandwidthRow&)>& on_row = {});

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_BANDWIDTH_H_
