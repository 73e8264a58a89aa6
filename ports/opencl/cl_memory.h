// SPDX-License-Identifier: Apache-2.0
//
// Memory of an OpenCL device, and what moves it.
#ifndef HALYARD_PORTS_OPENCL_CL_MEMORY_H_
#define HALYARD_PORTS_OPENCL_CL_MEMORY_H_

#include <cstdint>

#include "halyard/hal_port.h"
#include "ports/kit/object.h"
#include "ports/kit/ops.h"
#include "ports/opencl/cl_devices.h"

namespace halyard::opencl {

/// The host's services; set when the port's table is asked for.
extern const hy_host_services* host;

/// An open device, as OpenCL knows it. The command queue is in order.
struct Link {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

/// The status for an OpenCL error of work on an open device.
hy_status StatusOf(cl_int error);

class Buffer : public port_kit::Buffer {
 public:
  Buffer(const Link* link, uint64_t size_bytes) : port_kit::Buffer(size_bytes), link_(link) {}
  ~Buffer();

  /// Makes the memory. With PREFAULT the device has it on return: OpenCL itself waits for the first
  /// use, too late for an error. `flags` are HY_ALLOC_*.
  hy_status Take(uint64_t flags);
  cl_mem memory() const { return memory_; }

 private:
  const Link* const link_;
  cl_mem memory_ = nullptr;
};

/// Copies and fills, done on return.
class ClMover final : public port_kit::Mover {
 public:
  explicit ClMover(const Link* link) : link_(link) {}
  hy_status Copy(const hy_op& op) override;
  hy_status Fill(const hy_op& op) override;

 private:
  cl_int CopyWithin(const hy_op& op);

  const Link* const link_;
};

}  // namespace halyard::opencl

#endif  // HALYARD_PORTS_OPENCL_CL_MEMORY_H_
