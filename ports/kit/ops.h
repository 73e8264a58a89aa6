// SPDX-License-Identifier: Apache-2.0
//
// Operations on memory: read, checked, run.
#ifndef HALYARD_PORTS_KIT_OPS_H_
#define HALYARD_PORTS_KIT_OPS_H_

#include <cstdint>
#include <cstring>

#include "halyard/hal_port.h"
#include "ports/kit/object.h"

namespace halyard::port_kit {

/// What a port does to its memory. Both are given operations that CheckOp has passed, with bytes.
class Mover {
 public:
  virtual hy_status Copy(const hy_op& op) = 0;
  virtual hy_status Fill(const hy_op& op) = 0;

 protected:
  ~Mover() = default;
};

/// Checks an operation on buffers that derive from port_kit::Buffer. Errors as `submit`.
hy_status CheckOp(const hy_host_services* host, const hy_op& op);

/// Checks every operation of an array. Errors as `submit`.
hy_status CheckOps(const hy_host_services* host, const hy_array& ops);

/// Runs one checked operation. Errors: what the mover or the host call gave.
hy_status RunOp(const hy_op& op, Mover& mover);

/// Reads operation `index` of an array. Errors: as hy_read_struct.
hy_status ReadOp(const hy_array& ops, uint32_t index, hy_op* out_op);

/// As `submit` of a port of tier 0: checks every operation before it runs the first.
hy_status RunInline(const hy_host_services* host, const hy_queue* queue,
                    const hy_submission* submission, Mover& mover);

/// Checks the arguments of `sync_range`. Errors as there.
hy_status CheckSync(const hy_host_services* host, uint64_t buffer_bytes, uint64_t offset,
                    uint64_t bytes, uint32_t direction);

/// Repeats a pattern of 1, 2 or 4 bytes, in the host's byte order; the last may be cut.
void FillBytes(void* dst, uint64_t bytes, uint32_t pattern, uint32_t pattern_bytes);

/// Moves plain memory of this process: Buffer::memory() is where a buffer's bytes lie.
template <typename Buffer>
class MemoryMover : public Mover {
 public:
  hy_status Copy(const hy_op& op) override {
    const auto* src = op.src == nullptr ? static_cast<const uint8_t*>(op.src_host)
                                        : As<const Buffer>(op.src)->memory();
    auto* dst =
        op.dst == nullptr ? static_cast<uint8_t*>(op.dst_host) : As<Buffer>(op.dst)->memory();
    // Both may be ranges of one buffer.
    std::memmove(dst + op.dst_offset, src + op.src_offset, static_cast<size_t>(op.bytes));
    return HY_OK;
  }
  hy_status Fill(const hy_op& op) override {
    FillBytes(As<Buffer>(op.dst)->memory() + op.dst_offset, op.bytes, op.pattern, op.pattern_bytes);
    return HY_OK;
  }

 protected:
  ~MemoryMover() = default;
};

}  // namespace halyard::port_kit

#endif  // HALYARD_PORTS_KIT_OPS_H_
