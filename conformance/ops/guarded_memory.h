// SPDX-License-Identifier: Apache-2.0
//
// Memory that shows every byte that a kernel touches beside what it was given: a page without
// access directly after the last byte, or directly before the first, and known bytes in every gap.
#ifndef HALYARD_CONFORMANCE_OPS_GUARDED_MEMORY_H_
#define HALYARD_CONFORMANCE_OPS_GUARDED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace halyard::conformance {

enum class GuardSide { kAfter, kBefore };

/// A mapping between two pages without access. Pages are backed when they are touched, so a region
/// may be larger than memory.
class GuardedRegion {
 public:
  /// kAfter: base is the largest aligned address with `bytes` before the guard; kBefore: base lies
  /// `offset` bytes after the guard. `name` is what a fault says was missed.
  /// Errors   RESOURCE_EXHAUSTED: no address space for it.
  static absl::StatusOr<GuardedRegion> Make(std::string name, uint64_t bytes, uint64_t alignment,
                                            GuardSide side, uint64_t offset = 0);
  GuardedRegion() = default;
  GuardedRegion(GuardedRegion&& other) noexcept;
  GuardedRegion& operator=(GuardedRegion&& other) noexcept;
  ~GuardedRegion();

  unsigned char* base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  const std::string& name() const { return name_; }
  /// Accessible bytes before base and behind base + bytes.
  uint64_t slack_before() const { return static_cast<uint64_t>(base_ - open_); }
  uint64_t slack_after() const { return open_bytes_ - slack_before() - bytes_; }

 private:
  std::string name_;
  unsigned char* mapped_ = nullptr;  // with the guards
  uint64_t mapped_bytes_ = 0;
  unsigned char* open_ = nullptr;
  uint64_t open_bytes_ = 0;
  unsigned char* base_ = nullptr;
  uint64_t bytes_ = 0;
};

/// Known bytes: NaN as f32, f16 and bf16, and recognisable. Depends on the address alone.
void WriteCanary(unsigned char* at, uint64_t bytes);
/// Offset of the first byte that is no canary any more; `bytes` if all are.
uint64_t FindLostCanary(const unsigned char* at, uint64_t bytes);

/// Installs a handler of SIGSEGV and SIGBUS that notes, for the parent, which region was missed and
/// by how much, and then lets the process die of the signal.
void ReportGuardHits();

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_GUARDED_MEMORY_H_
