// SPDX-License-Identifier: Apache-2.0
//
// A call's operands in memory of a device: laid out there as in the host's, with canaries between.
#ifndef HALYARD_CONFORMANCE_OPS_DEVICE_OPERANDS_H_
#define HALYARD_CONFORMANCE_OPS_DEVICE_OPERANDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/device.h"
#include "registry/placed_call.h"
#include "registry/registry.h"

namespace halyard::conformance {

class DeviceOperands {
 public:
  /// Copies the operands of `args` into one buffer; those that share bytes on the host share them
  /// there. `device`, and what args point to, are borrowed.
  /// Errors   as Device::Allocate and Buffer::Write.
  static absl::StatusOr<DeviceOperands> Make(const hal::Device& device, const registry::Op& op,
                                             const void* args);

  /// One an operand, as the registry takes them.
  const std::vector<registry::Place>& places() const { return places_; }

  /// Copies what the op may have written back to where it came from.
  /// Errors   as Buffer::Read.
  absl::Status Download() const;

  /// What was written that is nobody's: "byte 64 behind y in the device's buffer"; empty: nothing.
  absl::StatusOr<std::string> Damage() const;

 private:
  // Bytes that one operand, or several that overlap, take.
  struct Range {
    unsigned char* host;
    uint64_t bytes;
    uint64_t offset = 0;  // in the buffer
    bool written = false;
    std::string names;
  };

  static std::vector<Range> RangesOf(const registry::Op& op, const void* args);
  uint64_t PlaceRanges();
  void FindPlaces(const registry::Op& op, const void* args);

  std::vector<Range> ranges_;
  std::unique_ptr<hal::Buffer> buffer_;
  uint64_t bytes_ = 0;
  std::vector<registry::Place> places_;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_DEVICE_OPERANDS_H_
