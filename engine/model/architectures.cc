// SPDX-License-Identifier: Apache-2.0
//
// What each family has that llama has not. The sources are the papers and configurations of the
// models; names of keys and defaults are those of llama.cpp, whose files are read.
#include <cmath>

#include "base/status_macros.h"
#include "engine/model/config.h"

namespace halyard::engine {
namespace {

// Llama 2 and 3, SmolLM 2, Mistral, MiniCPM 5: the block that all others are told apart from.
absl::Status Llama(const ConfigReader&, ModelConfig*) { return absl::OkStatus(); }

// Biases of q, k and v are there if the file has them.
absl::Status Qwen2(const ConfigReader&, ModelConfig* out) {
  out->rope_pairs = RopePairs::kSplit;
  return absl::OkStatus();
}

absl::Status Qwen3(const ConfigReader&, ModelConfig* out) {
  out->rope_pairs = RopePairs::kSplit;
  out->qk_norm = true;
  return absl::OkStatus();
}

// Every fourth layer knows no positions.
absl::Status SmolLm3(const ConfigReader&, ModelConfig* out) {
  for (size_t i = 0; i < out->layer.size(); ++i) out->layer[i].rope = (i + 1) % 4 != 0;
  return absl::OkStatus();
}

absl::Status MiniCpm(const ConfigReader& reader, ModelConfig* out) {
  HY_ASSIGN_OR_RETURN(const double embedding, reader.FloatOr("embedding_scale", 12));
  HY_ASSIGN_OR_RETURN(
      const double residual,
      reader.FloatOr("residual_scale", 1.4 / std::sqrt(static_cast<double>(out->layers))));
  HY_ASSIGN_OR_RETURN(const double logits,
                      reader.FloatOr("logit_scale", static_cast<double>(out->width) / 256));
  if (!(logits > 0)) return absl::InvalidArgumentError("minicpm.logit_scale is not above 0");
  out->embedding_scale = static_cast<float>(embedding);
  out->residual_scale = static_cast<float>(residual);
  out->logit_scale = static_cast<float>(1 / logits);
  return absl::OkStatus();
}

// Five layers with a window, then one without; each kind has its own angles.
absl::Status Gemma3(const ConfigReader& reader, ModelConfig* out) {
  constexpr int64_t kPattern = 6;
  constexpr int64_t kLayersOf27B = 62;
  HY_ASSIGN_OR_RETURN(const int64_t window, reader.IntOr("attention.sliding_window", 0));
  if (window < 0 || window > INT32_MAX)
    return absl::InvalidArgumentError("gemma3.attention.sliding_window is out of range");
  out->rope_pairs = RopePairs::kSplit;
  out->qk_norm = true;
  out->post_norms = true;
  out->activation = Activation::kGelu;
  out->embedding_scale = std::sqrt(static_cast<float>(out->width));
  out->local_rope = RopeConfig();
  if (!reader.Has("rope.freq_base")) out->rope.base = 1e6;
  if (out->layers == kLayersOf27B) {
    out->attention_scale =
        1 / std::sqrt(static_cast<float>(out->width) / static_cast<float>(out->heads));
  }
  for (size_t i = 0; i < out->layer.size() && window != 0; ++i) {
    const bool local = static_cast<int64_t>(i) % kPattern < kPattern - 1;
    out->layer[i].window = local ? window : 0;
    out->layer[i].local_rope = local;
  }
  return absl::OkStatus();
}

constexpr Architecture kArchitectures[] = {
    {"llama", Llama},     {"qwen2", Qwen2},     {"qwen3", Qwen3},
    {"smollm3", SmolLm3}, {"minicpm", MiniCpm}, {"gemma3", Gemma3},
};

}  // namespace

absl::Span<const Architecture> Architectures() { return kArchitectures; }

}  // namespace halyard::engine
