// SPDX-License-Identifier: Apache-2.0
//
// How fast each kernel runs, beside what the machine could do at that moment. A figure is given only
// to a kernel whose output was right.
#ifndef HALYARD_BENCH_OPS_BENCH_OPS_H_
#define HALYARD_BENCH_OPS_BENCH_OPS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/ops/under_test.h"
#include "facts/bandwidth.h"
#include "facts/compute.h"
#include "hal/device.h"
#include "ops/case.h"

namespace halyard::bench {

struct BenchRequest {
  std::vector<std::string> ops;  ///< empty: all
  std::vector<ops::Case> cases;  ///< empty: DefaultShapes of each op
  std::string types;             ///< only default shapes with this type among theirs; empty: all
  std::string kernel_glob;       ///< empty: all that can run
  bool only_selected = false;    ///< only the kernel that selection takes
  bool reference = false;        ///< the references, too
  uint32_t threads = 0;          ///< 0: the budget of the device
  double seconds = 0.1;          ///< at least, for each repetition of a row
  uint32_t repetitions = 5;      ///< of each row, interleaved with those of all others of its case
  uint64_t cold_bytes =
      256 << 20;  ///< what the copies of a row's operands are in all; 0: one copy, hot
};

/// The roofs, measured with the team of the rows right before and after them.
struct Roofs {
  double read_gb_per_s = 0;
  double int8_gop_per_s = 0;
  double f32_gop_per_s = 0;
  std::string read_kernel;
  std::string compute_kernel;
};

struct BenchRow {
  std::string case_text;
  std::string kernel;
  bool selected = false;  ///< what runs when nobody chooses
  bool right = false;
  std::string fault;  ///< why it has no figures
  uint32_t threads = 0;
  uint64_t copies = 0;  ///< of the operands; 1: hot
  uint64_t bytes = 0;
  uint64_t flops = 0;
  double median_ns = 0;  ///< of the repetitions' means
  double min_ns = 0;
  double max_ns = 0;
  double gb_per_s = 0;
  double gop_per_s = 0;
  double share_of_read = 0;     ///< gb_per_s of the read roof
  double share_of_compute = 0;  ///< gop_per_s of the roof of its arithmetic
  double share_of_roof = 0;     ///< least time that the roofs allow, of the time taken
  std::string roof;             ///< which one binds: "read", "int8", "f32"
};

struct BenchReport {
  Roofs before;
  Roofs after;
  double drift = 0;  ///< largest relative change of a roof
  std::vector<BenchRow> rows;
};

/// Measures. `on_row` is called as rows are ready.
/// Errors   NOT_FOUND: no such op; FAILED_PRECONDITION: no case or kernel is left by what was asked;
///          those of the device.
absl::StatusOr<BenchReport> BenchOps(const hal::Device& device,
                                     const conformance::UnderTest& tested,
                                     const BenchRequest& request,
                                     const std::function<void(const BenchRow&)>& on_row = {},
                                     const std::function<void(const std::string&)>& on_step = {});

}  // namespace halyard::bench

#endif  // HALYARD_BENCH_OPS_BENCH_OPS_H_
