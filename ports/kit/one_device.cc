// SPDX-License-Identifier: Apache-2.0
#include "ports/kit/one_device.h"

namespace halyard::port_kit {

DeviceRecord::DeviceRecord(const Setup& setup) {
  info_.struct_size = sizeof info_;
  info_.kind = setup.kind;
  std::snprintf(info_.id, sizeof info_.id, "%s:0", setup.port);
  std::snprintf(info_.name, sizeof info_.name, "%s", setup.title);
  std::snprintf(info_.locator, sizeof info_.locator, "host");
  memory_.struct_size = sizeof memory_;
  memory_.id = setup.class_id;
  memory_.flags = setup.class_flags;
  memory_.bytes_total = setup.memory_bytes;
  memory_.min_alignment = setup.min_alignment;
  std::snprintf(memory_.name, sizeof memory_.name, "%s", setup.class_name);
  std::snprintf(driver_, sizeof driver_, "%s 1.0", setup.port);
  facts_ = {.info = &info_,
            .vendor = "Halyard",
            .driver = driver_,
            .caps = setup.caps,
            .classes = &memory_,
            .class_count = 1,
            .sync_granule_bytes = setup.sync_granule_bytes,
            .min_alignment = setup.min_alignment,
            .max_alloc_bytes = setup.memory_bytes,
            .queue_tier = setup.queue_tier,
            .timestamp_hz = 1000000000};
}

}  // namespace halyard::port_kit
