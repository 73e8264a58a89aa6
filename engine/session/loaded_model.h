// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_ENGINE_SESSION_LOADED_MODEL_H_
#define HALYARD_ENGINE_SESSION_LOADED_MODEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/gguf/gguf_model_file.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/tokenizer/tokenizer.h"
#include "hal/device.h"
#include "registry/registry.h"

namespace halyard::engine {

/// A model file, ready to run on a team. Threads: any, once loaded.
class LoadedModel {
 public:
  /// `registry` and `team` are borrowed.
  /// Errors   as GgufModelFile::Open, ReadModelConfig, VocabularyFromGguf and ModelWeights::Load, with
  ///          the path.
  static absl::StatusOr<std::unique_ptr<LoadedModel>> Load(const std::string& path,
                                                           const registry::Registry* registry,
                                                           const hal::Team* team,
                                                           const LoadOptions& options = {});

  const GgufModelFile& file() const { return *file_; }
  const ModelConfig& config() const { return config_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const ModelWeights& weights() const { return *weights_; }
  const registry::Registry& registry() const { return *registry_; }
  const hal::Team& team() const { return *team_; }

 private:
  LoadedModel() = default;

  std::unique_ptr<GgufModelFile> file_;
  ModelConfig config_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<ModelWeights> weights_;
  const registry::Registry* registry_ = nullptr;
  const hal::Team* team_ = nullptr;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_SESSION_LOADED_MODEL_H_
