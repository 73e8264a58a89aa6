// SPDX-License-Identifier: Apache-2.0
//
// Memory of activations: one block, in which each tensor of a step has its place, large enough for the
// largest step.
#ifndef HALYARD_ENGINE_MODEL_ARENA_H_
#define HALYARD_ENGINE_MODEL_ARENA_H_

#include <cstdint>

#include "absl/status/status.h"
#include "engine/model/config.h"
#include "registry/aligned_block.h"

namespace halyard::engine {

/// The largest step.
struct StepLimits {
  int64_t rows = 128;
  int64_t sequences = 1;
  int64_t logit_rows = 1;
  int64_t max_pages = 1;  ///< of a sequence
};

/// What plans are made for.
struct StepShape {
  int64_t rows = 0;
  int64_t sequences = 0;
  int64_t logit_rows = 0;
  bool operator==(const StepShape& other) const {
    return rows == other.rows && sequences == other.sequences && logit_rows == other.logit_rows;
  }
};

class Arena {
 public:
  /// Errors   RESOURCE_EXHAUSTED.
  absl::Status Reserve(const ModelConfig& config, const StepLimits& limits);
  uint64_t bytes() const { return block_.bytes(); }

  // Inputs of a step.
  int32_t* tokens = nullptr;
  int32_t* positions = nullptr;
  int32_t* slots = nullptr;
  int32_t* q_start = nullptr;
  int32_t* kv_len = nullptr;
  int32_t* block_table = nullptr;
  int32_t* logit_rows = nullptr;
  // Activations, f32 but where a product wants them quantised.
  void* hidden = nullptr;  ///< [rows, width]: what blocks add to
  void* normed = nullptr;  ///< [rows, width], of any type
  void* q = nullptr;       ///< [rows, heads, head size]
  void* k = nullptr;       ///< [rows, kv heads, head size]
  void* v = nullptr;
  void* attended = nullptr;  ///< as q
  void* delta = nullptr;     ///< [rows, width]: what a block adds
  void* gate = nullptr;      ///< [rows, ffn]
  void* up = nullptr;
  void* gated = nullptr;   ///< [rows, ffn], of any type
  void* chosen = nullptr;  ///< [logit rows, width]
  void* logits = nullptr;  ///< [logit rows, vocabulary]

 private:
  registry::AlignedBlock block_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_MODEL_ARENA_H_
