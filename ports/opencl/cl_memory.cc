// SPDX-License-Identifier: Apache-2.0
#include "ports/opencl/cl_memory.h"

namespace halyard::opencl {
namespace {

using port_kit::As;
using port_kit::Report;

hy_status ToStatus(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return HY_OK;
  return Report(host, StatusOf(error), "%s: OpenCL error %d", what, error);
}

bool Overlap(const hy_op& op) {
  return op.src == op.dst && op.src_offset < op.dst_offset + op.bytes &&
         op.dst_offset < op.src_offset + op.bytes;
}

// Waits for a command that was accepted. A failure while it ran shows only at its event.
cl_int Await(cl_int accepted, cl_event event) {
  if (accepted != CL_SUCCESS) return accepted;
  const cl_int error = clWaitForEvents(1, &event);
  clReleaseEvent(event);
  return error;
}

// A fill by OpenCL begins and ends at multiples of its pattern; the bytes around are written.
cl_int FillRange(cl_command_queue queue, cl_mem memory, uint64_t offset, uint64_t bytes,
                 uint32_t pattern, uint32_t pattern_bytes) {
  // From `offset` on, this is what the memory has to hold.
  uint8_t unit[8];
  port_kit::FillBytes(unit, sizeof unit, pattern, pattern_bytes);
  const uint64_t to_multiple = (pattern_bytes - offset % pattern_bytes) % pattern_bytes;
  const uint64_t head = to_multiple < bytes ? to_multiple : bytes;
  const uint64_t body = (bytes - head) / pattern_bytes * pattern_bytes;
  const uint64_t tail = bytes - head - body;
  const auto at = [](uint64_t position) { return static_cast<size_t>(position); };
  cl_int error = CL_SUCCESS;
  if (head != 0) {
    error = clEnqueueWriteBuffer(queue, memory, CL_TRUE, at(offset), at(head), unit, 0, nullptr,
                                 nullptr);
  }
  if (error == CL_SUCCESS && body != 0) {
    cl_event filled = nullptr;
    error = clEnqueueFillBuffer(queue, memory, unit + head, pattern_bytes, at(offset + head),
                                at(body), 0, nullptr, &filled);
    error = Await(error, filled);
  }
  if (error == CL_SUCCESS && tail != 0) {
    error = clEnqueueWriteBuffer(queue, memory, CL_TRUE, at(offset + head + body), at(tail),
                                 unit + head, 0, nullptr, nullptr);
  }
  return error;
}

// A copy between ranges of buffers that do not overlap.
cl_int CopyRange(cl_command_queue queue, cl_mem src, uint64_t src_offset, cl_mem dst,
                 uint64_t dst_offset, uint64_t bytes) {
  cl_event copied = nullptr;
  const cl_int error = clEnqueueCopyBuffer(queue, src, dst, static_cast<size_t>(src_offset),
                                           static_cast<size_t>(dst_offset),
                                           static_cast<size_t>(bytes), 0, nullptr, &copied);
  return Await(error, copied);
}

}  // namespace

hy_status StatusOf(cl_int error) {
  switch (error) {
    case CL_SUCCESS:
      return HY_OK;
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE:
      return HY_RESOURCE_EXHAUSTED;
    default:  // arguments were checked before, so the device does not work any more
      return HY_DATA_LOSS;
  }
}

Buffer::~Buffer() {
  if (memory_ != nullptr) clReleaseMemObject(memory_);
}

hy_status Buffer::Take(uint64_t flags) {
  cl_int error = CL_SUCCESS;
  memory_ = clCreateBuffer(link_->context, CL_MEM_READ_WRITE, static_cast<size_t>(bytes), nullptr,
                           &error);
  if (error == CL_SUCCESS && (flags & HY_ALLOC_ZERO) != 0) {
    error = FillRange(link_->queue, memory_, 0, bytes, 0, 1);
  } else if (error == CL_SUCCESS && (flags & HY_ALLOC_PREFAULT) != 0) {
    cl_event there = nullptr;
    error = clEnqueueMigrateMemObjects(link_->queue, 1, &memory_,
                                       CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, nullptr, &there);
    error = Await(error, there);
  }
  return ToStatus(error, "alloc");
}

cl_int ClMover::CopyWithin(const hy_op& op) {
  cl_mem src = As<Buffer>(op.src)->memory();
  cl_mem dst = As<Buffer>(op.dst)->memory();
  if (!Overlap(op)) {
    return CopyRange(link_->queue, src, op.src_offset, dst, op.dst_offset, op.bytes);
  }
  // OpenCL refuses a copy onto itself, so the bytes go by way of another buffer.
  cl_int error = CL_SUCCESS;
  cl_mem between = clCreateBuffer(link_->context, CL_MEM_READ_WRITE, static_cast<size_t>(op.bytes),
                                  nullptr, &error);
  if (error != CL_SUCCESS) return error;
  error = CopyRange(link_->queue, src, op.src_offset, between, 0, op.bytes);
  if (error == CL_SUCCESS) {
    error = CopyRange(link_->queue, between, 0, dst, op.dst_offset, op.bytes);
  }
  clReleaseMemObject(between);
  return error;
}

hy_status ClMover::Copy(const hy_op& op) {
  const auto bytes = static_cast<size_t>(op.bytes);
  if (op.src == nullptr) {
    const auto* src = static_cast<const uint8_t*>(op.src_host) + op.src_offset;
    return ToStatus(
        clEnqueueWriteBuffer(link_->queue, As<Buffer>(op.dst)->memory(), CL_TRUE,
                             static_cast<size_t>(op.dst_offset), bytes, src, 0, nullptr, nullptr),
        "copy to the device");
  }
  if (op.dst == nullptr) {
    auto* dst = static_cast<uint8_t*>(op.dst_host) + op.dst_offset;
    return ToStatus(
        clEnqueueReadBuffer(link_->queue, As<Buffer>(op.src)->memory(), CL_TRUE,
                            static_cast<size_t>(op.src_offset), bytes, dst, 0, nullptr, nullptr),
        "copy to the host");
  }
  return ToStatus(CopyWithin(op), "copy on the device");
}

hy_status ClMover::Fill(const hy_op& op) {
  return ToStatus(FillRange(link_->queue, As<Buffer>(op.dst)->memory(), op.dst_offset, op.bytes,
                            op.pattern, op.pattern_bytes),
                  "fill");
}

}  // namespace halyard::opencl
