// SPDX-License-Identifier: Apache-2.0
//
// A model in plain loops and double precision, over a whole sequence at once: what sessions are held to.
#ifndef HALYARD_ENGINE_SESSION_TEST_NAIVE_MODEL_H_
#define HALYARD_ENGINE_SESSION_TEST_NAIVE_MODEL_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/quant/format.h"
#include "engine/gguf/gguf_model_file.h"
#include "engine/model/config.h"

namespace halyard::engine {

class NaiveModel {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  NaiveModel(const GgufModelFile& file, const ModelConfig& config) : file_(file), c_(config) {}

  /// Logits behind each token.
  Rows Logits(const std::vector<int32_t>& tokens) const {
    const Rows embedding = Matrix("token_embd.weight");
    Rows h;
    for (const int32_t token : tokens) {
      h.push_back(embedding[static_cast<size_t>(token)]);
      for (double& x : h.back()) x *= static_cast<double>(c_.embedding_scale);
    }
    for (int64_t i = 0; i < c_.layers; ++i) Block(static_cast<size_t>(i), &h);
    const bool tied = file_.FindTensor("output.weight") == nullptr;
    const Rows head = tied ? embedding : Matrix("output.weight");
    Rows logits;
    for (const Row& row : h) {
      logits.push_back(Product(head, Norm(row, Vector("output_norm.weight"))));
      for (double& x : logits.back()) x *= static_cast<double>(c_.logit_scale);
    }
    return logits;
  }

 private:
  Rows Matrix(const std::string& name) const {
    const GgufTensor& tensor = *file_.FindTensor(name);
    const int64_t columns = tensor.shape[tensor.rank - 1];
    const uint64_t bytes = hy_type_row_bytes(tensor.type, columns);
    Rows rows(static_cast<size_t>(tensor.rank == 1 ? 1 : tensor.shape[0]));
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].resize(static_cast<size_t>(columns));
      std::vector<uint8_t> raw(static_cast<size_t>(bytes));
      std::copy_n(file_.BytesOf(tensor).begin() + static_cast<std::ptrdiff_t>(i * bytes), bytes,
                  raw.begin());
      const size_t element = hy_type_facts(tensor.type)->block_bytes;
      if (hy_type_is_float(tensor.type) != 0 && std::endian::native == std::endian::big) {
        for (size_t at = 0; at < raw.size(); at += element)
          std::reverse(raw.begin() + static_cast<std::ptrdiff_t>(at),
                       raw.begin() + static_cast<std::ptrdiff_t>(at + element));
      }
      quant::DecodeRow(tensor.type, raw.data(), columns, rows[i].data());
    }
    return rows;
  }
  Row Vector(const std::string& name) const { return Matrix(name)[0]; }

  static Row Product(const Rows& w, const Row& x) {
    Row y;
    for (const Row& row : w) {
      double sum = 0;
      for (size_t i = 0; i < row.size(); ++i) sum += row[i] * x[i];
      y.push_back(sum);
    }
    return y;
  }
  Row Linear(const std::string& name, const Row& x) const {
    Row y = Product(Matrix(name + ".weight"), x);
    if (file_.FindTensor(name + ".bias") != nullptr) {
      const Row bias = Vector(name + ".bias");
      for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i];
    }
    return y;
  }
  Row Norm(const Row& x, const Row& w) const {
    double sum = 0;
    for (const double v : x) sum += v * v;
    const double scale =
        1 / std::sqrt(sum / static_cast<double>(x.size()) + static_cast<double>(c_.norm_eps));
    Row y = x;
    for (size_t i = 0; i < y.size(); ++i) y[i] *= scale * w[i];
    return y;
  }

  // Norm of each head, then its angles.
  void Turn(const LayerConfig& kind, const std::string& norm, double position, Row* x) const {
    const auto d = static_cast<size_t>(c_.head_size);
    const RopeConfig& rope = kind.local_rope ? c_.local_rope : c_.rope;
    for (size_t at = 0; at < x->size(); at += d) {
      Row head(x->begin() + static_cast<std::ptrdiff_t>(at),
               x->begin() + static_cast<std::ptrdiff_t>(at + d));
      if (c_.qk_norm) head = Norm(head, Vector(norm));
      const auto turned = static_cast<size_t>(kind.rope ? c_.rope_size : 0);
      for (size_t i = 0; i < turned / 2; ++i) {
        const bool split = c_.rope_pairs == RopePairs::kSplit;
        double& a = head[split ? i : 2 * i];
        double& b = head[split ? i + turned / 2 : 2 * i + 1];
        const double angle =
            position / rope.factor *
            std::pow(rope.base, -2.0 * static_cast<double>(i) / static_cast<double>(turned));
        const double new_a = a * std::cos(angle) - b * std::sin(angle);
        b = a * std::sin(angle) + b * std::cos(angle);
        a = new_a;
      }
      std::copy(head.begin(), head.end(), x->begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  Row Attend(const Row& q, const Rows& k, const Rows& v, size_t position, int64_t window) const {
    const auto d = static_cast<size_t>(c_.head_size);
    const auto share = static_cast<size_t>(c_.heads / c_.kv_heads);
    const size_t first =
        window == 0 ? 0 : position + 1 - std::min(position + 1, static_cast<size_t>(window));
    Row y(q.size(), 0);
    for (size_t head = 0; head < static_cast<size_t>(c_.heads); ++head) {
      Row scores;
      for (size_t j = first; j <= position; ++j) {
        double s = 0;
        for (size_t i = 0; i < d; ++i) s += q[head * d + i] * k[j][head / share * d + i];
        scores.push_back(s * static_cast<double>(c_.attention_scale));
      }
      const double most = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double& s : scores) sum += s = std::exp(s - most);
      for (size_t j = first; j <= position; ++j) {
        for (size_t i = 0; i < d; ++i)
          y[head * d + i] += scores[j - first] / sum * v[j][head / share * d + i];
      }
    }
    return y;
  }

  void AddTo(Row* h, Row delta, const std::string& post_norm) const {
    if (c_.post_norms) delta = Norm(delta, Vector(post_norm));
    for (size_t i = 0; i < h->size(); ++i)
      (*h)[i] += delta[i] * static_cast<double>(c_.residual_scale);
  }

  double Gate(double g) const {
    if (c_.activation == Activation::kSilu) return g / (1 + std::exp(-g));
    return 0.5 * g *
           (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (g + 0.044715 * g * g * g)));
  }

  void Block(size_t number, Rows* h) const {
    const std::string prefix = absl::StrCat("blk.", number, ".");
    const LayerConfig& kind = c_.layer[number];
    Rows q, k, v;
    for (size_t t = 0; t < h->size(); ++t) {
      const Row x = Norm((*h)[t], Vector(prefix + "attn_norm.weight"));
      q.push_back(Linear(prefix + "attn_q", x));
      k.push_back(Linear(prefix + "attn_k", x));
      v.push_back(Linear(prefix + "attn_v", x));
      Turn(kind, prefix + "attn_q_norm.weight", static_cast<double>(t), &q.back());
      Turn(kind, prefix + "attn_k_norm.weight", static_cast<double>(t), &k.back());
    }
    for (size_t t = 0; t < h->size(); ++t) {
      AddTo(&(*h)[t], Linear(prefix + "attn_output", Attend(q[t], k, v, t, kind.window)),
            prefix + "post_attention_norm.weight");
      const Row x = Norm((*h)[t], Vector(prefix + "ffn_norm.weight"));
      Row gate = Linear(prefix + "ffn_gate", x);
      const Row up = Linear(prefix + "ffn_up", x);
      for (size_t i = 0; i < gate.size(); ++i) gate[i] = Gate(gate[i]) * up[i];
      AddTo(&(*h)[t], Linear(prefix + "ffn_down", gate), prefix + "post_ffw_norm.weight");
    }
  }

  const GgufModelFile& file_;
  const ModelConfig& c_;
};

}  // namespace halyard::engine

#endif  // HALYARD_ENGINE_SESSION_TEST_NAIVE_MODEL_H_
