// SPDX-License-Identifier: Apache-2.0
//
// Objects and arguments for calls of the table that are wrong on purpose.
#ifndef HALYARD_CONFORMANCE_HAL_RAW_OBJECTS_H_
#define HALYARD_CONFORMANCE_HAL_RAW_OBJECTS_H_

#include <cstdint>
#include <vector>

#include "conformance/hal/work.h"

namespace halyard::conformance {

inline hy_map_desc MapRange(uint64_t offset, uint64_t bytes, uint64_t access) {
  hy_map_desc desc = Sized<hy_map_desc>();
  desc.offset = offset;
  desc.bytes = bytes;
  desc.access = access;
  return desc;
}

inline hy_op Op(uint32_t kind, hy_buffer* dst, uint64_t offset, uint64_t bytes) {
  hy_op op = Sized<hy_op>();
  op.kind = kind;
  op.dst = dst;
  op.dst_offset = offset;
  op.bytes = bytes;
  op.pattern_bytes = 1;
  return op;
}

/// Objects to make wrong calls on, as far as the port makes them itself.
class Objects {
 public:
  explicit Objects(HalContext& context)
      : api_(context.api()), device_(context.raw_device()), buffer_(context, 4096) {
    if (api_.queue_create != nullptr) {
      const hy_queue_desc desc = Sized<hy_queue_desc>();
      HY_EXPECT_STATUS(api_.queue_create(device_, &desc, &queue_), HY_OK);
    }
    if (api_.fence_create != nullptr) {
      HY_EXPECT_STATUS(api_.fence_create(device_, 0, &fence_), HY_OK);
    }
    if (api_.team_create != nullptr) {
      hy_team_desc desc = Sized<hy_team_desc>();
      desc.count = 1;
      desc.perf_class = HY_ID_NONE;
      HY_EXPECT_STATUS(api_.team_create(device_, &desc, &team_), HY_OK);
    }
  }
  ~Objects() {
    api_.release(HY_KIND_QUEUE, queue_);
    api_.release(HY_KIND_FENCE, fence_);
    api_.release(HY_KIND_TEAM, team_);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  hy_buffer* buffer() const { return buffer_.get(); }
  hy_queue* queue() const { return queue_; }
  hy_fence* fence() const { return fence_; }
  hy_team* team() const { return team_; }

  hy_status Submit(std::vector<hy_op> ops) const {
    hy_submission work = Sized<hy_submission>();
    work.ops = ArrayOf(ops);
    return api_.submit(device_, queue_, &work);
  }

 private:
  const hy_hal_api& api_;
  hy_device* device_;
  RawBuffer buffer_;
  hy_queue* queue_ = nullptr;
  hy_fence* fence_ = nullptr;
  hy_team* team_ = nullptr;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_HAL_RAW_OBJECTS_H_
