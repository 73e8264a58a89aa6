// SPDX-License-Identifier: Apache-2.0
#include "hal/layers/live_objects.h"

#include "absl/strings/str_cat.h"

namespace halyard::hal {

const char* KindName(uint32_t kind) {
  switch (kind) {
    case HY_KIND_DEVICE:
      return "device";
    case HY_KIND_BUFFER:
      return "buffer";
    case HY_KIND_TEAM:
      return "team";
    case HY_KIND_QUEUE:
      return "queue";
    case HY_KIND_FENCE:
      return "fence";
    default:
      return "object of no kind";
  }
}

bool LiveObjects::Add(uint32_t kind, const void* handle, LiveObject object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto parent = objects_.find({HY_KIND_DEVICE, object.device});
  if (object.device != nullptr && parent != objects_.end()) ++parent->second.children;
  const auto [entry, is_new] = objects_.try_emplace({kind, handle}, std::move(object));
  if (is_new) return true;
  ++entry->second.opens;
  return kind == HY_KIND_DEVICE;
}

std::string LiveObjects::Complaint(uint32_t kind, const void* handle) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (objects_.contains({kind, handle})) return "";
  for (uint32_t other = HY_KIND_DEVICE; other < HY_KIND_COUNT; ++other) {
    if (objects_.contains({other, handle})) {
      return absl::StrCat("was given a ", KindName(other), " where a ", KindName(kind), " belongs");
    }
  }
  return absl::StrCat("was given a ", KindName(kind),
                      " that is not live: released before, or not from this port");
}

std::string LiveObjects::Remove(uint32_t kind, const void* handle, LiveObject* out_object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = objects_.find({kind, handle});
  if (found == objects_.end()) return "was given what was released meanwhile";
  *out_object = found->second;
  if (found->second.opens > 1) {
    --found->second.opens;
    return "";
  }
  if (found->second.children > 0) {
    return absl::StrCat("would release a device before ", found->second.children,
                        " objects of it: the device goes last");
  }
  const auto parent = objects_.find({HY_KIND_DEVICE, found->second.device});
  if (found->second.device != nullptr && parent != objects_.end()) --parent->second.children;
  objects_.erase({kind, handle});
  return "";
}

}  // namespace halyard::hal
