// SPDX-License-Identifier: Apache-2.0
//
// How host kernels will reach the operands of a call on a device: by a view, by a copy that is kept,
// or by copies each time; known, and printed, before anything is moved.
#ifndef HALYARD_REGISTRY_DEVICE_PLAN_H_
#define HALYARD_REGISTRY_DEVICE_PLAN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/device.h"
#include "registry/placed_call.h"
#include "registry/registry.h"

namespace halyard::registry {

enum class Way {
  kView,    ///< mapped: the host sees the device's memory
  kShadow,  ///< weights: a copy that is made once and kept
  kStaged,  ///< copied to the host, and back if it is written
};

struct WindowPlan {
  Window window;
  Way way = Way::kStaged;
  bool in_pieces = false;  ///< staged piece by piece
  uint64_t bytes_in = 0;   ///< copied to the host in each run
  uint64_t bytes_out = 0;  ///< copied back in each run
};

struct CallPlan {
  const Op* op = nullptr;
  std::vector<WindowPlan> windows;
  uint32_t group = 0;          ///< slice group
  int64_t pieces = 1;          ///< along it
  int64_t pieces_at_once = 1;  ///< run together
  uint64_t staging_bytes = 0;  ///< of host memory at once
  bool above_limit = false;    ///< it could not be cut to fit

  int64_t runs() const { return (pieces + pieces_at_once - 1) / pieces_at_once; }
  uint64_t staged_bytes() const;  ///< moved in each run, both ways
  uint64_t shadow_bytes() const;  ///< copied once
};

struct StagingLimits {
  uint64_t staging_bytes = uint64_t{64} << 20;
  uint64_t shadow_bytes = UINT64_MAX;  ///< of one operand: larger weights are staged
};

/// Host memory that a window takes.
uint64_t PaddedBytes(const Window& window);

/// Plans a call whose args were checked but for data.
CallPlan PlanCall(const Registry& registry, const hal::Device& device, const PlacedCall& call,
                  const StagingLimits& limits);

/// For people: each operand in a buffer, its bytes, how it is reached, and what a run moves. Names are
/// those of the calls ("layer 3 ffn_up").
std::string PlacementText(absl::Span<const std::pair<std::string, CallPlan>> calls);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_DEVICE_PLAN_H_
