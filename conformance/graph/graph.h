// SPDX-License-Identifier: Apache-2.0
//
// A few ops and the tensors between them, as level L2 runs them: a program without memory. Steps stand
// in the order in which they would run one by one; what may run together follows from their tensors.
#ifndef HALYARD_CONFORMANCE_GRAPH_GRAPH_H_
#define HALYARD_CONFORMANCE_GRAPH_GRAPH_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "halyard/kernel.h"
#include "ops/builtin.h"

namespace halyard::conformance {

/// Where a tensor's data come from.
enum class Origin {
  kInput,    ///< by the case's distribution or its own; other data in another run
  kWeights,  ///< the same; stays as it is
  kInts,     ///< given values, i32
  kFloats,   ///< given values
  kState,    ///< filled as an input, and written in part or in place
  kValue,    ///< written by a step before any reads it
  kView,     ///< columns, or the first rows, of another tensor
  kPacked,   ///< weights in the layout that the first step that reads them wants
};

struct GraphTensor {
  std::string name;
  Origin origin = Origin::kValue;
  uint32_t type = HY_TYPE_F32;
  std::vector<int64_t> shape;
  std::string dist;  ///< of inputs and weights; empty: the case's
  std::vector<int32_t> ints;
  std::vector<float> floats;
  int base = -1;          ///< kView, kPacked: of what
  int64_t first_col = 0;  ///< kView: inner axes lie side by side from this column of the base on
};

/// An op with its options and its operands by name.
struct GraphStep {
  std::string label;  ///< "3"; "3b" for a part of what step 3 does at once
  std::string op;
  std::vector<uint64_t> args;  ///< options set, tensors absent
  std::vector<std::pair<std::string, int>> operands;

  /// Number of the tensor of an operand; -1 if it is absent.
  int operand(absl::string_view name) const;
};

/// Two tensors that must hold the same bits once a step is done.
struct Equality {
  int a = -1;
  int b = -1;
  size_t after = 0;  ///< step
  /// Steps whose kernel must be one and the same for it to be promised; none for exact ops.
  std::vector<size_t> same_kernel;
  uint64_t flags = 0;   ///< HY_KERNEL_* that this kernel must declare
  std::string promise;  ///< who says so
};

struct Graph {
  std::vector<GraphTensor> tensors;
  std::vector<GraphStep> steps;
  std::vector<Equality> equalities;

  int Add(GraphTensor tensor);
  int Input(absl::string_view name, uint32_t type, std::vector<int64_t> shape,
            absl::string_view dist = "");
  int Weights(absl::string_view name, uint32_t type, std::vector<int64_t> shape,
              absl::string_view dist = "");
  int Ints(absl::string_view name, std::vector<int32_t> values, std::vector<int64_t> shape = {});
  int State(absl::string_view name, uint32_t type, std::vector<int64_t> shape);
  int Value(uint32_t type, std::vector<int64_t> shape);
  int View(int base, std::vector<int64_t> shape, int64_t first_col = 0);
  int Packed(int weights);

  /// Adds a step. `options` has its tensors absent.
  template <typename Args>
  void Step(absl::string_view op, Args options, std::vector<std::pair<std::string, int>> operands) {
    options.struct_size = sizeof options;
    std::vector<uint64_t> words((sizeof options + 7) / 8, 0);
    std::memcpy(words.data(), &options, sizeof options);
    AddStep(op, std::move(words), std::move(operands));
  }

  const GraphTensor& tensor(int number) const { return tensors[static_cast<size_t>(number)]; }
  GraphTensor& tensor(int number) { return tensors[static_cast<size_t>(number)]; }
  /// The tensor that has the memory of this one.
  int Owner(int number) const;
  /// Tells equalities that steps have other numbers; those of a step that has none (-1) go.
  void RenumberSteps(const std::vector<int>& new_numbers);

 private:
  void AddStep(absl::string_view op, std::vector<uint64_t> args,
               std::vector<std::pair<std::string, int>> operands);
};

/// Tensors that a step reads and writes, as its op's table says. An op that is not there has none.
struct Access {
  std::vector<int> reads;
  std::vector<int> writes;
};
Access AccessOf(const BuiltinOps& builtin, const GraphStep& step);

/// Leaves out steps, by their numbers. What they would have written becomes an input.
void DropSteps(absl::Span<const int64_t> steps, const BuiltinOps& builtin, Graph* graph);

/// Adds, before each step that does the work of several ops, those ops one by one on tensors of
/// their own, and what its contract declares to be equal.
void AddUnfused(Graph* graph);

/// Names of the ops, each once, with spaces between.
std::string OpsOf(const Graph& graph);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GRAPH_GRAPH_H_
