// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/sampler.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ops/data/random.h"
#include "ops/sample/contract.h"

namespace halyard::engine {
namespace {

absl::Status Bad(const char* name, float value, const char* range) {
  return absl::InvalidArgumentError(absl::StrCat(name, " is ", value, "; it must be ", range));
}

// A number of [0, 1) with 24 bits.
float Uniform(uint64_t seed, int64_t position) {
  const auto at = static_cast<uint64_t>(position);
  const ops::RandomKey key = {{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}};
  const ops::RandomWords words =
      ops::Philox(key, {static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), 0, 0});
  return static_cast<float>(words[0] >> 8) * 0x1p-24F;
}

}  // namespace

absl::Status CheckSamplingParams(const SamplingParams& params) {
  if (!(params.temperature >= 0) || !std::isfinite(params.temperature))
    return Bad("temperature", params.temperature, "0 or more");
  if (params.top_k < 0) return Bad("top_k", static_cast<float>(params.top_k), "0 (all) or more");
  if (!(params.top_p > 0 && params.top_p <= 1))
    return Bad("top_p", params.top_p, "above 0, up to 1");
  if (!(params.min_p >= 0 && params.min_p <= 1)) return Bad("min_p", params.min_p, "within 0 to 1");
  if (!(params.repetition_penalty > 0) || !std::isfinite(params.repetition_penalty))
    return Bad("repetition_penalty", params.repetition_penalty, "above 0");
  for (const float penalty : {params.presence_penalty, params.frequency_penalty}) {
    if (!(penalty >= -2 && penalty <= 2))
      return Bad("presence_penalty or frequency_penalty", penalty, "within -2 to 2");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Sampler>> Sampler::Create(const SamplingParams& params,
                                                         int64_t vocabulary,
                                                         const registry::Registry* registry,
                                                         const hal::Team* team) {
  HY_RETURN_IF_ERROR(CheckSamplingParams(params));
  if (registry->FindOp("sample") == nullptr)
    return absl::FailedPreconditionError("there is no op sample");
  return std::unique_ptr<Sampler>(new Sampler(params, vocabulary, registry, team));
}

void Sampler::Accept(int32_t token, bool generated) {
  const auto at = static_cast<size_t>(token);
  if (seen_[at] == 0) tokens_.push_back(token);
  seen_[at] = 1;
  if (generated) ++generated_[at];
}

void Sampler::Penalise(absl::Span<float> logits) const {
  const bool none = params_.repetition_penalty == 1 && params_.presence_penalty == 0 &&
                    params_.frequency_penalty == 0;
  if (none) return;
  for (const int32_t token : tokens_) {
    const auto at = static_cast<size_t>(token);
    float& logit = logits[at];
    logit = logit > 0 ? logit / params_.repetition_penalty : logit * params_.repetition_penalty;
    if (generated_[at] == 0) continue;
    logit -=
        params_.presence_penalty + params_.frequency_penalty * static_cast<float>(generated_[at]);
  }
}

absl::StatusOr<int32_t> Sampler::Sample(absl::Span<float> logits, int64_t position) {
  Penalise(logits);
  const int64_t shape[] = {1, static_cast<int64_t>(logits.size())};
  const int64_t one = 1;
  float temperature = params_.temperature;
  float u = Uniform(params_.seed, position);
  float top_p = params_.top_p;
  float min_p = params_.min_p;
  int32_t top_k = params_.top_k;
  int32_t id = -1;
  hy_sample_args args{};
  args.struct_size = sizeof args;
  args.logits = hy_tensor_dense(logits.data(), HY_TYPE_F32, 2, shape);
  args.temperature = hy_tensor_dense(&temperature, HY_TYPE_F32, 1, &one);
  args.u = hy_tensor_dense(&u, HY_TYPE_F32, 1, &one);
  args.top_k = hy_tensor_dense(&top_k, HY_TYPE_I32, 1, &one);
  args.top_p = hy_tensor_dense(&top_p, HY_TYPE_F32, 1, &one);
  args.min_p = hy_tensor_dense(&min_p, HY_TYPE_F32, 1, &one);
  args.id = hy_tensor_dense(&id, HY_TYPE_I32, 1, &one);
  HY_RETURN_IF_ERROR(runner_.Run(*registry_.FindOp("sample"), &args));
  return id;
}

}  // namespace halyard::engine
