// SPDX-License-Identifier: Apache-2.0
#include "ports/kit/ops.h"

#include <cstring>

namespace halyard::port_kit {
namespace {

// One side of an operation: a range of a buffer, or memory of the host.
hy_status CheckSide(const hy_host_services* host, const hy_buffer* handle, const void* memory,
                    uint64_t offset, uint64_t bytes) {
  if ((handle == nullptr) == (memory == nullptr)) {
    return Report(host, HY_INVALID_ARGUMENT, "submit: a side is a buffer or a host pointer");
  }
  if (handle == nullptr) return HY_OK;
  const Buffer* buffer = As<Buffer>(handle);
  if (buffer == nullptr) return Report(host, HY_INVALID_ARGUMENT, "submit: not a buffer");
  if (!hy_range_ok(offset, bytes, buffer->bytes)) {
    return Report(host, HY_OUT_OF_RANGE, "submit: the range leaves the buffer");
  }
  return HY_OK;
}

hy_status CheckDestination(const hy_host_services* host, const hy_op& op) {
  const hy_status status = CheckSide(host, op.dst, op.dst_host, op.dst_offset, op.bytes);
  if (status != HY_OK || op.dst == nullptr || !As<Buffer>(op.dst)->read_only) return status;
  return Report(host, HY_INVALID_ARGUMENT, "submit: the destination is a read-only import");
}

hy_status CheckCopy(const hy_host_services* host, const hy_op& op) {
  if (op.src == nullptr && op.dst == nullptr) {
    return Report(host, HY_INVALID_ARGUMENT, "submit: a copy between two host pointers");
  }
  const hy_status status = CheckSide(host, op.src, op.src_host, op.src_offset, op.bytes);
  return status != HY_OK ? status : CheckDestination(host, op);
}

hy_status CheckFill(const hy_host_services* host, const hy_op& op) {
  if (op.pattern_bytes != 1 && op.pattern_bytes != 2 && op.pattern_bytes != 4) {
    return Report(host, HY_INVALID_ARGUMENT, "submit: a fill pattern has 1, 2 or 4 bytes");
  }
  if (op.dst == nullptr || op.src != nullptr || op.src_host != nullptr) {
    return Report(host, HY_INVALID_ARGUMENT,
                  "submit: a fill has a buffer as destination, no source");
  }
  return CheckDestination(host, op);
}

}  // namespace

hy_status ReadOp(const hy_array& ops, uint32_t index, hy_op* out_op) {
  return hy_read_struct(out_op, sizeof *out_op, hy_array_at(&ops, index));
}

hy_status CheckOp(const hy_host_services* host, const hy_op& op) {
  switch (op.kind) {
    case HY_OP_COPY:
      return CheckCopy(host, op);
    case HY_OP_FILL:
      return CheckFill(host, op);
    case HY_OP_HOST_CALL:
      if (op.call != nullptr) return HY_OK;
      return Report(host, HY_INVALID_ARGUMENT, "submit: a host call without a function");
    case HY_OP_BARRIER:
      return HY_OK;
    default:
      return Report(host, HY_INVALID_ARGUMENT, "submit: unknown operation %u", op.kind);
  }
}

hy_status CheckOps(const hy_host_services* host, const hy_array& ops) {
  if (ops.count != 0 && ops.data == nullptr) return HY_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < ops.count; ++i) {
    hy_op op;
    hy_status status = ReadOp(ops, i, &op);
    if (status == HY_OK) status = CheckOp(host, op);
    if (status != HY_OK) return status;
  }
  return HY_OK;
}

hy_status RunOp(const hy_op& op, Mover& mover) {
  switch (op.kind) {
    case HY_OP_COPY:
      return op.bytes == 0 ? HY_OK : mover.Copy(op);
    case HY_OP_FILL:
      return op.bytes == 0 ? HY_OK : mover.Fill(op);
    case HY_OP_HOST_CALL:
      return op.call(op.context);
    default:  // operations run in their order, so a barrier holds by itself
      return HY_OK;
  }
}

hy_status RunInline(const hy_host_services* host, const hy_queue* queue,
                    const hy_submission* submission, Mover& mover) {
  hy_submission known;
  hy_status status = hy_read_struct(&known, sizeof known, submission);
  if (status != HY_OK) return status;
  if (queue != nullptr || known.waits.count != 0 || known.signals.count != 0) {
    return Report(host, HY_INVALID_ARGUMENT, "submit: this port has no queues and no fences");
  }
  status = CheckOps(host, known.ops);
  for (uint32_t i = 0; i < known.ops.count && status == HY_OK; ++i) {
    hy_op op;
    status = ReadOp(known.ops, i, &op);
    if (status == HY_OK) status = RunOp(op, mover);
  }
  return status;
}

hy_status CheckSync(const hy_host_services* host, uint64_t buffer_bytes, uint64_t offset,
                    uint64_t bytes, uint32_t direction) {
  if (direction != HY_SYNC_TO_DEVICE && direction != HY_SYNC_FROM_DEVICE) {
    return Report(host, HY_INVALID_ARGUMENT, "sync_range: unknown direction %u", direction);
  }
  if (hy_range_ok(offset, bytes, buffer_bytes)) return HY_OK;
  return Report(host, HY_OUT_OF_RANGE, "sync_range: the range leaves the buffer");
}

void FillBytes(void* dst, uint64_t bytes, uint32_t pattern, uint32_t pattern_bytes) {
  const auto byte = static_cast<uint8_t>(pattern);
  const auto half = static_cast<uint16_t>(pattern);
  const void* source = &pattern;
  if (pattern_bytes == 1) source = &byte;
  if (pattern_bytes == 2) source = &half;
  auto* out = static_cast<uint8_t*>(dst);
  if (pattern_bytes == 1) {
    std::memset(out, byte, static_cast<size_t>(bytes));
    return;
  }
  // What is filled is copied behind itself, up to a block that stays in the nearest cache.
  constexpr uint64_t kBlockBytes = 16'384;
  uint64_t filled = pattern_bytes < bytes ? pattern_bytes : bytes;
  std::memcpy(out, source, static_cast<size_t>(filled));
  while (filled < bytes) {
    const uint64_t block = filled < kBlockBytes ? filled : kBlockBytes;
    const uint64_t next = block < bytes - filled ? block : bytes - filled;
    std::memcpy(out + filled, out, static_cast<size_t>(next));
    filled += next;
  }
}

}  // namespace halyard::port_kit
