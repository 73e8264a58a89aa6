// SPDX-License-Identifier: Apache-2.0
//
// Models of any shape with weights that are drawn, not trained: what runs them runs real ones.
#ifndef HALYARD_ENGINE_SYNTH_SYNTH_H_
#define HALYARD_ENGINE_SYNTH_SYNTH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "halyard/tensor.h"

namespace halyard::engine {

struct SynthSpec {
  std::string architecture = "llama";
  int64_t layers = 2;
  int64_t width = 64;
  int64_t heads = 4;
  int64_t kv_heads = 2;
  int64_t head_size = 0;  ///< 0: width / heads
  int64_t ffn = 128;
  int64_t vocabulary = 256;
  int64_t context = 2048;
  uint32_t type = HY_TYPE_Q8_0;  ///< of matrices; norms and biases are f32
  uint64_t seed = 1;
  double rope_base = 10000;
  bool tied = false;   ///< the head is the embedding
  int64_t window = 0;  ///< of gemma3; 0: 16
  std::string
      vocabulary_from;  ///< GGUF file whose tokenizer is copied; empty: bytes and pairs of them
};

/// What was written.
struct SynthResult {
  uint64_t bytes = 0;
  int64_t parameters = 0;
  /// Matrices whose rows are no whole blocks of the type, and what they became.
  std::vector<std::string> fallbacks;
};

/// Shapes of real models: "smollm2-135m", "smollm2-360m", "qwen3-0.6b", "llama-3.2-1b", "llama-3-8b".
/// Errors   NOT_FOUND: another name, with those that there are.
absl::StatusOr<SynthSpec> SynthPreset(absl::string_view name);

/// Writes the model as a GGUF file, which llama.cpp loads as well. The same spec gives the same bytes on
/// every machine. Takes memory for one tensor at a time.
/// Errors   INVALID_ARGUMENT: sizes that cannot be; as GgufWriter::Write and ReadModelConfig.
absl::StatusOr<SynthResult> WriteSynthModel(
    const SynthSpec& spec, const std::string& path,
    const std::function<void(uint64_t done, uint64_t total)>& on_progress = {});

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_SYNTH_SYNTH_H_
