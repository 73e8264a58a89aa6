// SPDX-License-Identifier: Apache-2.0
#include "engine/model/step_builder.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ops/attention/contract.h"
#include "ops/gelu_mul/contract.h"
#include "ops/get_rows/contract.h"
#include "ops/kv_append/contract.h"
#include "ops/matmul/contract.h"
#include "ops/rmsnorm/contract.h"
#include "ops/rope/contract.h"
#include "ops/scale/contract.h"
#include "ops/silu_mul/contract.h"
#include "registry/select.h"

namespace halyard::engine {
namespace {

// The record in which kernels of a class want activations, so that one norm quantises for all products
// that read it. f32: they quantise themselves, or not at all.
uint32_t RecordOf(uint32_t activation) {
  switch (activation) {
    case HY_QA_BLOCK32:
      return HY_TYPE_A8_B32;
    case HY_QA_BLOCK256:
      return HY_TYPE_A8_B256;
    default:
      return HY_TYPE_F32;
  }
}

}  // namespace

template <typename Args>
absl::Status StepBuilder::Add(const char* op, Args args) {
  const registry::Op* const found = parts_.registry.FindOp(op);
  if (found == nullptr) return absl::FailedPreconditionError(absl::StrCat("there is no op ", op));
  args.struct_size = sizeof args;
  const absl::StatusOr<uint32_t> step = plan_.Add(*found, &args);
  if (step.ok()) return absl::OkStatus();
  return absl::Status(step.status().code(), absl::StrCat(op, ": ", step.status().message()));
}

hy_tensor StepBuilder::Rows(void* data, int64_t columns, uint32_t type) const {
  const int64_t shape[] = {shape_.rows, columns};
  return hy_tensor_dense(data, type, 2, shape);
}

hy_tensor StepBuilder::Heads(void* data, int64_t heads) const {
  const int64_t shape[] = {shape_.rows, heads, parts_.config.head_size};
  return hy_tensor_dense(data, HY_TYPE_F32, 3, shape);
}

hy_tensor StepBuilder::Ints(int32_t* data, int64_t count) {
  return hy_tensor_dense(data, HY_TYPE_I32, 1, &count);
}

absl::StatusOr<registry::Selection> StepBuilder::SelectFor(const Linear& linear,
                                                           uint32_t x_type) const {
  hy_matmul_args args{};
  args.struct_size = sizeof args;
  const int64_t out = hy_tensor_rows(&linear.weights);
  args.x = Rows(nullptr, hy_tensor_cols(&linear.weights), x_type);
  args.w = linear.weights;
  args.bias = linear.bias;
  args.y = Rows(nullptr, out);
  args.w.data = args.bias.data = nullptr;  // data of all operands, or of none
  registry::Request request;
  request.op = parts_.registry.FindOp("matmul");
  if (request.op == nullptr) return absl::FailedPreconditionError("there is no op matmul");
  request.args = &args;
  request.target = registry::TargetOf(parts_.team);
  return registry::Select(parts_.registry, request);
}

absl::StatusOr<uint32_t> StepBuilder::InputType(std::initializer_list<const Linear*> linears,
                                                int64_t columns) const {
  uint32_t type = HY_TYPE_NONE;
  for (const Linear* linear : linears) {
    HY_ASSIGN_OR_RETURN(const registry::Selection plain, SelectFor(*linear, HY_TYPE_F32));
    const uint32_t record = RecordOf(plain.kernel->desc().activation);
    if (type != HY_TYPE_NONE && record != type) return HY_TYPE_F32;
    type = record;
    if (record == HY_TYPE_F32) return HY_TYPE_F32;
    if (columns % static_cast<int64_t>(hy_type_facts(record)->block) != 0) return HY_TYPE_F32;
    const absl::StatusOr<registry::Selection> ready = SelectFor(*linear, record);
    if (!ready.ok() || ready->kernel != plain.kernel) return HY_TYPE_F32;
  }
  return type;
}

absl::Status StepBuilder::Norm(const hy_tensor& x, const hy_tensor& w, const hy_tensor& y) {
  hy_rmsnorm_args args{};
  args.eps = parts_.config.norm_eps;
  args.x = x;
  args.w = w;
  args.y = y;
  return Add("rmsnorm", args);
}

absl::Status StepBuilder::AddAndNorm(const hy_tensor& w, const hy_tensor& y) {
  const int64_t width = parts_.config.width;
  hy_rmsnorm_args args{};
  args.eps = parts_.config.norm_eps;
  args.x = Rows(parts_.arena.hidden, width);
  args.w = w;
  args.y = y;
  if (has_delta_) {
    args.add = Rows(parts_.arena.delta, width);
    args.sum = args.x;
  }
  has_delta_ = false;
  return Add("rmsnorm", args);
}

absl::Status StepBuilder::Multiply(const Linear& linear, const hy_tensor& x, void* y) {
  hy_matmul_args args{};
  args.x = x;
  args.w = linear.weights;
  args.bias = linear.bias;
  const int64_t shape[] = {x.shape[0], hy_tensor_rows(&linear.weights)};
  args.y = hy_tensor_dense(y, HY_TYPE_F32, 2, shape);
  return Add("matmul", args);
}

absl::Status StepBuilder::Scale(const hy_tensor& x, float factor) {
  if (factor == 1) return absl::OkStatus();
  hy_scale_args args{};
  args.factor = factor;
  args.x = args.y = x;
  return Add("scale", args);
}

absl::Status StepBuilder::FinishDelta(const hy_tensor& post_norm) {
  const hy_tensor delta = Rows(parts_.arena.delta, parts_.config.width);
  if (hy_tensor_present(&post_norm) != 0) HY_RETURN_IF_ERROR(Norm(delta, post_norm, delta));
  HY_RETURN_IF_ERROR(Scale(delta, parts_.config.residual_scale));
  has_delta_ = true;
  return absl::OkStatus();
}

absl::Status StepBuilder::Embed() {
  hy_get_rows_args args{};
  args.table = parts_.weights.embedding();
  args.rows = Ints(parts_.arena.tokens, shape_.rows);
  args.y = Rows(parts_.arena.hidden, parts_.config.width);
  HY_RETURN_IF_ERROR(Add("get_rows", args));
  return Scale(args.y, parts_.config.embedding_scale);
}

absl::Status StepBuilder::Attention(int64_t number, const LayerWeights& layer) {
  const ModelConfig& config = parts_.config;
  const Arena& arena = parts_.arena;
  const LayerConfig& kind = config.layer[static_cast<size_t>(number)];
  HY_ASSIGN_OR_RETURN(const uint32_t type, InputType({&layer.q, &layer.k, &layer.v}, config.width));
  const hy_tensor x = Rows(arena.normed, config.width, type);
  HY_RETURN_IF_ERROR(AddAndNorm(layer.attention_norm, x));
  HY_RETURN_IF_ERROR(Multiply(layer.q, x, arena.q));
  HY_RETURN_IF_ERROR(Multiply(layer.k, x, arena.k));
  HY_RETURN_IF_ERROR(Multiply(layer.v, x, arena.v));
  const hy_tensor q = Heads(arena.q, config.heads);
  const hy_tensor k = Heads(arena.k, config.kv_heads);
  if (config.qk_norm) {
    const int64_t q_rows[] = {shape_.rows * config.heads, config.head_size};
    const int64_t k_rows[] = {shape_.rows * config.kv_heads, config.head_size};
    const hy_tensor q_flat = hy_tensor_dense(arena.q, HY_TYPE_F32, 2, q_rows);
    const hy_tensor k_flat = hy_tensor_dense(arena.k, HY_TYPE_F32, 2, k_rows);
    HY_RETURN_IF_ERROR(Norm(q_flat, layer.q_norm, q_flat));
    HY_RETURN_IF_ERROR(Norm(k_flat, layer.k_norm, k_flat));
  }
  if (kind.rope) {
    hy_rope_args rope{};
    rope.mode = config.rope_pairs == RopePairs::kSplit ? HY_ROPE_SPLIT : HY_ROPE_INTERLEAVED;
    rope.table = kind.local_rope ? parts_.local_rope : parts_.rope;
    rope.positions = Ints(arena.positions, shape_.rows);
    for (const hy_tensor& one : {q, k}) {
      rope.x = rope.y = one;
      HY_RETURN_IF_ERROR(Add("rope", rope));
    }
  }
  hy_kv_append_args append{};
  append.k = k;
  append.v = Heads(arena.v, config.kv_heads);
  append.slots = Ints(arena.slots, shape_.rows);
  append.k_pages = parts_.kv.keys(number);
  append.v_pages = parts_.kv.values(number);
  HY_RETURN_IF_ERROR(Add("kv_append", append));
  hy_attention_args attention{};
  attention.causal = 1;
  attention.scale = config.attention_scale;
  attention.window = static_cast<int32_t>(kind.window);
  attention.q = q;
  attention.k_pages = append.k_pages;
  attention.v_pages = append.v_pages;
  const int64_t table[] = {shape_.sequences, parts_.limits.max_pages};
  attention.block_table = hy_tensor_dense(arena.block_table, HY_TYPE_I32, 2, table);
  attention.q_start = Ints(arena.q_start, shape_.sequences + 1);
  attention.kv_len = Ints(arena.kv_len, shape_.sequences);
  attention.y = Heads(arena.attended, config.heads);
  HY_RETURN_IF_ERROR(Add("attention", attention));
  HY_RETURN_IF_ERROR(Multiply(layer.output, Rows(arena.attended, config.q_size()), arena.delta));
  return FinishDelta(layer.post_attention_norm);
}

absl::Status StepBuilder::FeedForward(const LayerWeights& layer) {
  const ModelConfig& config = parts_.config;
  const Arena& arena = parts_.arena;
  HY_ASSIGN_OR_RETURN(const uint32_t type, InputType({&layer.gate, &layer.up}, config.width));
  const hy_tensor x = Rows(arena.normed, config.width, type);
  HY_RETURN_IF_ERROR(AddAndNorm(layer.ffn_norm, x));
  HY_RETURN_IF_ERROR(Multiply(layer.gate, x, arena.gate));
  HY_RETURN_IF_ERROR(Multiply(layer.up, x, arena.up));
  HY_ASSIGN_OR_RETURN(const uint32_t gated_type, InputType({&layer.down}, config.ffn));
  const hy_tensor gated = Rows(arena.gated, config.ffn, gated_type);
  if (config.activation == Activation::kSilu) {
    hy_silu_mul_args args{};
    args.gate = Rows(arena.gate, config.ffn);
    args.up = Rows(arena.up, config.ffn);
    args.y = gated;
    HY_RETURN_IF_ERROR(Add("silu_mul", args));
  } else {
    hy_gelu_mul_args args{};
    args.approximation = HY_GELU_TANH;
    args.gate = Rows(arena.gate, config.ffn);
    args.up = Rows(arena.up, config.ffn);
    args.y = gated;
    HY_RETURN_IF_ERROR(Add("gelu_mul", args));
  }
  HY_RETURN_IF_ERROR(Multiply(layer.down, gated, arena.delta));
  return FinishDelta(layer.post_ffn_norm);
}

absl::Status StepBuilder::Layer(int64_t number) {
  const LayerWeights& layer = parts_.weights.layer(static_cast<size_t>(number));
  absl::Status status = Attention(number, layer);
  if (status.ok()) status = FeedForward(layer);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("layer ", number, ": ", status.message()));
}

absl::Status StepBuilder::Head() {
  const Arena& arena = parts_.arena;
  const int64_t width = parts_.config.width;
  const hy_tensor last = Rows(arena.normed, width);
  HY_RETURN_IF_ERROR(AddAndNorm(parts_.weights.output_norm(), last));
  const int64_t chosen_shape[] = {shape_.logit_rows, width};
  hy_get_rows_args choose{};
  choose.table = last;
  choose.rows = Ints(arena.logit_rows, shape_.logit_rows);
  choose.y = hy_tensor_dense(arena.chosen, HY_TYPE_F32, 2, chosen_shape);
  HY_RETURN_IF_ERROR(Add("get_rows", choose));
  HY_RETURN_IF_ERROR(Multiply(parts_.weights.head(), choose.y, arena.logits));
  const int64_t logits_shape[] = {shape_.logit_rows, parts_.config.vocabulary};
  return Scale(hy_tensor_dense(arena.logits, HY_TYPE_F32, 2, logits_shape),
               parts_.config.logit_scale);
}

absl::Status StepBuilder::Build() {
  HY_RETURN_IF_ERROR(Embed());
  for (int64_t i = 0; i < parts_.config.layers; ++i) HY_RETURN_IF_ERROR(Layer(i));
  return Head();
}

}  // namespace halyard::engine
