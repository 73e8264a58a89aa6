// SPDX-License-Identifier: Apache-2.0
//
// A port with one simulated device: its facts from a few lines of data, and the verbs that are the
// same for all such ports.
#ifndef HALYARD_PORTS_KIT_ONE_DEVICE_H_
#define HALYARD_PORTS_KIT_ONE_DEVICE_H_

#include <cstdint>
#include <cstdio>

#include "halyard/hal_port.h"
#include "ports/kit/facts.h"
#include "ports/kit/ops.h"
#include "ports/kit/verbs.h"

namespace halyard::port_kit {

/// What differs from one simulated device to the next.
struct Setup {
  const char* port;   ///< its device is "<port>:0"
  const char* title;  ///< for people
  uint32_t kind;      ///< HY_DEVICE_*
  uint64_t caps;      ///< HY_CAP_*
  uint32_t class_id;  ///< a label, on purpose no index
  const char* class_name;
  uint64_t class_flags;    ///< HY_MEMORY_*
  uint64_t min_alignment;  ///< bytes
  uint64_t memory_bytes;
  uint64_t sync_granule_bytes = 1;
  uint64_t queue_tier = HY_QUEUE_TIER_INLINE;
};

/// The facts of such a device, with the records that they point to.
class DeviceRecord {
 public:
  explicit DeviceRecord(const Setup& setup);
  DeviceRecord(const DeviceRecord&) = delete;
  DeviceRecord& operator=(const DeviceRecord&) = delete;

  const DeviceFacts& facts() const { return facts_; }

 private:
  hy_device_info info_ = {};
  hy_memory_class memory_ = {};
  char driver_[48] = {};
  DeviceFacts facts_;
};

/// `Port` names the types Device and Buffer (see verbs.h) and has static Host() and Facts(); `More`
/// are further types of objects, ended before the device.
template <typename Port, typename... More>
struct OneDevicePort {
  using Device = typename Port::Device;
  using Buffer = typename Port::Buffer;

  static hy_status Enumerate(const hy_hal_api* self, hy_array* inout_devices) {
    return EnumerateOne(self, Port::Facts(), inout_devices);
  }
  static hy_status Open(const hy_hal_api* self, const hy_open_desc* desc, hy_device** out_device) {
    return OpenDevice<Device>(Port::Host(), Port::Facts(), self, desc, out_device);
  }
  static hy_status Query(const hy_query_desc* desc, void* answer, uint64_t* inout_bytes) {
    return QueryObject<Device, Buffer>(Port::Facts(), desc, answer, inout_bytes);
  }
  static hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                         hy_placement* out_placement) {
    return AllocBuffer<Device, Buffer>(Port::Host(), Port::Facts(), device, desc, out_buffer,
                                       out_placement);
  }
  static hy_status Timestamp(hy_device* device, hy_timestamp* out_timestamp) {
    return ReadTimestamp<Device>(Port::Host(), device, out_timestamp);
  }
  static hy_status Release(uint32_t kind, void* handle) {
    return ReleaseObject<Buffer, More..., Device>(Port::Host(), kind, handle);
  }

  /// A table with these verbs; the port sets its own beside them.
  static constexpr hy_hal_api Table(const char* name) {
    hy_hal_api table = EmptyTable(name);
    table.enumerate = Enumerate;
    table.open = Open;
    table.query = Query;
    table.alloc = Alloc;
    table.timestamp = Timestamp;
    table.release = Release;
    return table;
  }
};

/// As `submit` of tier 0, with a Mover made from the device.
template <typename Device, typename Engine>
hy_status SubmitInline(const hy_host_services* host, hy_device* handle, const hy_queue* queue,
                       const hy_submission* submission) {
  auto* device = As<Device>(handle);
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  Engine engine(device);
  return RunInline(host, queue, submission, engine);
}

}  // namespace halyard::port_kit

#endif  // HALYARD_PORTS_KIT_ONE_DEVICE_H_
