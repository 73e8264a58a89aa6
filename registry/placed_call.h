// SPDX-License-Identifier: Apache-2.0
//
// A call whose operands lie in buffers of a device: which bytes they are, and how it is cut up.
#ifndef HALYARD_REGISTRY_PLACED_CALL_H_
#define HALYARD_REGISTRY_PLACED_CALL_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hal/device.h"
#include "registry/args.h"
#include "registry/registry.h"

namespace halyard::registry {

/// Where an operand is.
struct Place {
  const hal::Buffer* buffer = nullptr;  ///< borrowed; nullptr: the args have a host pointer
  uint64_t offset = 0;                  ///< of the tensor's first byte in the buffer
};

struct PlacedCall {
  const Op* op = nullptr;
  ArgsCopy args;              ///< data of operands in buffers is not looked at
  std::vector<Place> places;  ///< one an operand

  PlacedCall(const Op& op_of, const void* args_of, absl::Span<const Place> places_of);
  bool InBuffer(size_t operand) const;
};

/// How many pieces a call has along a slice group of its op; 0 if it cannot be cut that way.
int64_t PiecesOf(const PlacedCall& call, uint32_t group);
/// Pieces [begin, end) of a call. Host pointers and offsets in buffers move along.
PlacedCall SliceOf(const PlacedCall& call, uint32_t group, int64_t begin, int64_t end);
/// Whether a piece of that operand is a range of its own: no axis outside of the one cut has
/// neighbours.
bool IsCutOutermost(const PlacedCall& call, uint32_t group, size_t operand);

/// A range of a buffer that one or more operands lie in.
struct Window {
  const hal::Buffer* buffer = nullptr;
  uint64_t begin = 0;
  uint64_t end = 0;
  std::vector<uint32_t> operands;
  bool writes = false;
  bool constant = false;  ///< holds weights only
  bool discards = false;  ///< all of it is written, and nothing read
  uint64_t bytes() const { return end - begin; }
};

/// Ranges of the operands in `which` (bits), those that overlap in one. Empty operands have none.
std::vector<Window> WindowsOf(const Registry& registry, const PlacedCall& call, uint32_t which);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_PLACED_CALL_H_
