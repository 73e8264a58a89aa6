// SPDX-License-Identifier: Apache-2.0
//
// One sequence of tokens through a model, from its first token on.
#ifndef HALYARD_ENGINE_SESSION_SESSION_H_
#define HALYARD_ENGINE_SESSION_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/model/forward.h"
#include "engine/session/loaded_model.h"

namespace halyard::engine {

struct SessionOptions {
  int64_t context = 0;  ///< tokens; 0: as many as the model was trained for, 4096 at most
  int64_t chunk = 128;  ///< rows of a prompt in one step
  KvShape kv;           ///< `pages` is chosen
};

/// Threads: one at a time, as the model's team.
class Session {
 public:
  /// `model` is borrowed.
  /// Errors   INVALID_ARGUMENT: sizes out of range; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<Session>> Create(const LoadedModel* model,
                                                         const SessionOptions& options);

  /// Appends tokens. Gives the logits behind the last one, valid until the next call.
  /// Errors   INVALID_ARGUMENT: none, or more than the context has room for, with numbers;
  ///          OUT_OF_RANGE: no token of this model. Nothing is appended then.
  absl::StatusOr<absl::Span<float>> Feed(absl::Span<const int32_t> tokens);

  int64_t position() const { return position_; }
  int64_t context() const { return context_; }
  const Forward& forward() const { return *forward_; }
  const KvStorage& kv() const { return *kv_; }

 private:
  Session(const LoadedModel* model, int64_t context, int64_t chunk)
      : model_(*model), context_(context), chunk_(chunk) {}
  absl::StatusOr<absl::Span<const float>> Step(absl::Span<const int32_t> tokens);

  const LoadedModel& model_;
  const int64_t context_;
  const int64_t chunk_;
  int64_t position_ = 0;
  std::unique_ptr<KvStorage> kv_;
  std::unique_ptr<Forward> forward_;
  std::vector<int32_t> block_table_;
  std::vector<int32_t> positions_;
  std::vector<float> logits_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_SESSION_SESSION_H_
