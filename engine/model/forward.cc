// SPDX-License-Identifier: Apache-2.0
#include "engine/model/forward.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "engine/model/rope_table.h"
#include "engine/model/step_builder.h"

namespace halyard::engine {
namespace {

// Decode, a full chunk, and rests of prompts.
constexpr size_t kMostPlans = 8;

void CopyInts(absl::Span<const int32_t> from, int32_t* to) {
  std::copy(from.begin(), from.end(), to);
}

hy_tensor TableTensor(std::vector<float>* table, int64_t positions, int64_t size) {
  if (table->empty()) return hy_tensor{};
  const int64_t shape[] = {positions, size / 2, 2};
  return hy_tensor_dense(table->data(), HY_TYPE_F32, 3, shape);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Forward>> Forward::Create(
    const ModelConfig* config, const ModelWeights* weights, const registry::Registry* registry,
    const hal::Team* team, KvStorage* kv, const StepLimits& limits, int64_t positions) {
  std::unique_ptr<Forward> made(new Forward(config, weights, registry, team, kv, limits));
  HY_RETURN_IF_ERROR(made->arena_.Reserve(*config, limits));
  made->positions_ = positions;
  made->rope_ =
      MakeRopeTable(config->rope, config->rope_size, positions, weights->frequency_factors());
  const bool local = std::any_of(config->layer.begin(), config->layer.end(),
                                 [](const LayerConfig& layer) { return layer.local_rope; });
  if (local)
    made->local_rope_ = MakeRopeTable(config->local_rope, config->rope_size, positions, {});
  return made;
}

absl::Status Forward::Check(const StepInput& input) const {
  const auto rows = static_cast<int64_t>(input.tokens.size());
  const auto sequences = static_cast<int64_t>(input.kv_len.size());
  if (rows < 1 || rows > limits_.rows || sequences < 1 || sequences > limits_.sequences ||
      static_cast<int64_t>(input.logit_rows.size()) > limits_.logit_rows ||
      input.logit_rows.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a step of ", rows, " rows of ", sequences, " sequences with ",
                     input.logit_rows.size(), " rows of logits; 1 to ", limits_.rows, ", ",
                     limits_.sequences, " and ", limits_.logit_rows, " are possible"));
  }
  if (input.positions.size() != input.tokens.size() || input.slots.size() != input.tokens.size() ||
      input.q_start.size() != input.kv_len.size() + 1 ||
      static_cast<int64_t>(input.block_table.size()) != sequences * limits_.max_pages) {
    return absl::InvalidArgumentError("the inputs of a step have lengths that do not go together");
  }
  for (const int32_t token : input.tokens) {
    if (token < 0 || token >= config_.vocabulary) {
      return absl::OutOfRangeError(
          absl::StrCat("token ", token, "; the model has ", config_.vocabulary));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<registry::Plan*> Forward::PlanFor(const StepShape& shape) {
  const auto found = std::find_if(plans_.begin(), plans_.end(),
                                  [&](const Shaped& one) { return one.shape == shape; });
  if (found != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, found);
    return plans_.front().plan.get();
  }
  registry::RunOptions options;
  options.canonical = &weights_.canonical();
  auto plan = std::make_unique<registry::Plan>(&registry_, &team_, options);
  const StepParts parts = {config_,
                           weights_,
                           registry_,
                           team_,
                           kv_,
                           arena_,
                           limits_,
                           TableTensor(&rope_, positions_, config_.rope_size),
                           TableTensor(&local_rope_, positions_, config_.rope_size)};
  HY_RETURN_IF_ERROR(StepBuilder(parts, shape, plan.get()).Build());
  HY_RETURN_IF_ERROR(plan->Commit());
  plans_.push_front({shape, std::move(plan)});
  if (plans_.size() > kMostPlans) plans_.pop_back();
  return plans_.front().plan.get();
}

absl::StatusOr<absl::Span<const float>> Forward::Run(const StepInput& input) {
  HY_RETURN_IF_ERROR(Check(input));
  const StepShape shape = {static_cast<int64_t>(input.tokens.size()),
                           static_cast<int64_t>(input.kv_len.size()),
                           static_cast<int64_t>(input.logit_rows.size())};
  HY_ASSIGN_OR_RETURN(registry::Plan* const plan, PlanFor(shape));
  CopyInts(input.tokens, arena_.tokens);
  CopyInts(input.positions, arena_.positions);
  CopyInts(input.slots, arena_.slots);
  CopyInts(input.q_start, arena_.q_start);
  CopyInts(input.kv_len, arena_.kv_len);
  CopyInts(input.block_table, arena_.block_table);
  CopyInts(input.logit_rows, arena_.logit_rows);
  HY_RETURN_IF_ERROR(plan->Run());
  return absl::Span<const float>(static_cast<const float*>(arena_.logits),
                                 static_cast<size_t>(shape.logit_rows * config_.vocabulary));
}

size_t Forward::barriers() const { return plans_.empty() ? 0 : plans_.front().plan->barriers(); }

std::string Forward::Describe() const {
  return plans_.empty() ? "" : plans_.front().plan->Describe();
}

}  // namespace halyard::engine
