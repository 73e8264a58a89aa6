// SPDX-License-Identifier: Apache-2.0
//
// Binds the calling thread to a processing unit and reads back what the system made of it.
#ifndef HALYARD_HAL_BIND_H_
#define HALYARD_HAL_BIND_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cpu_features.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// hy_worker_report with its mask owned, as ids.
struct WorkerReport {
  uint32_t index = 0;
  uint32_t requested_pu = HY_ID_NONE;
  uint32_t last_pu = HY_ID_NONE;
  uint32_t node_id = HY_ID_NONE;
  hy_status bind_status = HY_OK;
  uint64_t flags = 0;          ///< HY_WORKER_*
  std::vector<uint32_t> mask;  ///< units of the effective mask, ascending
  IsaMask isa{};
  void* scratch = nullptr;
  uint64_t scratch_bytes = 0;
};

/// The default of `worker_bind` by hal.h's contract: ENTER remembers this thread's mask, LEAVE puts
/// it back. The kernel intersects masks silently, so the report is read back, never echoed.
hy_status BindThisThread(uint32_t pu, uint32_t mode, hy_worker_report* inout_report);

/// Affinity mask of the calling thread, for any number of CPUs.
absl::StatusOr<std::vector<uint32_t>> ThisThreadMask();

/// Fills mask, last unit, node, ISA and their flags from what the system says of the calling
/// thread; BOUND is judged by `requested_pu`. What it does not tell is left unknown.
void ReadBackThisThread(WorkerReport* out_report);

/// Calls `verb` with a mask buffer that grows until it fits.
absl::Status CallWithReport(absl::FunctionRef<hy_status(hy_worker_report*)> verb,
                            WorkerReport* out_report);

/// Copies into the caller's C struct by the size rule and its mask buffer.
void ExportReport(const WorkerReport& report, hy_worker_report* inout_report);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_BIND_H_
