// SPDX-License-Identifier: Apache-2.0
//
// A port with all verbs for the tests of the layers: by the rules, and in the ways that a test asks
// for against them.
#ifndef HALYARD_HAL_LAYERS_TEST_PORT_H_
#define HALYARD_HAL_LAYERS_TEST_PORT_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/monotonic_clock.h"
#include "hal/loader.h"
#include "halyard/hal_port.h"

namespace halyard::hal::testing {

/// What a wrong port does; each test sets the members that it needs.
struct Misdeeds {
  hy_status alloc_status = HY_OK;      ///< returned by alloc instead of allocating
  bool keep_handle_on_error = false;   ///< alloc hands out a handle beside an error
  bool leave_handle = false;           ///< alloc never touches the out-handle
  bool ignore_range = false;           ///< map and submit accept any range
  bool accept_null = false;            ///< map accepts a NULL desc
  bool accept_flags = false;           ///< alloc accepts unknown flags
  bool write_beyond_struct = false;    ///< timestamp writes 8 bytes too many
  bool write_beyond_array = false;     ///< enumerate ignores the capacity
  bool write_between_records = false;  ///< enumerate fills the stride
  bool write_on_unknown_key = false;   ///< query writes, then says UNIMPLEMENTED
  bool clock_goes_back = false;
  bool skip_worker = false;     ///< team_run leaves the last worker out
  bool run_nested = false;      ///< team_run accepts a run inside a run
  bool release_twice = false;   ///< calls an import's on_release twice
  bool lower_signal = false;    ///< fence_signal accepts any value
  bool early_deadline = false;  ///< fence_wait gives up at once
  bool refuse_null_release = false;
};

/// State of the port, shared by all its tables: the verbs are plain functions.
struct TestPortState {
  Misdeeds misdeeds;
  int live = 0;                    ///< objects not released yet
  std::vector<std::string> calls;  ///< verbs that reached the port
  bool is_running = false;
  uint64_t clock = 1000;
};
TestPortState& State();

/// Resets the state and loads the port; with `only_needed`, the optional slots are NULL.
std::shared_ptr<Port> LoadTestPort(bool only_needed = false);

}  // namespace halyard::hal::testing

#endif  // HALYARD_HAL_LAYERS_TEST_PORT_H_
