// SPDX-License-Identifier: Apache-2.0
#include "engine/model/config.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace halyard::engine {
namespace {

constexpr int64_t kMostLayers = 1024;
constexpr int64_t kMostSize = int64_t{1} << 24;

absl::Status CheckSize(absl::string_view name, int64_t value, int64_t most = kMostSize) {
  if (value >= 1 && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the model has ", name, " ", value, "; 1 to ", most, " are possible"));
}

absl::StatusOr<int64_t> Vocabulary(const ConfigReader& reader) {
  const GgufTensor* const embedding = reader.file().FindTensor("token_embd.weight");
  if (embedding != nullptr && embedding->rank == 2) return embedding->shape[0];
  return reader.Int("vocab_size");
}

absl::Status ReadSizes(const ConfigReader& reader, ModelConfig* out) {
  HY_ASSIGN_OR_RETURN(out->layers, reader.Int("block_count"));
  HY_RETURN_IF_ERROR(CheckSize("block_count", out->layers, kMostLayers));
  HY_ASSIGN_OR_RETURN(out->context, reader.Int("context_length"));
  HY_RETURN_IF_ERROR(CheckSize("context_length", out->context));
  HY_ASSIGN_OR_RETURN(out->width, reader.Int("embedding_length"));
  HY_RETURN_IF_ERROR(CheckSize("embedding_length", out->width));
  HY_ASSIGN_OR_RETURN(out->ffn, reader.Int("feed_forward_length"));
  HY_RETURN_IF_ERROR(CheckSize("feed_forward_length", out->ffn));
  HY_ASSIGN_OR_RETURN(out->heads, reader.Int("attention.head_count"));
  HY_RETURN_IF_ERROR(CheckSize("attention.head_count", out->heads));
  HY_ASSIGN_OR_RETURN(out->kv_heads, reader.IntOr("attention.head_count_kv", out->heads));
  HY_RETURN_IF_ERROR(CheckSize("attention.head_count_kv", out->kv_heads));
  HY_ASSIGN_OR_RETURN(out->head_size,
                      reader.IntOr("attention.key_length", out->width / out->heads));
  HY_RETURN_IF_ERROR(CheckSize("attention.key_length", out->head_size));
  HY_ASSIGN_OR_RETURN(const int64_t values, reader.IntOr("attention.value_length", out->head_size));
  if (values != out->head_size) {
    return absl::UnimplementedError(absl::StrCat("heads of keys have ", out->head_size,
                                                 " elements and those of values ", values,
                                                 "; only equal ones are supported"));
  }
  HY_ASSIGN_OR_RETURN(out->vocabulary, Vocabulary(reader));
  HY_RETURN_IF_ERROR(CheckSize("vocab_size", out->vocabulary));
  if (out->heads % out->kv_heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(out->heads, " heads do not share ", out->kv_heads, " heads of keys evenly"));
  }
  return absl::OkStatus();
}

absl::Status ReadRope(const ConfigReader& reader, ModelConfig* out) {
  HY_ASSIGN_OR_RETURN(out->rope_size, reader.IntOr("rope.dimension_count", out->head_size));
  if (out->rope_size < 0 || out->rope_size > out->head_size || out->rope_size % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("rope.dimension_count is ", out->rope_size,
                                                   ", with heads of ", out->head_size));
  }
  RopeConfig& rope = out->rope;
  HY_ASSIGN_OR_RETURN(rope.base, reader.FloatOr("rope.freq_base", 10000));
  HY_ASSIGN_OR_RETURN(const absl::string_view kind, reader.StringOr("rope.scaling.type", "none"));
  HY_ASSIGN_OR_RETURN(const double linear, reader.FloatOr("rope.scale_linear", 1));
  HY_ASSIGN_OR_RETURN(const double factor, reader.FloatOr("rope.scaling.factor", linear));
  HY_ASSIGN_OR_RETURN(rope.original_context,
                      reader.IntOr("rope.scaling.original_context_length", out->context));
  HY_ASSIGN_OR_RETURN(rope.attention_factor, reader.FloatOr("rope.scaling.attn_factor", 1));
  HY_ASSIGN_OR_RETURN(rope.beta_fast, reader.FloatOr("rope.scaling.yarn_beta_fast", 32));
  HY_ASSIGN_OR_RETURN(rope.beta_slow, reader.FloatOr("rope.scaling.yarn_beta_slow", 1));
  if (!(rope.base > 1) || !(factor > 0) || !std::isfinite(rope.base * factor)) {
    return absl::InvalidArgumentError(
        absl::StrCat("rope.freq_base ", rope.base, " and factor ", factor, " give no angles"));
  }
  if (kind != "none" && kind != "linear" && kind != "yarn") {
    return absl::UnimplementedError(
        absl::StrCat("rope.scaling.type '", kind, "' is not known; none, linear and yarn are"));
  }
  rope.factor = kind == "none" ? linear : factor;
  rope.yarn = kind == "yarn";
  out->local_rope = rope;
  return absl::OkStatus();
}

const Architecture* Find(absl::string_view name) {
  for (const Architecture& one : Architectures()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

absl::Status CheckArchitecture(absl::string_view name) {
  if (Find(name) != nullptr) return absl::OkStatus();
  const auto name_of = [](std::string* out, const Architecture& one) {
    out->append(one.name.data(), one.name.size());
  };
  return absl::UnimplementedError(
      absl::StrCat("models of the architecture '", name,
                   "' cannot be run; these can: ", absl::StrJoin(Architectures(), ", ", name_of)));
}

absl::StatusOr<ModelConfig> ReadModelConfig(const GgufFile& file) {
  ModelConfig config;
  HY_ASSIGN_OR_RETURN(const absl::string_view name, file.String("general.architecture"));
  const Architecture* const architecture = Find(name);
  if (architecture == nullptr) return CheckArchitecture(name);
  config.architecture = std::string(name);
  HY_ASSIGN_OR_RETURN(const absl::string_view title, file.StringOr("general.name", name));
  config.name = std::string(title);
  const ConfigReader reader(&file, name);
  HY_RETURN_IF_ERROR(ReadSizes(reader, &config));
  HY_RETURN_IF_ERROR(ReadRope(reader, &config));
  HY_ASSIGN_OR_RETURN(const double eps, reader.Float("attention.layer_norm_rms_epsilon"));
  if (!(eps >= 0) || !std::isfinite(eps)) {
    return absl::InvalidArgumentError(absl::StrCat("attention.layer_norm_rms_epsilon is ", eps));
  }
  config.norm_eps = static_cast<float>(eps);
  config.attention_scale = 1 / std::sqrt(static_cast<float>(config.head_size));
  config.layer.resize(static_cast<size_t>(config.layers));
  HY_RETURN_IF_ERROR(architecture->configure(reader, &config));
  return config;
}

}  // namespace halyard::engine
