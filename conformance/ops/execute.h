// SPDX-License-Identifier: Apache-2.0
//
// Runs one kernel on one set of args: as a team would, but by one thread in any order of workers, or
// by a real team; alone, or two runs overlapping.
#ifndef HALYARD_CONFORMANCE_OPS_EXECUTE_H_
#define HALYARD_CONFORMANCE_OPS_EXECUTE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "conformance/ops/guarded_memory.h"
#include "halyard/kernel.h"

namespace halyard::conformance {

/// A kernel with what it is called on.
struct KernelCall {
  const hy_kernel_desc* kernel = nullptr;
  const void* args = nullptr;
  std::vector<int64_t> params;  ///< one value for each of the kernel's parameters
};

/// How it is run.
struct RunMode {
  uint32_t workers = 1;
  /// Order of workers within a phase, and pauses of real threads; 0: in order, without pauses.
  uint64_t jitter_seed = 0;
  GuardSide scratch_side = GuardSide::kAfter;
  uint8_t scratch_dirt = 0xff;
};

/// What came of it.
struct RunOutcome {
  hy_status status = HY_OK;   ///< the first by worker that is not OK
  uint32_t abi_faults = 0;    ///< AbiFault bits
  std::string scratch_fault;  ///< scratch was left; empty if not
};

/// One thread calls every worker of a phase, then those of the next: the arithmetic of partitions,
/// for any count. `after_worker`, if given, is told each (worker, phase) that has returned.
RunOutcome RunSequentially(const KernelCall& call, const RunMode& mode,
                           const std::function<void(uint32_t, uint32_t)>& after_worker = {});

/// A thread for each worker, with barriers between phases and pauses by jitter_seed.
RunOutcome RunOnThreads(const KernelCall& call, const RunMode& mode);

/// Two runs whose workers take turns, as two requests of one process do: state that a kernel keeps
/// between calls shows. The outcome is that of `first`.
RunOutcome RunOverlapped(const KernelCall& first, const KernelCall& second, const RunMode& mode);

/// Default values of a kernel's parameters.
std::vector<int64_t> DefaultParams(const hy_kernel_desc& kernel);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_EXECUTE_H_
