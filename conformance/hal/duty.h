// SPDX-License-Identifier: Apache-2.0
//
// How a test of a duty of hal.h is written. One file an area: abi_duties.cc, memory_duties.cc, ...
//
//   HY_DUTY("HAL-MEM-03", ZeroedMemoryReadsZero) {
//     AllocRequest request{.bytes = 12345, .flags = HY_ALLOC_ZERO};
//     ...ASSERT_TRUE, EXPECT_EQ of GoogleTest on `context`...
//   }
//   HY_DUTY("HAL-MEM-07", RequiredWishFails, .in_validate = false) {...}
//
//   DutyTable MemoryDuties() {
//     static constexpr DutyTest kTests[] = {ZeroedMemoryReadsZero, RequiredWishFails};
//     return kTests;
//   }
//
// The body runs in a child process, with the device open (unless .needs_device = false), bare and
// under the validate layer. It may GTEST_SKIP() << "reason". tools/check_duties.py compares the
// ids with those of hal.h, and the tests with the tables.
#ifndef HALYARD_CONFORMANCE_HAL_DUTY_H_
#define HALYARD_CONFORMANCE_HAL_DUTY_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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
  /// The entry that gave the table.
  virtual hy_hal_get_fn entry() = 0;

  /// The device under test, open in every test that did not say needs_device = false.
  virtual hal::Device& device() = 0;
  /// Its handle, for calls of api() below the core.
  hy_device* raw_device() { return device().handle(); }
  /// Opens the device under test once more, with the same id and options.
  virtual absl::StatusOr<hal::Device> OpenAgain() = 0;
  /// Closes the device under test; device() may not be called any more.
  virtual void CloseDevice() = 0;
  /// An hy_open_desc for the device under test; valid as long as the context.
  virtual hy_open_desc open_desc() = 0;
  /// True if the device can be opened next to itself (HY_CAP_REOPEN).
  virtual bool can_reopen() = 0;

  virtual const std::string& mode() const = 0;
  virtual bool emulated() const = 0;      ///< under qemu-user or the like
  virtual double time_scale() const = 0;  ///< multiply waits and deadlines by it
  virtual uint64_t seed() const = 0;      ///< from the id

  /// Path of the plugin file, or nothing for a builtin port.
  virtual std::optional<std::string> plugin_path() const = 0;

  /// Adds a measured value to the case's facts.
  virtual void Fact(const std::string& name, const std::string& value) = 0;

  /// Keeps an object to the end of the process, undestroyed: for tests of that end.
  template <typename T>
  static T& Keep(T object) {
    static auto* const kept = new std::vector<std::unique_ptr<T>>;
    kept->push_back(std::make_unique<T>(std::move(object)));
    return *kept->back();
  }
};

/// How a test wants to be run.
struct DutyTraits {
  bool needs_device = true;
  double deadline_s = 10;
  bool in_validate = true;  ///< also under the validate layer
  bool alone = false;       ///< looks at the process as a whole: no other case in it
  bool exits = false;       ///< the process calls exit() afterwards and must end cleanly
};

struct DutyTest {
  const char* duty;
  const char* name;
  const char* file;
  int line;
  DutyTraits traits;
  void (*body)(HalContext& context);
};

#define HY_DUTY(id, test_name, ...)                                                   \
  static void test_name##Body(HalContext& context);                                   \
  static constexpr DutyTest test_name = {                                             \
      id, #test_name, __FILE__, __LINE__, DutyTraits{__VA_ARGS__}, &test_name##Body}; \
  static void test_name##Body([[maybe_unused]] HalContext& context)

/// Tables of the areas, each defined in its file and listed once in duties.cc.
using DutyTable = absl::Span<const DutyTest>;
std::vector<DutyTest> AllDutyTests();

/// The duty in words, as hal.h has it; empty for an unknown id.
absl::string_view DutyTitle(absl::string_view duty);

/// A scenario for the mode "fault": it is run once to count the calls that can fail, then with the
/// n-th failing, for every n. It opens the device by context.OpenAgain() and must return a status
/// (of any code), leave nothing behind, and pass again once the fault is gone. UNIMPLEMENTED and
/// UNAVAILABLE of a run without faults skip it.
struct FaultScenario {
  const char* name;
  const char* duty;  ///< the duty it reports under, such as HAL-ERR-04
  absl::Status (*body)(HalContext& context);
};
std::vector<FaultScenario> AllFaultScenarios();

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_HAL_DUTY_H_
