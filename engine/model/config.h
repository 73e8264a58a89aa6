// SPDX-License-Identifier: Apache-2.0
//
// What a model is, as far as running it goes: sizes, and which variant of each part of a block.
#ifndef HALYARD_ENGINE_MODEL_CONFIG_H_
#define HALYARD_ENGINE_MODEL_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/gguf/gguf.h"

namespace halyard::engine {

enum class RopePairs { kInterleaved, kSplit };
enum class Activation { kSilu, kGelu };

/// How positions become angles.
struct RopeConfig {
  double base = 10000;
  double factor = 1;             ///< positions are divided by it
  bool yarn = false;             ///< by parts, instead: slow pairs alone
  int64_t original_context = 0;  ///< of yarn
  double attention_factor = 1;   ///< of yarn
  double beta_fast = 32;
  double beta_slow = 1;
};

struct LayerConfig {
  bool rope = true;
  bool local_rope = false;  ///< ModelConfig::local_rope instead of rope
  int64_t window = 0;       ///< keys that a token sees; 0: all
};

struct ModelConfig {
  std::string architecture;
  std::string name;
  int64_t layers = 0;
  int64_t width = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_size = 0;
  int64_t ffn = 0;
  int64_t vocabulary = 0;
  int64_t context = 0;  ///< trained for

  float norm_eps = 0;
  RopePairs rope_pairs = RopePairs::kInterleaved;
  int64_t rope_size = 0;  ///< elements of a head that turn
  RopeConfig rope;
  RopeConfig local_rope;
  float attention_scale = 0;
  Activation activation = Activation::kSilu;
  bool qk_norm = false;     ///< norm of each head of q and k
  bool post_norms = false;  ///< norm of what attention and ffn give, before it is added
  float embedding_scale = 1;
  float residual_scale = 1;  ///< of what a block adds
  float logit_scale = 1;     ///< logits are multiplied by it
  std::vector<LayerConfig> layer;

  int64_t q_size() const { return heads * head_size; }
  int64_t kv_size() const { return kv_heads * head_size; }
};

/// Errors   UNIMPLEMENTED: an architecture that is not known, with those that are; NOT_FOUND: a key that
///          is missing; INVALID_ARGUMENT: sizes that do not go together, with numbers.
absl::StatusOr<ModelConfig> ReadModelConfig(const GgufFile& file);

/// Reads keys of one architecture: "block_count" is llama.block_count for llama.
class ConfigReader {
 public:
  ConfigReader(const GgufFile* file, absl::string_view architecture)
      : file_(file), prefix_(std::string(architecture) + ".") {}

  absl::StatusOr<int64_t> Int(absl::string_view key) const {
    return file_->Int(prefix_ + std::string(key));
  }
  absl::StatusOr<int64_t> IntOr(absl::string_view key, int64_t otherwise) const {
    return file_->IntOr(prefix_ + std::string(key), otherwise);
  }
  absl::StatusOr<double> FloatOr(absl::string_view key, double otherwise) const {
    return file_->FloatOr(prefix_ + std::string(key), otherwise);
  }
  absl::StatusOr<double> Float(absl::string_view key) const {
    return file_->Float(prefix_ + std::string(key));
  }
  absl::StatusOr<absl::string_view> StringOr(absl::string_view key,
                                             absl::string_view otherwise) const {
    return file_->StringOr(prefix_ + std::string(key), otherwise);
  }
  bool Has(absl::string_view key) const {
    return file_->Find(prefix_ + std::string(key)) != nullptr;
  }
  const GgufFile& file() const { return *file_; }

 private:
  const GgufFile* file_;
  std::string prefix_;
};

/// One family of models. `configure` sets what is not as in llama; sizes are read already.
struct Architecture {
  absl::string_view name;
  absl::Status (*configure)(const ConfigReader& reader, ModelConfig* inout);
};
absl::Span<const Architecture> Architectures();
/// Errors   UNIMPLEMENTED: it is not known, with those that are.
absl::Status CheckArchitecture(absl::string_view name);

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_MODEL_CONFIG_H_
