// SPDX-License-Identifier: Apache-2.0
//
// Writes the ops of one step into a plan, in the order in which they would be right one by one.
#ifndef HALYARD_ENGINE_MODEL_STEP_BUILDER_H_
#define HALYARD_ENGINE_MODEL_STEP_BUILDER_H_

#include <cstdint>
#include <initializer_list>

#include "absl/status/statusor.h"
#include "engine/model/arena.h"
#include "engine/model/config.h"
#include "engine/model/kv_storage.h"
#include "engine/model/weights.h"
#include "registry/plan.h"

namespace halyard::engine {

/// What all steps of a model share. Borrowed.
struct StepParts {
  const ModelConfig& config;
  const ModelWeights& weights;
  const registry::Registry& registry;
  const hal::Team& team;
  const KvStorage& kv;
  const Arena& arena;
  const StepLimits& limits;
  hy_tensor rope;        ///< table of angles
  hy_tensor local_rope;  ///< absent if no layer wants it
};

class StepBuilder {
 public:
  StepBuilder(const StepParts& parts, const StepShape& shape, registry::Plan* plan)
      : parts_(parts), shape_(shape), plan_(*plan) {}

  /// Errors   as Plan::Add, with the layer.
  absl::Status Build();

 private:
  template <typename Args>
  absl::Status Add(const char* op, Args args);

  absl::Status Embed();
  absl::Status Layer(int64_t number);
  absl::Status Attention(int64_t number, const LayerWeights& layer);
  absl::Status FeedForward(const LayerWeights& layer);
  absl::Status Head();

  /// y = norm(hidden + delta) * w, and hidden = hidden + delta. The first has nothing to add.
  absl::Status AddAndNorm(const hy_tensor& w, const hy_tensor& y);
  absl::Status Norm(const hy_tensor& x, const hy_tensor& w, const hy_tensor& y);
  absl::Status Multiply(const Linear& linear, const hy_tensor& x, void* y);
  absl::Status Scale(const hy_tensor& x, float factor);
  /// Norm and scale of what a block adds, where the model has them.
  absl::Status FinishDelta(const hy_tensor& post_norm);

  /// The type in which products with these weights want rows of `columns`.
  absl::StatusOr<uint32_t> InputType(std::initializer_list<const Linear*> linears,
                                     int64_t columns) const;
  absl::StatusOr<registry::Selection> SelectFor(const Linear& linear, uint32_t x_type) const;

  hy_tensor Rows(void* data, int64_t columns, uint32_t type = HY_TYPE_F32) const;
  hy_tensor Heads(void* data, int64_t heads) const;
  static hy_tensor Ints(int32_t* data, int64_t count);

  const StepParts& parts_;
  const StepShape shape_;
  registry::Plan& plan_;
  bool has_delta_ = false;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_MODEL_STEP_BUILDER_H_
