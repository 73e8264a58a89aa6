// SPDX-License-Identifier: Apache-2.0
#include "engine/synth/synth.h"

#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/quant/format.h"
#include "base/status_macros.h"
#include "engine/gguf/gguf_model_file.h"
#include "engine/gguf/gguf_writer.h"
#include "engine/model/config.h"
#include "engine/synth/synth_vocabulary.h"
#include "ops/data/random.h"

namespace halyard::engine {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 20;
constexpr int64_t kDefaultWindow = 16;

// What llama.cpp's quantizer takes where rows are no whole blocks: the next that has blocks of 32.
uint32_t FallbackOf(uint32_t type) {
  switch (type) {
    case HY_TYPE_Q2_K:
    case HY_TYPE_Q3_K:
      return HY_TYPE_Q4_0;
    case HY_TYPE_Q4_K:
      return HY_TYPE_Q5_0;
    case HY_TYPE_Q5_K:
      return HY_TYPE_Q5_1;
    case HY_TYPE_Q6_K:
      return HY_TYPE_Q8_0;
    default:
      return HY_TYPE_F16;
  }
}

uint32_t TypeFor(uint32_t type, int64_t columns) {
  while (columns % static_cast<int64_t>(hy_type_facts(type)->block) != 0) type = FallbackOf(type);
  return type;
}

absl::Status CheckSpec(const SynthSpec& spec) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"layers", spec.layers},     {"width", spec.width}, {"heads", spec.heads},
      {"kv-heads", spec.kv_heads}, {"ffn", spec.ffn},     {"vocab", spec.vocabulary},
      {"context", spec.context}};
  for (const auto& [name, value] : sizes) {
    if (value >= 1 && value <= kMostSize) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is ", value, "; 1 to ", kMostSize, " are possible"));
  }
  if (spec.head_size == 0 && spec.width % spec.heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("width ", spec.width, " cannot be shared by ",
                                                   spec.heads, " heads; give the head size"));
  }
  HY_RETURN_IF_ERROR(CheckArchitecture(spec.architecture));
  if (GgufNumberOf(spec.type) == UINT32_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("files have no tensors of type ", hy_type_name(spec.type)));
  }
  return absl::OkStatus();
}

class ModelMaker {
 public:
  ModelMaker(const SynthSpec& spec, SynthResult* result) : spec_(spec), result_(*result) {
    head_size_ = spec.head_size != 0 ? spec.head_size : spec.width / spec.heads;
  }

  absl::Status Plan() {
    HY_RETURN_IF_ERROR(AddMetadata());
    HY_RETURN_IF_ERROR(AddVocabulary());
    HY_RETURN_IF_ERROR(Matrix("token_embd", spec_.vocabulary, spec_.width, 2));
    for (int64_t i = 0; i < spec_.layers; ++i)
      HY_RETURN_IF_ERROR(Layer(absl::StrCat("blk.", i, ".")));
    HY_RETURN_IF_ERROR(Vector("output_norm.weight", spec_.width, 1));
    return spec_.tied ? absl::OkStatus() : Matrix("output", spec_.vocabulary, spec_.width, 2);
  }

  GgufWriter& writer() { return writer_; }

 private:
  std::string Key(absl::string_view name) const {
    return absl::StrCat(spec_.architecture, ".", name);
  }
  void PutInt(absl::string_view name, int64_t value) {
    writer_.AddUint32(Key(name), static_cast<uint32_t>(value));
  }

  absl::Status AddMetadata() {
    const bool known = spec_.architecture == "gemma3" || spec_.architecture == "qwen3";
    writer_.AddString("general.architecture", spec_.architecture);
    writer_.AddString("general.name",
                      absl::StrCat("synthetic ", spec_.architecture, " ", spec_.seed));
    PutInt("block_count", spec_.layers);
    PutInt("context_length", spec_.context);
    PutInt("embedding_length", spec_.width);
    PutInt("feed_forward_length", spec_.ffn);
    PutInt("attention.head_count", spec_.heads);
    PutInt("attention.head_count_kv", spec_.kv_heads);
    PutInt("vocab_size", spec_.vocabulary);
    if (known || spec_.head_size != 0) {
      PutInt("attention.key_length", head_size_);
      PutInt("attention.value_length", head_size_);
    }
    PutInt("rope.dimension_count", head_size_);
    writer_.AddFloat(Key("rope.freq_base"), static_cast<float>(spec_.rope_base));
    writer_.AddFloat(Key("attention.layer_norm_rms_epsilon"), 1e-5F);
    if (spec_.architecture == "gemma3")
      PutInt("attention.sliding_window", spec_.window != 0 ? spec_.window : kDefaultWindow);
    if (spec_.architecture == "minicpm") {
      writer_.AddFloat(Key("embedding_scale"), 12);
      writer_.AddFloat(Key("residual_scale"),
                       static_cast<float>(1.4 / std::sqrt(static_cast<double>(spec_.layers))));
      writer_.AddFloat(Key("logit_scale"), static_cast<float>(spec_.width) / 256);
    }
    return absl::OkStatus();
  }

  absl::Status AddVocabulary() {
    if (spec_.vocabulary_from.empty()) {
      AddSynthVocabulary(spec_.vocabulary, &writer_);
      return absl::OkStatus();
    }
    HY_ASSIGN_OR_RETURN(const auto from, GgufModelFile::Open(spec_.vocabulary_from));
    for (const GgufEntry& entry : from->head().entries()) {
      if (absl::StartsWith(entry.key, "tokenizer."))
        HY_RETURN_IF_ERROR(writer_.Copy(from->head(), entry));
    }
    return absl::OkStatus();
  }

  // Rows of `amplitude` times what keeps sums of `columns` products at about 1.
  absl::Status Matrix(const std::string& name, int64_t rows, int64_t columns,
                      double amplitude = 1) {
    const uint32_t type = TypeFor(spec_.type, columns);
    if (type != spec_.type)
      result_.fallbacks.push_back(absl::StrCat(name, ": ", hy_type_name(type)));
    const auto scale =
        static_cast<float>(amplitude * std::sqrt(3.0 / static_cast<double>(columns)));
    result_.parameters += rows * columns;
    return AddDrawn(name + ".weight", type, {rows, columns}, scale, 0);
  }

  absl::Status Vector(const std::string& name, int64_t size, float middle) {
    result_.parameters += size;
    return AddDrawn(name, HY_TYPE_F32, {size}, 0.1F, middle);
  }

  absl::Status AddDrawn(const std::string& name, uint32_t type, const std::vector<int64_t>& shape,
                        float scale, float middle) {
    const uint64_t seed = spec_.seed;
    return writer_.AddTensor(name, type, shape,
                             [this, name, type, shape, scale, middle,
                              seed]() -> absl::StatusOr<absl::Span<const uint8_t>> {
                               Draw(name, type, shape, scale, middle, seed);
                               return absl::MakeConstSpan(bytes_);
                             });
  }

  // Files are little-endian on every host.
  void Draw(const std::string& name, uint32_t type, const std::vector<int64_t>& shape, float scale,
            float middle, uint64_t seed) {
    const ops::RandomKey key = ops::KeyOf(seed, name);
    const int64_t columns = shape.back();
    const int64_t rows = shape.size() == 1 ? 1 : shape[0];
    const uint64_t row_bytes = hy_type_row_bytes(type, columns);
    bytes_.resize(static_cast<size_t>(row_bytes * static_cast<uint64_t>(rows)));
    std::vector<float> values(static_cast<size_t>(columns));
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; column += 4) {
        const ops::RandomWords words =
            ops::Philox(key, {static_cast<uint32_t>(row), static_cast<uint32_t>(column / 4), 0, 0});
        for (int64_t i = 0; i < 4 && column + i < columns; ++i) {
          values[static_cast<size_t>(column + i)] =
              middle + scale * ops::SignedUnit(words[static_cast<size_t>(i)]);
        }
      }
      quant::EncodeRow(type, values.data(), columns,
                       bytes_.data() + static_cast<size_t>(row_bytes) * static_cast<size_t>(row));
    }
    if (hy_type_is_float(type) != 0) ToLittleEndian(hy_type_facts(type)->block_bytes, &bytes_);
  }

  absl::Status Layer(const std::string& prefix) {
    const int64_t width = spec_.width;
    const int64_t q = spec_.heads * head_size_;
    const int64_t kv = spec_.kv_heads * head_size_;
    const bool gemma = spec_.architecture == "gemma3";
    HY_RETURN_IF_ERROR(Vector(prefix + "attn_norm.weight", width, 1));
    HY_RETURN_IF_ERROR(Matrix(prefix + "attn_q", q, width));
    HY_RETURN_IF_ERROR(Matrix(prefix + "attn_k", kv, width));
    HY_RETURN_IF_ERROR(Matrix(prefix + "attn_v", kv, width));
    HY_RETURN_IF_ERROR(Matrix(prefix + "attn_output", width, q));
    if (spec_.architecture == "qwen2") {
      HY_RETURN_IF_ERROR(Vector(prefix + "attn_q.bias", q, 0));
      HY_RETURN_IF_ERROR(Vector(prefix + "attn_k.bias", kv, 0));
      HY_RETURN_IF_ERROR(Vector(prefix + "attn_v.bias", kv, 0));
    }
    if (spec_.architecture == "qwen3" || gemma) {
      HY_RETURN_IF_ERROR(Vector(prefix + "attn_q_norm.weight", head_size_, 1));
      HY_RETURN_IF_ERROR(Vector(prefix + "attn_k_norm.weight", head_size_, 1));
    }
    if (gemma) {
      HY_RETURN_IF_ERROR(Vector(prefix + "post_attention_norm.weight", width, 1));
      HY_RETURN_IF_ERROR(Vector(prefix + "post_ffw_norm.weight", width, 1));
    }
    HY_RETURN_IF_ERROR(Vector(prefix + "ffn_norm.weight", width, 1));
    HY_RETURN_IF_ERROR(Matrix(prefix + "ffn_gate", spec_.ffn, width));
    HY_RETURN_IF_ERROR(Matrix(prefix + "ffn_up", spec_.ffn, width));
    return Matrix(prefix + "ffn_down", width, spec_.ffn);
  }

  const SynthSpec& spec_;
  SynthResult& result_;
  int64_t head_size_;
  GgufWriter writer_;
  std::vector<uint8_t> bytes_;
};

struct Preset {
  const char* name;
  SynthSpec spec;
};

SynthSpec Shape(const char* architecture, int64_t layers, int64_t width, int64_t heads,
                int64_t kv_heads, int64_t head_size, int64_t ffn, int64_t vocabulary,
                double rope_base, bool tied) {
  SynthSpec spec;
  spec.architecture = architecture;
  spec.layers = layers;
  spec.width = width;
  spec.heads = heads;
  spec.kv_heads = kv_heads;
  spec.head_size = head_size;
  spec.ffn = ffn;
  spec.vocabulary = vocabulary;
  spec.context = 8192;
  spec.rope_base = rope_base;
  spec.tied = tied;
  return spec;
}

// Sizes as in the models' config.json.
const std::vector<Preset>& Presets() {
  static const auto* const presets = new std::vector<Preset>{
      {"smollm2-135m", Shape("llama", 30, 576, 9, 3, 0, 1536, 49152, 1e5, true)},
      {"smollm2-360m", Shape("llama", 32, 960, 15, 5, 0, 2560, 49152, 1e5, true)},
      {"qwen3-0.6b", Shape("qwen3", 28, 1024, 16, 8, 128, 3072, 151936, 1e6, true)},
      {"llama-3.2-1b", Shape("llama", 16, 2048, 32, 8, 0, 8192, 128256, 5e5, true)},
      {"llama-3-8b", Shape("llama", 32, 4096, 32, 8, 0, 14336, 128256, 5e5, false)},
  };
  return *presets;
}

}  // namespace

absl::StatusOr<SynthSpec> SynthPreset(absl::string_view name) {
  std::vector<std::string> names;
  for (const Preset& preset : Presets()) {
    if (name == preset.name) return preset.spec;
    names.emplace_back(preset.name);
  }
  return absl::NotFoundError(
      absl::StrCat("there is no preset '", name, "'; there are: ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<SynthResult> WriteSynthModel(
    const SynthSpec& spec, const std::string& path,
    const std::function<void(uint64_t done, uint64_t total)>& on_progress) {
  HY_RETURN_IF_ERROR(CheckSpec(spec));
  SynthResult result;
  ModelMaker maker(spec, &result);
  HY_RETURN_IF_ERROR(maker.Plan());
  HY_RETURN_IF_ERROR(maker.writer().Write(path, on_progress));
  // What was written must be a model.
  HY_ASSIGN_OR_RETURN(const auto file, GgufModelFile::Open(path));
  HY_RETURN_IF_ERROR(ReadModelConfig(file->head()).status());
  result.bytes = file->bytes();
  return result;
}

}  // namespace halyard::engine
