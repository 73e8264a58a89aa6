// SPDX-License-Identifier: Apache-2.0
#include "engine/model/weights.h"

#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/quant/format.h"
#include "base/status_macros.h"
#include "ops/matmul/contract.h"
#include "registry/args.h"
#include "registry/select.h"

namespace halyard::engine {
namespace {

using Shape = std::vector<int64_t>;

std::string ShapeText(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

// Floats and integers of files are in the file's byte order; block formats are little-endian here.
bool NeedsSwap(const GgufModelFile& file, uint32_t type) {
  const bool big_host = std::endian::native == std::endian::big;
  return hy_type_is_float(type) != 0 && file.is_big_endian() != big_host;
}

void SwapElements(uint32_t bytes, absl::Span<uint8_t> data) {
  for (size_t at = 0; at + bytes <= data.size(); at += bytes)
    std::reverse(data.begin() + static_cast<std::ptrdiff_t>(at),
                 data.begin() + static_cast<std::ptrdiff_t>(at + bytes));
}

}  // namespace

class ModelWeights::Loader {
 public:
  Loader(const GgufModelFile* file, const ModelConfig& config, const registry::Registry* registry,
         const hal::Team* team, const LoadOptions& options, ModelWeights* out)
      : file_(*file),
        config_(config),
        registry_(*registry),
        team_(*team),
        options_(options),
        out_(*out),
        matmul_(registry->FindOp("matmul")) {}

  absl::Status Run() {
    if (matmul_ == nullptr) return absl::FailedPreconditionError("there is no op matmul");
    const int64_t width = config_.width;
    HY_ASSIGN_OR_RETURN(out_.embedding_, Matrix("token_embd", {config_.vocabulary, width}));
    HY_ASSIGN_OR_RETURN(out_.output_norm_, Vector("output_norm.weight", width));
    const bool tied = file_.FindTensor("output.weight") == nullptr;
    HY_ASSIGN_OR_RETURN(out_.head_,
                        MakeLinear(tied ? "token_embd" : "output", config_.vocabulary, width));
    out_.layers_.resize(static_cast<size_t>(config_.layers));
    for (size_t i = 0; i < out_.layers_.size(); ++i) HY_RETURN_IF_ERROR(LoadLayer(i));
    return LoadFrequencyFactors();
  }

 private:
  absl::StatusOr<const GgufTensor*> Find(absl::string_view name, const Shape& shape) const {
    const GgufTensor* const tensor = file_.FindTensor(name);
    if (tensor == nullptr) {
      return absl::NotFoundError(absl::StrCat("the model has no tensor ", name, ", which ",
                                              config_.architecture, " needs"));
    }
    const absl::Span<const int64_t> found = absl::MakeConstSpan(tensor->shape).first(tensor->rank);
    if (found != absl::MakeConstSpan(shape)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", name, " has the shape ", ShapeText(found), " instead of ", ShapeText(shape)));
    }
    if (tensor->type == HY_TYPE_NONE) {
      return absl::UnimplementedError(absl::StrCat("tensor ", name, " is of the type ",
                                                   GgufTensorTypeOf(tensor->file_type).name,
                                                   ", for which there is no op"));
    }
    if (file_.is_big_endian() && hy_type_is_float(tensor->type) == 0) {
      return absl::UnimplementedError(absl::StrCat("tensor ", name, " is of the type ",
                                                   hy_type_name(tensor->type),
                                                   " in a big-endian file: convert it anew"));
    }
    return tensor;
  }

  absl::StatusOr<registry::AlignedBlock*> Own(uint64_t bytes) {
    out_.owned_.push_back(std::make_unique<registry::AlignedBlock>());
    HY_RETURN_IF_ERROR(out_.owned_.back()->Reserve(std::max<uint64_t>(bytes, 1)));
    return out_.owned_.back().get();
  }

  // As it is in the file, in the host's byte order.
  absl::StatusOr<hy_tensor> Raw(const GgufTensor& tensor) {
    const absl::Span<const uint8_t> bytes = file_.BytesOf(tensor);
    void* data = const_cast<uint8_t*>(bytes.data());
    if (NeedsSwap(file_, tensor.type)) {
      HY_ASSIGN_OR_RETURN(registry::AlignedBlock* const block, Own(bytes.size()));
      std::memcpy(block->data(), bytes.data(), bytes.size());
      SwapElements(hy_type_facts(tensor.type)->block_bytes, {block->data(), bytes.size()});
      data = block->data();
    }
    return hy_tensor_dense(data, tensor.type, tensor.rank, tensor.shape.data());
  }

  absl::StatusOr<hy_tensor> Matrix(const std::string& name, const Shape& shape) {
    HY_ASSIGN_OR_RETURN(const GgufTensor* const tensor, Find(name + ".weight", shape));
    return Raw(*tensor);
  }

  // In f32.
  absl::StatusOr<hy_tensor> Vector(const std::string& name, int64_t size) {
    HY_ASSIGN_OR_RETURN(const GgufTensor* const tensor, Find(name, {size}));
    HY_ASSIGN_OR_RETURN(const hy_tensor raw, Raw(*tensor));
    HY_ASSIGN_OR_RETURN(registry::AlignedBlock* const block,
                        Own(static_cast<uint64_t>(size) * sizeof(float)));
    quant::DecodeRowF32(raw.type, raw.data, size, reinterpret_cast<float*>(block->data()));
    return hy_tensor_dense(block->data(), HY_TYPE_F32, 1, &size);
  }

  absl::StatusOr<hy_tensor> OptionalVector(const std::string& name, int64_t size) {
    if (file_.FindTensor(name) == nullptr) return hy_tensor{};
    return Vector(name, size);
  }

  // The layout that products of one row would have.
  absl::StatusOr<uint32_t> LayoutFor(const hy_tensor& weights) const {
    const int64_t in = hy_tensor_cols(&weights);
    const int64_t out = hy_tensor_rows(&weights);
    const int64_t x_shape[] = {1, in};
    const int64_t y_shape[] = {1, out};
    hy_matmul_args args{};
    args.struct_size = sizeof args;
    args.x = hy_tensor_dense(nullptr, HY_TYPE_F32, 2, x_shape);
    args.w = weights;
    args.w.data = nullptr;  // data of all operands, or of none
    args.y = hy_tensor_dense(nullptr, HY_TYPE_F32, 2, y_shape);
    registry::Request request;
    request.op = matmul_;
    request.args = &args;
    request.target = registry::TargetOf(team_);
    request.may_pack = true;
    HY_ASSIGN_OR_RETURN(const registry::Selection selection, registry::Select(registry_, request));
    return selection.layout;
  }

  absl::Status Pack(const GgufTensor& source, hy_tensor* inout) {
    HY_ASSIGN_OR_RETURN(const uint32_t id, LayoutFor(*inout));
    if (id == HY_LAYOUT_CANONICAL) return absl::OkStatus();
    HY_ASSIGN_OR_RETURN(
        registry::PackedTensor packed,
        registry::PackedTensor::Make(*registry_.FindLayout(id), *inout, team_, &out_.canonical_));
    out_.packed_bytes_ += packed.bytes();
    *inout = packed.tensor();
    out_.packed_.push_back(std::move(packed));
    file_.Forget(source);
    return absl::OkStatus();
  }

  absl::StatusOr<Linear> MakeLinear(const std::string& name, int64_t out, int64_t in) {
    Linear linear;
    linear.name = name;
    HY_ASSIGN_OR_RETURN(const GgufTensor* const tensor, Find(name + ".weight", {out, in}));
    HY_ASSIGN_OR_RETURN(linear.weights, Raw(*tensor));
    if (options_.pack) HY_RETURN_IF_ERROR(Pack(*tensor, &linear.weights));
    HY_ASSIGN_OR_RETURN(linear.bias, OptionalVector(name + ".bias", out));
    out_.bytes_per_token_ += tensor->bytes;
    done_bytes_ += tensor->bytes;
    if (options_.on_progress) options_.on_progress(done_bytes_, file_.bytes());
    return linear;
  }

  absl::Status LoadLayer(size_t number) {
    const std::string prefix = absl::StrCat("blk.", number, ".");
    const int64_t width = config_.width;
    LayerWeights& layer = out_.layers_[number];
    HY_ASSIGN_OR_RETURN(layer.attention_norm, Vector(prefix + "attn_norm.weight", width));
    HY_ASSIGN_OR_RETURN(layer.q, MakeLinear(prefix + "attn_q", config_.q_size(), width));
    HY_ASSIGN_OR_RETURN(layer.k, MakeLinear(prefix + "attn_k", config_.kv_size(), width));
    HY_ASSIGN_OR_RETURN(layer.v, MakeLinear(prefix + "attn_v", config_.kv_size(), width));
    HY_ASSIGN_OR_RETURN(layer.output, MakeLinear(prefix + "attn_output", width, config_.q_size()));
    HY_ASSIGN_OR_RETURN(layer.ffn_norm, Vector(prefix + "ffn_norm.weight", width));
    HY_ASSIGN_OR_RETURN(layer.gate, MakeLinear(prefix + "ffn_gate", config_.ffn, width));
    HY_ASSIGN_OR_RETURN(layer.up, MakeLinear(prefix + "ffn_up", config_.ffn, width));
    HY_ASSIGN_OR_RETURN(layer.down, MakeLinear(prefix + "ffn_down", width, config_.ffn));
    if (config_.qk_norm) {
      HY_ASSIGN_OR_RETURN(layer.q_norm, Vector(prefix + "attn_q_norm.weight", config_.head_size));
      HY_ASSIGN_OR_RETURN(layer.k_norm, Vector(prefix + "attn_k_norm.weight", config_.head_size));
    }
    if (config_.post_norms) {
      HY_ASSIGN_OR_RETURN(layer.post_attention_norm,
                          Vector(prefix + "post_attention_norm.weight", width));
      HY_ASSIGN_OR_RETURN(layer.post_ffn_norm, Vector(prefix + "post_ffw_norm.weight", width));
    }
    return absl::OkStatus();
  }

  absl::Status LoadFrequencyFactors() {
    HY_ASSIGN_OR_RETURN(const hy_tensor factors,
                        OptionalVector("rope_freqs.weight", config_.rope_size / 2));
    if (hy_tensor_present(&factors) == 0) return absl::OkStatus();
    const auto* const values = static_cast<const float*>(factors.data);
    out_.frequency_factors_.assign(values, values + config_.rope_size / 2);
    for (const float value : out_.frequency_factors_) {
      if (!(value > 0))
        return absl::InvalidArgumentError(
            absl::StrCat("rope_freqs.weight has the value ", value, ", which is not above 0"));
    }
    return absl::OkStatus();
  }

  const GgufModelFile& file_;
  const ModelConfig& config_;
  const registry::Registry& registry_;
  const hal::Team& team_;
  const LoadOptions& options_;
  ModelWeights& out_;
  const registry::Op* const matmul_;
  uint64_t done_bytes_ = 0;
};

absl::StatusOr<std::unique_ptr<ModelWeights>> ModelWeights::Load(const GgufModelFile* file,
                                                                 const ModelConfig& config,
                                                                 const registry::Registry* registry,
                                                                 const hal::Team* team,
                                                                 const LoadOptions& options) {
  std::unique_ptr<ModelWeights> weights(new ModelWeights);
  HY_RETURN_IF_ERROR(Loader(file, config, registry, team, options, weights.get()).Run());
  return weights;
}

}  // namespace halyard::engine
