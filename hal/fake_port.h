// SPDX-License-Identifier: Apache-2.0
//
// A port for tests of the core: host memory in a private heap, with slots to leave out, statuses to
// inject, and a watch over what the core promises to ports.
#ifndef HALYARD_HAL_FAKE_PORT_H_
#define HALYARD_HAL_FAKE_PORT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hal/device.h"
#include "hal/loader.h"
#include "halyard/hal.h"

namespace halyard::hal {

class FakePort : public Port {
 public:
  struct Shape {
    bool maps = true;
    bool submits = true;
    bool is_async = false;  ///< with queues and fences of its own
    bool imports = false;
  };
  explicit FakePort(Shape shape);

  const hy_hal_api& api() const override { return owned_.table; }
  const hy_hal_api* self() const override { return &owned_.table; }
  /// Tests may clear slots before they open a device.
  hy_hal_api& table() { return owned_.table; }
  static FakePort& Of(const hy_hal_api* self);
  std::string name() const override { return "fake"; }
  std::string origin() const override { return "built in"; }

  /// The next call of a verb says this, with a reason, and does nothing.
  void Inject(const std::string& verb, hy_status status);
  hy_status TakeInjected(const std::string& verb);

  /// Broken promises of the core; empty when all is well.
  void Complain(const std::string& what);
  std::vector<std::string> complaints() const;

  /// True once no object is left; waits up to a few seconds for background work to end.
  bool AllReleased() const;

  std::vector<std::string> ids{"fake0", "fake1"};
  uint64_t caps = HY_CAP_COHERENT | HY_CAP_REOPEN;
  uint64_t memory_flags = HY_MEMORY_HOST_VISIBLE | HY_MEMORY_COHERENT;
  uint64_t refused_ops = 0;  ///< bits 1 << HY_OP_*: submit says UNIMPLEMENTED
  std::vector<std::pair<std::string, std::string>> options;  ///< of the last open
  hy_alloc_desc last_alloc{};                                ///< its arrays are not valid
  const Shape shape;
  std::atomic<int64_t> live_objects{0};  ///< not released, of all kinds
  std::atomic<int64_t> open_devices{0};
  std::atomic<bool> submitting{false};
  std::atomic<uint64_t> maps_made{0};
  std::atomic<uint64_t> copies_made{0};

 private:
  /// What `self` points to, so that its owner is found.
  struct OwnedTable {
    hy_hal_api table;
    FakePort* port;
  };
  OwnedTable owned_{};
  mutable std::mutex mutex_;
  std::map<std::string, hy_status> injected_;
  std::vector<std::string> complaints_;
};

/// Opens the first device; the test ends if that fails.
Device OpenFake(const std::shared_ptr<FakePort>& port);

/// A buffer of `bytes`, each byte `fill`.
Buffer MakeBuffer(const Device& device, uint64_t bytes, uint8_t fill = 0);

/// All bytes of a buffer.
std::vector<uint8_t> Contents(const Buffer& buffer);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_FAKE_PORT_H_
