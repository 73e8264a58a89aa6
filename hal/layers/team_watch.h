// SPDX-License-Identifier: Apache-2.0
//
// Stands between a team and the function that it runs, and counts.
#ifndef HALYARD_HAL_LAYERS_TEAM_WATCH_H_
#define HALYARD_HAL_LAYERS_TEAM_WATCH_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "halyard/hal.h"

namespace halyard::hal {

/// One for each team, alive as long as the layer: a worker that comes late must not find freed
/// memory. Threads: any.
class TeamWatch {
 public:
  /// False if a run is being watched already.
  bool Begin(hy_worker_fn fn, void* context);

  /// Ends the watch. Returns what the team did against [HAL-TEAM-01], or "".
  std::string End(hy_status status);

  /// What was done against it between runs, or "".
  std::string TakeFault();

  /// To be run by the team, with the watch as its context.
  static void Run(void* watch, uint32_t index, uint32_t count);

 private:
  std::mutex mutex_;  // guards all below
  bool active_ = false;
  hy_worker_fn fn_ = nullptr;
  void* context_ = nullptr;
  std::vector<uint32_t> calls_;  // of each index
  std::string fault_;
};

}  // namespace halyard::hal

#endif  // HALYARD_HAL_LAYERS_TEAM_WATCH_H_
