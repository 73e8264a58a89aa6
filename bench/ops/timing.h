// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_BENCH_OPS_TIMING_H_
#define HALYARD_BENCH_OPS_TIMING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace halyard::bench {

/// Something to time. `run` gives the nanoseconds of one run, taken as close to the work as it can.
struct Timed {
  std::string name;
  std::function<absl::Status(uint64_t* out_ns)> run;
  // Out: the mean of each repetition, in ns, or what went wrong.
  std::vector<double> means_ns;
  absl::Status status;
};

/// Times all of them with Google Benchmark: `repetitions` of at least `seconds` each, in an order
/// that mixes them, so that what the machine does meanwhile befalls all alike.
void TimeAll(double seconds, uint32_t repetitions, std::vector<Timed>* all);

}  // namespace halyard::bench

#endif  // HALYARD_BENCH_OPS_TIMING_H_
