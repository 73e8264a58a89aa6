// SPDX-License-Identifier: Apache-2.0
//
// What the validating layer knows of the handles that its port has given out.
#ifndef HALYARD_HAL_LAYERS_LIVE_OBJECTS_H_
#define HALYARD_HAL_LAYERS_LIVE_OBJECTS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hal/layers/team_watch.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// Name of a kind for messages: "buffer".
const char* KindName(uint32_t kind);

struct LiveMap {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t access = 0;
  void* ptr = nullptr;
};

struct LiveObject {
  const void* device = nullptr;  ///< its parent; NULL for a device
  uint32_t opens = 1;            ///< a port may give one device handle for several opens
  uint32_t children = 0;         ///< of a device
  uint64_t bytes = 0;            ///< of a buffer
  bool read_only = false;        ///< of an import
  bool busy = false;             ///< a queue in submit
  bool failed = false;           ///< a fence that was failed by the host
  uint64_t value = 0;            ///< of a fence: reached by initial value or host signal at least
  uint64_t ticks = 0;            ///< of a device: the latest timestamp
  std::vector<LiveMap> maps;     ///< of a buffer
  std::shared_ptr<TeamWatch> watch;  ///< of a team
};

/// Threads: any.
class LiveObjects {
 public:
  /// False if the port gave a handle that is live already (but a device's).
  bool Add(uint32_t kind, const void* handle, LiveObject object);

  /// Why `handle` is no live object of `kind`, or "".
  std::string Complaint(uint32_t kind, const void* handle) const;

  /// Takes an object out, before its release. Returns why that may not be, or "".
  std::string Remove(uint32_t kind, const void* handle, LiveObject* out_object);

  /// Calls `use` with the object under the lock; not at all if it is not live.
  template <typename Use>
  void With(uint32_t kind, const void* handle, Use use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find({kind, handle});
    if (found != objects_.end()) use(found->second);
  }

 private:
  mutable std::mutex mutex_;  // guards the objects
  absl::flat_hash_map<std::pair<uint32_t, const void*>, LiveObject> objects_;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_LAYERS_LIVE_OBJECTS_H_
