// SPDX-License-Identifier: Apache-2.0
//
// How a test of a duty of hal.h is written. One file an area: abi_duties.cc, memory_duties.cc, ...
//
//   HY_DUTY("HAL-MEM-03", ZeroedMemoryReadsZero) {
//     AllocRequest request{.bytes = 12345, .flags = HY_ALLOC_ZERO};
//     ...ASSERT_TRUE, EXPECT_EQ of GoogleTest...
//   }
//
// The body runs in a child process of its own, with the device open (unless kNoDevice is given),
// bare, under the validate layer, or with faults. It may GTEST_SKIP() << "reason".
#ifndef HALYARD_CONFORMANCE_HAL_DUTY_H_
#define HALYARD_CONFORMANCE_HAL_DUTY_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hal/device.h"
#include "hal/layers/layers.h"
#include "hal/loader.h"
#include "halyard/hal_port.h"

namespace halyard::conformance {

/// What a duty test is given.
class HalContext {
 public:
  virtual ~HalContext() = default;

  /// The port under test, with the mode's layer around it.
  virtual const std::shared_ptr<hal::Port>& port() = 0;
  /// The bare port, for tests of the table itself.
  virtual const std::shared_ptr<hal::Port>& bare_port() = 0;
  const hy_hal_api& api() { return port()->api(); }

  /// The device under test. Opened on first use; a failure to open fails the test.
  virtual hal::Device& device() = 0;
  /// A raw handle of the same device, opened through api().open for tests below the core.
  virtual hy_device* raw_device() = 0;
  /// Opens the device under test once more, with the same id and options.
  virtual absl::StatusOr<hal::Device> OpenAgain() = 0;
  /// An hy_open_desc for the device under test; valid as long as the context.
  virtual hy_open_desc open_desc() = 0;

  virtual const std::string& mode() const = 0;
  virtual bool emulated() const = 0;      ///< under qemu-user or the like
  virtual double time_scale() const = 0;  ///< multiply waits and deadlines by it
  virtual uint64_t seed() const = 0;

  /// Path of the plugin file, or nothing for a builtin port.
  virtual std::optional<std::string> plugin_path() const = 0;

  /// Adds a measured value to the case's facts.
  virtual void Fact(const std::string& name, const std::string& value) = 0;
};

/// How a test wants to be run.
struct DutyTraits {
  bool needs_device = true;
  double deadline_s = 10;
  bool in_validate = true;  ///< also under the validate layer
};

struct DutyTest {
  const char* duty;
  const char* name;
  const char* file;
  int line;
  DutyTraits traits;
  void (*body)(HalContext& context);
};

/// Tables of the areas, each defined in its file and listed once in duties.cc.
using DutyTable = absl::Span<const DutyTest>;
std::vector<DutyTest> AllDutyTests();

/// A scenario for the mode "fault": it is run once to count the calls that can fail, then with the
/// n-th failing, for every n. It must return a status (of any code) and leave nothing behind, and
/// pass again once the fault is gone.
struct FaultScenario {
  const char* name;
  const char* duty;  ///< the duty it reports under, such as HAL-ERR-04
  absl::Status (*body)(HalContext& context);
};
std::vector<FaultScenario> AllFaultScenarios();

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_HAL_DUTY_H_
