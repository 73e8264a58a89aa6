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
  std::string work;       ///< "read"; "copy" counts the bytes read and those written
  uint32_t threads = 0;
  uint32_t node_id = HY_ID_NONE;  ///< workers and memory of this node; HY_ID_NONE: anywhere
  uint32_t runs = 0;
  double median_gb_per_s = 0;
  double min_gb_per_s = 0;
  double max_gb_per_s = 0;
  uint64_t bytes_per_thread = 0;
  std::string kernel;      ///< ISA level of the read kernel
  uint32_t workers_bound = 0;  ///< workers that the system confirmed on their unit
};

struct BandwidthRequest {
  /// Per worker and buffer; must exceed the share of the last-level cache by far. 0: chosen from the
  /// caches and the free memory.
  uint64_t bytes_per_thread = 0;
  uint32_t runs = 7;
  uint32_t max_threads = 0;  ///< 0: the budget of the device
  bool per_node = true;      ///< also each node alone, if there are several
};

/// Measures 1, 2, 4 .. all workers, then each node. Every worker reads memory that it touched first
/// and takes its own time stamps: a run lasts from the first start to the last end, so that a late
/// coordinator cannot shorten it. `on_row` is called as rows are ready.
/// Errors   RESOURCE_EXHAUSTED: too little memory; those of the device.
absl::StatusOr<std::vector<BandwidthRow>> MeasureBandwidth(
    const hal::Device& device, const BandwidthRequest& request,
    const std::function<void(const BandwidthRow&)>& on_row = {});

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_BANDWIDTH_H_
