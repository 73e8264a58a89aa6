// SPDX-License-Identifier: Apache-2.0
//
// A case in memory, several times over, so that each run finds its operands where a model finds its
// weights: not in the caches.
#ifndef HALYARD_BENCH_OPS_WORKLOAD_H_
#define HALYARD_BENCH_OPS_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "conformance/ops/under_test.h"
#include "ops/case.h"
#include "ops/data/plain_builder.h"
#include "reference/reference.h"
#include "registry/aligned_block.h"

namespace halyard::bench {

class Workload {
 public:
  /// `layout`: what weights are packed to; NULL: canonical. `cold_bytes`: all copies together are at
  /// least this large, or there are 256 of them.
  /// Errors   those of the case; INVALID_ARGUMENT: the contract refuses it; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<Workload>> Make(const conformance::TestedOp& op,
                                                        const ops::Case& c,
                                                        const hy_layout_desc* layout,
                                                        uint64_t cold_bytes);

  size_t copies() const { return args_.size(); }
  const void* args(size_t copy) const { return args_[copy % args_.size()].data(); }
  uint64_t bytes() const { return bytes_; }  ///< that one run must move, weights as canonical
  uint64_t flops() const { return flops_; }

  /// Compares what the first copy's outputs hold with what the reference says of these numerics.
  /// Errors   DATA_LOSS: what is wrong; INTERNAL: the reference failed.
  absl::Status Check(const reference::Numerics& numerics);

 private:
  Workload(const conformance::TestedOp& op, const ops::Case& c) : op_(op), case_(c) {}
  absl::Status Build(const hy_layout_desc* layout);
  absl::Status AddCopy(const hy_layout_desc* layout);

  using Words = std::vector<uint64_t>;
  const conformance::TestedOp op_;
  const ops::Case case_;
  std::unique_ptr<ops::PlainBuilder> canonical_;  // what references read, and outputs before a run
  Words canonical_args_;
  std::unique_ptr<ops::PlainBuilder> first_;
  std::vector<Words> args_;
  std::vector<std::unique_ptr<registry::AlignedBlock>> memory_;
  uint64_t bytes_ = 0;
  uint64_t flops_ = 0;
};

}  // namespace halyard::bench

#endif  // HALYARD_BENCH_OPS_WORKLOAD_H_
