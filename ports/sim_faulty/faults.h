// SPDX-License-Identifier: Apache-2.0
//
// Which call of the device fails, and how.
#ifndef HALYARD_PORTS_SIM_FAULTY_FAULTS_H_
#define HALYARD_PORTS_SIM_FAULTY_FAULTS_H_

#include <atomic>
#include <cstdint>

#include "halyard/hal_port.h"
#include "ports/kit/facts.h"

namespace halyard::sim_faulty {

/// The host's services; set when the port's table is asked for.
extern const hy_host_services* host;

/// Verbs that can be made to fail.
enum class Verb {
  kOpen,
  kQuery,
  kTopology,
  kAlloc,
  kImportHost,
  kMap,
  kUnmap,
  kSyncRange,
  kWorkerBind,
  kSubmit,
  kTimestamp,
  kCount
};

/// Options of `open`; without any, nothing fails.
struct Options {
  static hy_status Take(void* options, const char* key, const char* value);
  static constexpr port_kit::OptionFn kTake = &Take;

  Verb verb = Verb::kCount;                  ///< verb=NAME; none fails
  uint64_t nth = 1;                          ///< nth=N: which call of it, since open
  hy_status status = HY_RESOURCE_EXHAUSTED;  ///< status=NAME; DATA_LOSS loses the device
  bool sticky = false;                       ///< sticky=1: and every later call of it
};

/// Counts the calls of a device. Threads: any.
class Faults {
 public:
  explicit Faults(const Options& options) : options_(options) {}

  /// OK, or what this call of a verb has to fail with, before it has done anything.
  hy_status Enter(Verb verb);

 private:
  const Options options_;
  std::atomic<uint64_t> calls_{0};
  std::atomic<bool> lost_{false};
};

}  // namespace halyard::sim_faulty

#endif  // HALYARD_PORTS_SIM_FAULTY_FAULTS_H_
