// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/c_status.h"
#include "hal/host_services.h"
#include "hal/loader.h"

namespace halyard::hal {

absl::StatusOr<std::vector<hy_device_info>> ListDevices(const Port& port) {
  // Devices may come and go between the count and the fill; a port that never settles is broken.
  constexpr int kAttempts = 4;
  std::vector<hy_device_info> devices;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    hy_array array{};
    array.data = devices.data();
    array.capacity = static_cast<uint32_t>(devices.size());
    array.stride = sizeof(hy_device_info);
    for (hy_device_info& device : devices) {
      device = {};
      device.struct_size = sizeof device;
    }
    if (devices.empty()) array.data = nullptr;
    const hy_status status = port.api().enumerate(port.self(), &array);
    if (status != HY_OK && status != HY_OUT_OF_RANGE) {
      return ToStatus(status, absl::StrCat("port ", port.name(), ": enumerate: ", TakeReport()));
    }
    const bool complete = status == HY_OK && array.count <= devices.size();
    devices.resize(array.count);
    if (complete) return devices;
  }
  return absl::InternalError(
      absl::StrCat("port ", port.name(), ": enumerate gives another count at each call"));
}

}  // namespace halyard::hal
