// SPDX-License-Identifier: Apache-2.0
//
// The next token of a sequence, from its logits.
#ifndef HALYARD_ENGINE_SAMPLING_SAMPLER_H_
#define HALYARD_ENGINE_SAMPLING_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/device.h"
#include "registry/registry.h"
#include "registry/run.h"

namespace halyard::engine {

/// Settings of one sequence. The defaults are greedy.
struct SamplingParams {
  float temperature = 0;         ///< 0: the largest logit, the lowest token of equal ones
  int32_t top_k = 0;             ///< the k largest; 0: all
  float top_p = 1;               ///< the fewest that make up this share
  float min_p = 0;               ///< those with at least this share of the largest
  float repetition_penalty = 1;  ///< logits of tokens that were there are divided, or multiplied
  float presence_penalty = 0;    ///< taken off logits of tokens that were generated
  float frequency_penalty = 0;   ///< the same, as often as they were
  uint64_t seed = 0;
};

/// Errors   INVALID_ARGUMENT: which one is out of its range.
absl::Status CheckSamplingParams(const SamplingParams& params);

/// Keeps the history of one sequence. A draw depends on the seed, the position and the logits alone, so
/// that neither neighbours nor threads change it. Threads: one at a time.
class Sampler {
 public:
  /// `registry` and `team` are borrowed.
  /// Errors   as CheckSamplingParams.
  static absl::StatusOr<std::unique_ptr<Sampler>> Create(const SamplingParams& params,
                                                         int64_t vocabulary,
                                                         const registry::Registry* registry,
                                                         const hal::Team* team);

  /// Tells of a token that is part of the sequence.
  void Accept(int32_t token, bool generated);

  /// Draws. `logits` [vocabulary] are changed by penalties. `position`: of the token to be drawn.
  /// Errors   INVALID_ARGUMENT: logits that are not numbers, or none that can be drawn.
  absl::StatusOr<int32_t> Sample(absl::Span<float> logits, int64_t position);

 private:
  Sampler(const SamplingParams& params, int64_t vocabulary, const registry::Registry* registry,
          const hal::Team* team)
      : params_(params),
        seen_(static_cast<size_t>(vocabulary)),
        generated_(static_cast<size_t>(vocabulary)),
        registry_(*registry),
        runner_(registry, team) {}

  void Penalise(absl::Span<float> logits) const;

  const SamplingParams params_;
  std::vector<uint8_t> seen_;        // by token
  std::vector<uint32_t> generated_;  // how often, by token
  std::vector<int32_t> tokens_;      // each that was seen, once
  const registry::Registry& registry_;
  registry::Runner runner_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_SAMPLING_SAMPLER_H_
