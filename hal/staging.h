// SPDX-License-Identifier: Apache-2.0
//
// Host memory through which the core maps what a port cannot map.
#ifndef HALYARD_HAL_STAGING_H_
#define HALYARD_HAL_STAGING_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"

namespace halyard::hal {

class StagingPool;

/// A page-aligned piece of host memory; back to its pool when destroyed.
class StagingBlock {
 public:
  StagingBlock() = default;
  StagingBlock(StagingBlock&& other) noexcept;
  StagingBlock& operator=(StagingBlock&& other) noexcept;
  ~StagingBlock();

  void* data() const { return data_; }
  uint64_t capacity_bytes() const { return capacity_bytes_; }

 private:
  friend class StagingPool;
  StagingBlock(StagingPool* pool, void* data, uint64_t capacity_bytes)
      : pool_(pool), data_(data), capacity_bytes_(capacity_bytes) {}

  StagingPool* pool_ = nullptr;
  void* data_ = nullptr;
  uint64_t capacity_bytes_ = 0;
};

/// Keeps blocks for reuse, since fresh pages cost more than the copy, within a bound. Threads: any.
class StagingPool {
 public:
  /// What it keeps at most while unused.
  static constexpr uint64_t kMaxIdleBytes = uint64_t{64} << 20;

  StagingPool() = default;
  ~StagingPool();  ///< all blocks must be back
  StagingPool(const StagingPool&) = delete;
  StagingPool& operator=(const StagingPool&) = delete;

  /// At least `bytes`. What it holds is not defined.
  /// Errors   RESOURCE_EXHAUSTED.
  absl::StatusOr<StagingBlock> Acquire(uint64_t bytes);

  uint64_t idle_bytes() const;

 private:
  friend class StagingBlock;
  struct IdleBlock {
    void* data;
    uint64_t capacity_bytes;
  };
  void GiveBack(void* data, uint64_t capacity_bytes);

  mutable std::mutex mutex_;
  std::vector<IdleBlock> idle_;  ///< least recently used first
  uint64_t idle_bytes_ = 0;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_STAGING_H_
