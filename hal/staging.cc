// SPDX-License-Identifier: Apache-2.0
#include "hal/staging.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace halyard::hal {
namespace {

uint64_t PageBytes() {
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  return page_bytes > 0 ? static_cast<uint64_t>(page_bytes) : 4096;
}

void* AllocatePageAligned(uint64_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() / 2) return nullptr;
  return ::operator new(static_cast<size_t>(bytes),
                        std::align_val_t(static_cast<size_t>(PageBytes())), std::nothrow);
}

void FreePageAligned(void* data) {
  ::operator delete(data, std::align_val_t(static_cast<size_t>(PageBytes())));
}

/// Powers of two up to the bound, so that blocks fit again; above it they are not kept anyway.
uint64_t RoundUp(uint64_t bytes) {
  if (bytes > StagingPool::kMaxIdleBytes) return bytes;
  uint64_t rounded = PageBytes();
  while (rounded < bytes) rounded *= 2;
  return rounded;
}

}  // namespace

StagingBlock::StagingBlock(StagingBlock&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      capacity_bytes_(std::exchange(other.capacity_bytes_, 0)) {}

StagingBlock& StagingBlock::operator=(StagingBlock&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(capacity_bytes_, other.capacity_bytes_);
  return *this;
}

StagingBlock::~StagingBlock() {
  if (pool_ != nullptr) pool_->GiveBack(data_, capacity_bytes_);
}

StagingPool::~StagingPool() {
  for (const IdleBlock& block : idle_) FreePageAligned(block.data);
}

absl::StatusOr<StagingBlock> StagingPool::Acquire(uint64_t bytes) {
  const uint64_t capacity_bytes = RoundUp(bytes);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // From the back: what was used last is likeliest to be in a cache.
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const IdleBlock& block) {
      return block.capacity_bytes == capacity_bytes;
    });
    if (found != idle_.rend()) {
      StagingBlock block(this, found->data, found->capacity_bytes);
      idle_bytes_ -= found->capacity_bytes;
      idle_.erase(std::next(found).base());
      return block;
    }
  }
  void* data = AllocatePageAligned(capacity_bytes);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no host memory for ", bytes, " bytes of staging: map smaller ranges"));
  }
  return StagingBlock(this, data, capacity_bytes);
}

void StagingPool::GiveBack(void* data, uint64_t capacity_bytes) {
  if (capacity_bytes > kMaxIdleBytes) return FreePageAligned(data);
  std::vector<void*> surplus;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back({data, capacity_bytes});
    idle_bytes_ += capacity_bytes;
    while (idle_bytes_ > kMaxIdleBytes) {
      surplus.push_back(idle_.front().data);
      idle_bytes_ -= idle_.front().capacity_bytes;
      idle_.erase(idle_.begin());
    }
  }
  for (void* block : surplus) FreePageAligned(block);
}

uint64_t StagingPool::idle_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return idle_bytes_;
}

}  // namespace halyard::hal
