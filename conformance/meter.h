// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_METER_H_
#define HALYARD_CONFORMANCE_METER_H_

#include <cstddef>
#include <functional>
#include <string>

#include "base/monotonic_clock.h"
#include "conformance/runner.h"

namespace halyard::conformance {

/// Tells how far a run is. The time left is by the deadline-free mean of what is done.
class Meter {
 public:
  Meter(const std::function<void(const Progress&)>& sink, size_t total)
      : sink_(sink), start_ns_(MonotonicNs()) {
    progress_.total = static_cast<uint32_t>(total);
  }

  void Starting(const std::string& id) {
    progress_.current = id;
    Tell();
  }
  void Done(size_t cases) {
    progress_.done += static_cast<uint32_t>(cases);
    progress_.current.clear();
    if (progress_.done == progress_.total) Tell();
  }
  double seconds() const { return static_cast<double>(MonotonicNs() - start_ns_) * 1e-9; }

 private:
  void Tell() {
    if (!sink_) return;
    progress_.seconds = seconds();
    const uint32_t left = progress_.total - progress_.done;
    progress_.seconds_left =
        progress_.done == 0 ? 0 : progress_.seconds / progress_.done * static_cast<double>(left);
    sink_(progress_);
  }

  const std::function<void(const Progress&)>& sink_;
  const uint64_t start_ns_;
  Progress progress_;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_METER_H_
