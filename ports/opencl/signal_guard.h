// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_PORTS_OPENCL_SIGNAL_GUARD_H_
#define HALYARD_PORTS_OPENCL_SIGNAL_GUARD_H_

#include <csignal>

namespace halyard::opencl {

/// Puts the process's signal handlers back as they were: some drivers (PoCL, by way of LLVM) take
/// nearly all of them when they are first asked for anything, and a port may not [HAL-ERR-06].
class SignalGuard {
 public:
  SignalGuard() {
    for (int number = 1; number < kSignals; ++number) {
      known_[number] = sigaction(number, nullptr, &before_[number]) == 0;
    }
  }
  ~SignalGuard() {
    for (int number = 1; number < kSignals; ++number) {
      struct sigaction now = {};
      if (!known_[number] || sigaction(number, nullptr, &now) != 0) continue;
      if (now.sa_handler != before_[number].sa_handler) {
        sigaction(number, &before_[number], nullptr);
      }
    }
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static constexpr int kSignals = 65;
  struct sigaction before_[kSignals] = {};
  bool known_[kSignals] = {};
};

}  // namespace halyard::opencl

#endif  // HALYARD_PORTS_OPENCL_SIGNAL_GUARD_H_
