// SPDX-License-Identifier: Apache-2.0
#include "engine/session/loaded_model.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace halyard::engine {
namespace {

absl::Status WithPath(const absl::Status& status, const std::string& path) {
  if (status.ok() || absl::StrContains(status.message(), path)) return status;
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedModel>> LoadedModel::Load(const std::string& path,
                                                               const registry::Registry* registry,
                                                               const hal::Team* team,
                                                               const LoadOptions& options) {
  std::unique_ptr<LoadedModel> model(new LoadedModel);
  model->registry_ = registry;
  model->team_ = team;
  HY_ASSIGN_OR_RETURN(model->file_, GgufModelFile::Open(path));
  absl::StatusOr<ModelConfig> config = ReadModelConfig(model->file_->head());
  if (!config.ok()) return WithPath(config.status(), path);
  model->config_ = *std::move(config);
  absl::StatusOr<Vocabulary> vocabulary = VocabularyFromGguf(model->file_->head());
  if (!vocabulary.ok()) return WithPath(vocabulary.status(), path);
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::Create(*std::move(vocabulary));
  if (!tokenizer.ok()) return WithPath(tokenizer.status(), path);
  model->tokenizer_ = *std::move(tokenizer);
  const auto tokens = static_cast<int64_t>(model->tokenizer_->vocabulary().size());
  if (tokens > model->config_.vocabulary) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the tokenizer has ", tokens,
                                                   " tokens, and the embedding ",
                                                   model->config_.vocabulary, " rows"));
  }
  absl::StatusOr<std::unique_ptr<ModelWeights>> weights =
      ModelWeights::Load(model->file_.get(), model->config_, registry, team, options);
  if (!weights.ok()) return WithPath(weights.status(), path);
  model->weights_ = *std::move(weights);
  return model;
}

}  // namespace halyard::engine
