// SPDX-License-Identifier: Apache-2.0
//
// The devices of every OpenCL platform of this machine.
#ifndef HALYARD_PORTS_OPENCL_CL_DEVICES_H_
#define HALYARD_PORTS_OPENCL_CL_DEVICES_H_

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstddef>

#include "halyard/hal_port.h"

namespace halyard::opencl {

struct FoundDevice {
  cl_platform_id platform;
  cl_device_id device;
  hy_device_info info;
};

/// Called for each device; false ends the search.
using VisitFn = bool (*)(void* context, const FoundDevice& found);

/// Visits all devices, platform by platform. Ids are "opencl:<platform>:<n>", of the platform's
/// name and the device's place in it: they do not depend on the order in which the system lists the
/// platforms. The first call of a process loads the drivers, which may start threads of their own.
void VisitDevices(VisitFn visit, void* context);

/// A text that OpenCL tells about a device, cut to fit.
void DeviceText(cl_device_id device, cl_device_info what, char* out, size_t out_bytes);

/// A number that OpenCL tells about a device; 0 if it does not.
uint64_t DeviceNumber(cl_device_id device, cl_device_info what);

}  // namespace halyard::opencl

#endif  // HALYARD_PORTS_OPENCL_CL_DEVICES_H_
