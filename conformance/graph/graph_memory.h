// SPDX-License-Identifier: Apache-2.0
//
// A graph with memory: each tensor in guarded memory of its own, views and packed forms on top, and
// the args of each step. What came out can be compared bit by bit with another of the same graph.
#ifndef HALYARD_CONFORMANCE_GRAPH_GRAPH_MEMORY_H_
#define HALYARD_CONFORMANCE_GRAPH_GRAPH_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/graph/graph.h"
#include "conformance/ops/guarded_builder.h"
#include "conformance/ops/under_test.h"
#include "registry/layouts.h"

namespace halyard::conformance {

/// Bytes of each tensor that owns memory and is written, row after row; others are empty.
using GraphBits = std::vector<std::vector<uint8_t>>;

class GraphMemory {
 public:
  /// Graph and registry are borrowed; `c` gives distribution, lay and seed. `target`: what packed
  /// layouts are chosen for. `like`: memory of the same graph that has the weights; may be nullptr.
  /// Errors   as GuardedBuilder; INVALID_ARGUMENT: a step that its op's contract refuses; NOT_FOUND:
  ///          no such op.
  static absl::StatusOr<std::unique_ptr<GraphMemory>> Make(const UnderTest& under_test,
                                                           const Graph& graph, const ops::Case& c,
                                                           GuardSide side,
                                                           const hy_kernel_target& target,
                                                           const GraphMemory* like = nullptr);

  const Graph& graph() const { return graph_; }
  const TestedOp& op(size_t step) const { return *ops_[step]; }
  const void* args(size_t step) const { return args_[step].data(); }
  /// Args of a step for a kernel that takes weights in this layout.
  std::vector<uint64_t> ArgsFor(size_t step, uint32_t layout) const;
  const hy_tensor& tensor(int number) const { return tensors_[static_cast<size_t>(number)]; }
  /// Where packed weights came from.
  const registry::CanonicalStore& canonical() const { return canonical_; }

  /// As before a run.
  void Reset(uint8_t poison) { builder_->Reset(poison); }
  std::vector<std::string> Damage() const { return builder_->Damage(); }
  std::vector<std::string> InputDigests() const { return builder_->InputDigests(); }
  /// The data of another of the same graph, but for the weights.
  void TakeInputs(const GraphMemory& other);

  /// Numbers of the owners that some step writes, and of those that this one does.
  const std::vector<int>& written() const { return written_; }
  std::vector<int> WrittenBy(size_t step) const;
  GraphBits Bits() const;
  std::vector<uint8_t> BitsOf(int number) const;
  /// Where two of them first differ, of the step that wrote there last the first: step, and "y, row
  /// 3, byte 8: 1f and 20". Step -1: nowhere.
  struct Difference {
    int step = -1;
    std::string where;
  };
  Difference FirstDifference(const GraphBits& a, const GraphBits& b) const {
    return FirstDifference(a, b, graph_.steps.size());
  }
  /// The same once `steps` of them ran.
  Difference FirstDifference(const GraphBits& a, const GraphBits& b, size_t steps) const;

 private:
  GraphMemory(const Graph& graph, const ops::Case& c) : graph_(graph), case_(c) {}
  absl::Status FindOps(const UnderTest& under_test);
  absl::Status Place(const UnderTest& under_test, const hy_kernel_target& target);
  void PlaceOne(size_t number);
  void PlaceView(size_t number);
  absl::Status PlacePacked(const UnderTest& under_test, const hy_kernel_target& target,
                           size_t number);
  std::vector<uint64_t> Bound(size_t step) const;
  absl::Status BindAll();

  const Graph& graph_;
  const ops::Case case_;
  std::unique_ptr<GuardedBuilder> builder_;
  std::vector<hy_tensor> tensors_;
  std::vector<const TestedOp*> ops_;
  std::vector<std::vector<uint64_t>> args_;
  std::vector<int> written_;
  registry::CanonicalStore canonical_;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GRAPH_GRAPH_MEMORY_H_
