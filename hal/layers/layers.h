// SPDX-License-Identifier: Apache-2.0
//
// Ports around a port: the same table, with checks, a trace, or faults.
#ifndef HALYARD_HAL_LAYERS_LAYERS_H_
#define HALYARD_HAL_LAYERS_LAYERS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hal/loader.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// A duty or guarantee that a call broke.
struct Violation {
  std::string duty;  ///< "HAL-ERR-02", or "core" for a guarantee that the caller broke
  std::string verb;  ///< "alloc"
  std::string message;
};

/// Checks each call in both directions: handles are live and of their kind, maps do not conflict,
/// enumerators and ranges are legal, statuses documented for the verb, nothing written on an error,
/// outputs within their sizes, workers run once each. A violation is handed to `on_violation` and
/// the call's own result is passed on, but a call that breaks a guarantee of the core is not passed
/// to the port: it gives INVALID_ARGUMENT. Where a duty says what the port makes of a wrong call (a
/// NULL, a range that leaves its buffer), the port is asked and its answer checked.
/// Verbs that `port` leaves NULL stay NULL. Threads: any; on_violation by one thread at a time, and
/// it may not call the port.
/// Errors   INVALID_ARGUMENT; RESOURCE_EXHAUSTED: more than 32 layers of any sort live.
absl::StatusOr<std::shared_ptr<Port>> WithValidate(
    std::shared_ptr<Port> port, std::function<void(const Violation&)> on_violation);

/// Writes a line for each call: sequence (of its begin), thread, verb, arguments, status,
/// nanoseconds, and the handle that it made. Lines are JSON objects when `json`. Threads: any;
/// write_line by one thread at a time.
absl::StatusOr<std::shared_ptr<Port>> WithTrace(std::shared_ptr<Port> port, bool json,
                                                std::function<void(absl::string_view)> write_line);

/// Makes calls fail before the port sees them. Shared by the layer and whoever arms it; verb and
/// status are changed only while no call runs. Threads: any.
struct FaultPlan {
  std::string verb;  ///< the verb to fail; empty: all that document `status`
  hy_status status = HY_RESOURCE_EXHAUSTED;
  std::atomic<uint64_t> fail_nth{0};  ///< the n-th such call from now on fails; 0: none
  std::atomic<uint64_t> calls{0};     ///< such calls so far
  std::atomic<bool> sticky{false};    ///< and every one after it (a lost device)
};
absl::StatusOr<std::shared_ptr<Port>> WithFault(std::shared_ptr<Port> port,
                                                std::shared_ptr<FaultPlan> plan);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_LAYERS_LAYERS_H_
