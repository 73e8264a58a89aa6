// SPDX-License-Identifier: Apache-2.0
//
// Runs ops on a device's buffers with kernels of the host: what a device has no kernel for still
// works, wherever its memory is.
//
// Operands that the host cannot see are copied: weights once, all else for each run, through one
// block of bounded size. A call whose operands do not fit in it is run piece by piece.
#ifndef HALYARD_REGISTRY_DEVICE_RUN_H_
#define HALYARD_REGISTRY_DEVICE_RUN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/device.h"
#include "registry/aligned_block.h"
#include "registry/device_plan.h"
#include "registry/placed_call.h"
#include "registry/run.h"

namespace halyard::registry {

struct DeviceOptions {
  StagingLimits limits;
  RunOptions run;
};

/// What was moved so far.
struct StagingCounts {
  uint64_t bytes_in = 0;      ///< to the host, but for weights that are kept
  uint64_t bytes_out = 0;     ///< back
  uint64_t shadow_bytes = 0;  ///< kept now
  uint64_t calls = 0;
  uint64_t cut_calls = 0;          ///< run piece by piece
  uint64_t calls_above_limit = 0;  ///< staged more than the limit
};

/// Threads: one at a time, as its team. Registry, device, team and what options name are borrowed.
class DeviceRunner {
 public:
  DeviceRunner(const Registry* registry, const hal::Device* device, const hal::Team* team,
               const DeviceOptions& options = {});

  /// Runs a call; data of operands with a buffer in `places` (one an operand; may be shorter) is not
  /// looked at. Waits for submitted work on those ranges.
  /// Errors   as Runner::Run, Buffer::Map, Read and Write; RESOURCE_EXHAUSTED: no staging.
  absl::Status Run(const Op& op, const void* args, absl::Span<const Place> places);

  /// What Run would do. Errors   INVALID_ARGUMENT: args break the contract, or leave the buffer.
  absl::StatusOr<CallPlan> Explain(const Op& op, const void* args,
                                   absl::Span<const Place> places) const;

  /// Forgets the copies of a buffer's weights: it was written, or is about to go.
  void Forget(const hal::Buffer& buffer);

  const StagingCounts& counts() const { return counts_; }
  const Runner& runner() const { return runner_; }

 private:
  // Where a window's bytes are on the host while a call runs.
  struct HostWindow {
    const WindowPlan* plan;
    Window window;
    unsigned char* host = nullptr;
    std::optional<hal::Mapping> mapping;
  };
  using HostWindows = std::vector<HostWindow>;
  using ShadowKey = std::pair<uint64_t, std::pair<uint64_t, uint64_t>>;  // buffer id, begin, end

  absl::Status RunPlanned(const CallPlan& plan, const PlacedCall& call);
  absl::StatusOr<Selection> SelectForWhole(const PlacedCall& call) const;
  absl::Status RunPiece(const CallPlan& plan, const Kernel& kernel, const PlacedCall& piece,
                        const HostWindows& whole);
  absl::Status RunOn(const Kernel& kernel, const void* args);
  absl::Status Open(const WindowPlan& plan, const Window& window, HostWindows* windows);
  absl::StatusOr<unsigned char*> Shadow(const Window& window);
  absl::StatusOr<unsigned char*> Stage(const Window& window);
  absl::Status Close(HostWindows* windows);

  const Registry* const registry_;
  const hal::Device* const device_;
  const StagingLimits limits_;
  Runner runner_;
  AlignedBlock staging_;
  uint64_t staging_used_ = 0;
  std::map<ShadowKey, std::unique_ptr<AlignedBlock>> shadows_;
  StagingCounts counts_;
};

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_DEVICE_RUN_H_
