// SPDX-License-Identifier: Apache-2.0
//
// Measures how fast the workers of a team compute: with the memory's read rate, the two roofs that a
// kernel can reach.
#ifndef HALYARD_FACTS_COMPUTE_H_
#define HALYARD_FACTS_COMPUTE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/cpu_features.h"
#include "facts/peak/peak.h"
#include "hal/device.h"

namespace halyard::facts {

/// A rate of all workers together, in 1e9 operations a second; a multiply-add is two.
struct ComputeRate {
  double median_gop_per_s = 0;
  double min_gop_per_s = 0;
  double max_gop_per_s = 0;
};

struct ComputeRow {
  uint32_t threads = 0;
  uint32_t runs = 0;
  std::string kernel;  ///< ISA level of the loops
  ComputeRate int8;    ///< products of int8 summed in int32
  ComputeRate f32;     ///< f32 multiply-adds
};

struct ComputeRequest {
  uint32_t runs = 7;
  uint64_t run_ns = 10'000'000;  ///< about how long a run lasts
};

struct PeakKernel {
  const char* name;  ///< ISA level, as in cmake/isa.cmake, or "generic"
  const hy_peak_table* table;
};

/// The fastest loops of this build that `isa` executes.
PeakKernel SelectPeakKernel(const IsaMask& isa);

/// Stamps are taken on the workers: a run lasts from the first start to the last end.
/// Errors   those of the team.
absl::StatusOr<ComputeRow> MeasureCompute(const hal::Team& team,
                                          const ComputeRequest& request = {});

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_COMPUTE_H_
