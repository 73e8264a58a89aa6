// SPDX-License-Identifier: Apache-2.0
#include "ports/opencl/cl_devices.h"

#include <cstdio>
#include <cstring>

#include "ports/opencl/signal_guard.h"

namespace halyard::opencl {
namespace {

constexpr cl_uint kMostPlatforms = 32;
constexpr cl_uint kMostDevices = 64;  // of one platform

// Platform names and device texts can be long; OpenCL refuses a buffer that is too short.
constexpr size_t kTextBytes = 1024;

void CopyText(const char* from, char* out, size_t out_bytes) {
  const size_t length = strnlen(from, out_bytes - 1);
  std::memcpy(out, from, length);
  out[length] = '\0';
}

void PlatformName(cl_platform_id platform, char* out, size_t out_bytes) {
  char text[kTextBytes] = "";
  if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text - 1, text, nullptr) != CL_SUCCESS) {
    std::strcpy(text, "unnamed");
  }
  CopyText(text, out, out_bytes);
}

// "Portable Computing Language" becomes "portable_computing_language".
struct Slug {
  char text[40];
};
Slug MakeSlug(const char* name) {
  Slug slug = {};
  size_t length = 0;
  for (; *name != '\0' && length + 1 < sizeof slug.text; ++name) {
    const bool upper = *name >= 'A' && *name <= 'Z';
    const bool plain = (*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9');
    if (upper || plain) {
      slug.text[length++] = upper ? static_cast<char>(*name - 'A' + 'a') : *name;
    } else if (length > 0 && slug.text[length - 1] != '_') {
      slug.text[length++] = '_';
    }
  }
  return slug;
}

// How many of the platforms before this one have its slug: two drivers of one maker.
uint32_t CountTwins(const cl_platform_id* platforms, cl_uint index, const Slug& slug) {
  uint32_t twins = 0;
  for (cl_uint i = 0; i < index; ++i) {
    char name[64];
    PlatformName(platforms[i], name, sizeof name);
    if (std::strcmp(MakeSlug(name).text, slug.text) == 0) ++twins;
  }
  return twins;
}

hy_device_info Describe(cl_device_id device, const char* platform_name, const Slug& slug,
                        uint32_t twins, cl_uint index) {
  hy_device_info info = {};
  info.struct_size = sizeof info;
  info.kind = HY_DEVICE_DISCRETE;
  if (twins == 0) {
    std::snprintf(info.id, sizeof info.id, "opencl:%s:%u", slug.text, index);
  } else {
    std::snprintf(info.id, sizeof info.id, "opencl:%s.%u:%u", slug.text, twins + 1, index);
  }
  DeviceText(device, CL_DEVICE_NAME, info.name, sizeof info.name);
  CopyText(platform_name, info.locator, sizeof info.locator);
  return info;
}

// False when the visitor has had enough.
bool VisitPlatform(const cl_platform_id* platforms, cl_uint index, VisitFn visit, void* context) {
  char name[64];
  PlatformName(platforms[index], name, sizeof name);
  const Slug slug = MakeSlug(name);
  const uint32_t twins = CountTwins(platforms, index, slug);
  cl_device_id devices[kMostDevices];
  cl_uint count = 0;
  if (clGetDeviceIDs(platforms[index], CL_DEVICE_TYPE_ALL, kMostDevices, devices, &count) !=
      CL_SUCCESS) {
    return true;  // a platform without devices says DEVICE_NOT_FOUND
  }
  for (cl_uint i = 0; i < count && i < kMostDevices; ++i) {
    const FoundDevice found = {platforms[index], devices[i],
                               Describe(devices[i], name, slug, twins, i)};
    if (!visit(context, found)) return false;
  }
  return true;
}

}  // namespace

void VisitDevices(VisitFn visit, void* context) {
  const SignalGuard guard;
  cl_platform_id platforms[kMostPlatforms];
  cl_uint count = 0;
  // Without any driver the loader says PLATFORM_NOT_FOUND_KHR: there are no devices.
  if (clGetPlatformIDs(kMostPlatforms, platforms, &count) != CL_SUCCESS) return;
  for (cl_uint i = 0; i < count && i < kMostPlatforms; ++i) {
    if (!VisitPlatform(platforms, i, visit, context)) return;
  }
}

void DeviceText(cl_device_id device, cl_device_info what, char* out, size_t out_bytes) {
  char text[kTextBytes] = "";
  if (clGetDeviceInfo(device, what, sizeof text - 1, text, nullptr) != CL_SUCCESS) text[0] = '\0';
  CopyText(text, out, out_bytes);
}

uint64_t DeviceNumber(cl_device_id device, cl_device_info what) {
  cl_ulong wide = 0;
  if (clGetDeviceInfo(device, what, sizeof wide, &wide, nullptr) == CL_SUCCESS) {
    size_t bytes = 0;
    clGetDeviceInfo(device, what, 0, nullptr, &bytes);
    if (bytes == sizeof wide) return wide;
    cl_uint narrow = 0;  // on a big-endian host the first four bytes are not the low ones
    std::memcpy(&narrow, &wide, sizeof narrow);
    return narrow;
  }
  return 0;
}

}  // namespace halyard::opencl
