// SPDX-License-Identifier: Apache-2.0
//
// A model's weights as ops take them: checked, and packed for the kernels that this machine chooses.
#ifndef HALYARD_ENGINE_MODEL_WEIGHTS_H_
#define HALYARD_ENGINE_MODEL_WEIGHTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/gguf/gguf_model_file.h"
#include "engine/model/config.h"
#include "hal/device.h"
#include "registry/layouts.h"
#include "registry/registry.h"

namespace halyard::engine {

/// A matrix of a product, [out, in], and its bias, which may be absent.
struct Linear {
  hy_tensor weights{};  ///< packed, or as in the file
  hy_tensor bias{};
  std::string name;
};

struct LayerWeights {
  hy_tensor attention_norm{};
  Linear q, k, v, output;
  hy_tensor q_norm{}, k_norm{};     ///< absent without ModelConfig::qk_norm
  hy_tensor post_attention_norm{};  ///< absent without ModelConfig::post_norms
  hy_tensor ffn_norm{};
  Linear gate, up, down;
  hy_tensor post_ffn_norm{};
};

struct LoadOptions {
  bool pack = true;  ///< false: kernels take the weights as they are in the file
  /// Called as tensors are made ready.
  std::function<void(uint64_t done_bytes, uint64_t total_bytes)> on_progress;
};

/// Threads: any, once loaded.
class ModelWeights {
 public:
  /// `file`, `registry` and `team` outlive the result; canonical bytes stay in the file's mapping, to which
  /// kernels fall back.
  /// Errors   NOT_FOUND: a tensor that is missing; INVALID_ARGUMENT: one of another shape, with both
  ///          shapes; UNIMPLEMENTED: one of a type without an op; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<ModelWeights>> Load(const GgufModelFile* file,
                                                            const ModelConfig& config,
                                                            const registry::Registry* registry,
                                                            const hal::Team* team,
                                                            const LoadOptions& options = {});

  const hy_tensor& embedding() const {
    return embedding_;
  }  ///< [vocabulary, width], as in the file
  const Linear& head() const { return head_; }
  const hy_tensor& output_norm() const { return output_norm_; }
  const LayerWeights& layer(size_t number) const { return layers_[number]; }
  /// Divisors of frequencies of rope; empty if the file has none.
  const std::vector<float>& frequency_factors() const { return frequency_factors_; }
  const registry::CanonicalStore& canonical() const { return canonical_; }

  uint64_t packed_bytes() const { return packed_bytes_; }
  /// Bytes of weights that one token reads: all but the rows of the embedding that it does not use.
  uint64_t bytes_per_token() const { return bytes_per_token_; }

 private:
  class Loader;
  ModelWeights() = default;

  hy_tensor embedding_{};
  Linear head_;
  hy_tensor output_norm_{};
  std::vector<LayerWeights> layers_;
  std::vector<float> frequency_factors_;
  std::vector<std::unique_ptr<registry::AlignedBlock>> owned_;  // what had to be converted
  registry::CanonicalStore canonical_;
  std::vector<registry::PackedTensor> packed_;
  uint64_t packed_bytes_ = 0;
  uint64_t bytes_per_token_ = 0;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_MODEL_WEIGHTS_H_
