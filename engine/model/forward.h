// SPDX-License-Identifier: Apache-2.0
//
// One step of a model: rows of several sequences in, logits of some of them out. All ops of a step are
// resolved once for its shape and run in one region of the team.
#ifndef HALYARD_ENGINE_MODEL_FORWARD_H_
#define HALYARD_ENGINE_MODEL_FORWARD_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/model/arena.h"
#include "engine/model/config.h"
#include "engine/model/kv_storage.h"
#include "engine/model/weights.h"
#include "hal/device.h"
#include "registry/plan.h"

namespace halyard::engine {

/// What one step runs. Rows of one sequence lie together, sequences in the order of `q_start`; see
/// the contract of `attention`.
struct StepInput {
  absl::Span<const int32_t> tokens;       ///< [rows]
  absl::Span<const int32_t> positions;    ///< [rows]
  absl::Span<const int32_t> slots;        ///< [rows]: page * page size + place in the page
  absl::Span<const int32_t> q_start;      ///< [sequences + 1]
  absl::Span<const int32_t> kv_len;       ///< [sequences], these rows included
  absl::Span<const int32_t> block_table;  ///< [sequences, max_pages]
  absl::Span<const int32_t> logit_rows;   ///< rows whose logits are wanted
};

/// Threads: one at a time, as its team.
class Forward {
 public:
  /// All are borrowed and outlive it. `positions`: as many as a sequence may have.
  /// Errors   RESOURCE_EXHAUSTED: no memory, with what was asked for.
  static absl::StatusOr<std::unique_ptr<Forward>> Create(
      const ModelConfig* config, const ModelWeights* weights, const registry::Registry* registry,
      const hal::Team* team, KvStorage* kv, const StepLimits& limits, int64_t positions);

  /// Logits [logit_rows, vocabulary], valid until the next call.
  /// Errors   INVALID_ARGUMENT: beyond the limits; OUT_OF_RANGE: tokens, slots or lengths that cannot
  ///          be; as Plan::Run.
  absl::StatusOr<absl::Span<const float>> Run(const StepInput& input);

  /// Of the last step's plan: barriers, and level by level what runs. For people.
  size_t barriers() const;
  std::string Describe() const;
  const StepLimits& limits() const { return limits_; }
  uint64_t arena_bytes() const { return arena_.bytes(); }

 private:
  friend class StepBuilder;
  struct Shaped {
    StepShape shape;
    std::unique_ptr<registry::Plan> plan;
  };

  Forward(const ModelConfig* config, const ModelWeights* weights,
          const registry::Registry* registry, const hal::Team* team, KvStorage* kv,
          const StepLimits& limits)
      : config_(*config),
        weights_(*weights),
        registry_(*registry),
        team_(*team),
        kv_(*kv),
        limits_(limits) {}

  absl::Status Check(const StepInput& input) const;
  absl::StatusOr<registry::Plan*> PlanFor(const StepShape& shape);

  const ModelConfig& config_;
  const ModelWeights& weights_;
  const registry::Registry& registry_;
  const hal::Team& team_;
  KvStorage& kv_;
  const StepLimits limits_;
  Arena arena_;
  std::vector<float> rope_;        // table of each kind of angles
  std::vector<float> local_rope_;  // empty if no layer wants it
  int64_t positions_ = 0;
  std::list<Shaped> plans_;  // the one used last is the first
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_MODEL_FORWARD_H_
