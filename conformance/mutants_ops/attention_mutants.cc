// SPDX-License-Identifier: Apache-2.0
//
// K14, K15, K16: attention page by page, with the maximum so far.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "conformance/mutants_ops/op_mutants.h"
#include "ops/attention/contract.h"
#include "reference/reference.h"

namespace halyard::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

enum class Fault { kNone, kNoRescale, kModulo, kStaleSlots };

const hy_attention_args& Args(const void* raw) {
  return *static_cast<const hy_attention_args*>(raw);
}

int32_t IntAt(const hy_tensor& tensor, int64_t row, int64_t col) {
  return static_cast<const int32_t*>(hy_tensor_row(&tensor, row))[col];
}

/// One row of one head, over the keys that it sees.
class OneRow {
 public:
  OneRow(const hy_attention_args& args, Fault fault, int64_t sequence, int64_t head)
      : args_(args), fault_(fault), sequence_(sequence), page_(args.k_pages.shape[2]) {
    const int64_t heads = args.q.shape[1];
    const int64_t kv_heads = args.k_pages.shape[1];
    kv_head_ = fault == Fault::kModulo ? head % kv_heads : head / (heads / kv_heads);
    dim_ = static_cast<size_t>(args.q.shape[2]);
    sum_.assign(dim_, 0);
  }

  /// Keys 0..end-1, as far as the position sees them.
  const std::vector<double>& Run(const std::vector<double>& q, int64_t position, int64_t keys) {
    const int64_t last = keys == 0 ? 0 : (keys - 1) / page_ * page_;
    int64_t end = keys;
    if (fault_ == Fault::kStaleSlots && keys > 0) end = last + page_;
    for (int64_t j = 0; j < end; ++j) {
      // Whoever reads stale slots takes them for visible.
      const bool stale = j >= keys;
      if (!stale && !Sees(position, j)) continue;
      Take(q, j, j >= last);
    }
    for (double& value : sum_) value = weight_ == 0 ? 0 : value / weight_;
    return sum_;
  }

 private:
  bool Sees(int64_t position, int64_t j) const {
    if (args_.causal != 0 && j > position) return false;
    return args_.window == 0 || (j > position - args_.window && j < position + args_.window);
  }

  void Take(const std::vector<double>& q, int64_t j, bool last_page) {
    const int64_t page = IntAt(args_.block_table, sequence_, j / page_);
    const int64_t row = (page * args_.k_pages.shape[1] + kv_head_) * page_ + j % page_;
    std::vector<double> key(dim_);
    std::vector<double> value(dim_);
    reference::LoadRow(args_.k_pages, row, key.data());
    reference::LoadRow(args_.v_pages, row, value.data());
    double score = 0;
    for (size_t d = 0; d < dim_; ++d) score += q[d] * key[d];
    score *= static_cast<double>(args_.scale);
    const auto cap = static_cast<double>(args_.soft_cap);
    if (cap > 0) score = cap * std::tanh(score / cap);
    if (score > most_) {
      const double rescale = most_ == -kInf ? 0 : std::exp(most_ - score);
      const bool forgets = fault_ == Fault::kNoRescale && last_page && most_ != -kInf;
      for (double& sum : sum_) sum *= forgets ? 1 : rescale;
      weight_ *= rescale;
      most_ = score;
    }
    const double p = score == -kInf ? 0 : std::exp(score - most_);
    weight_ += p;
    for (size_t d = 0; d < dim_; ++d) sum_[d] += p == 0 ? 0 : p * value[d];
  }

  const hy_attention_args& args_;
  const Fault fault_;
  const int64_t sequence_;
  const int64_t page_;
  int64_t kv_head_;
  size_t dim_;
  std::vector<double> sum_;
  double weight_ = 0;
  double most_ = -kInf;
};

// Data that breaks the contract is the reference's.
bool IsPlain(const hy_attention_args& args) {
  const int64_t sequences = args.kv_len.shape[0];
  const int64_t most = args.block_table.shape[1] * args.k_pages.shape[2];
  if (hy_tensor_cols(&args.q) == 0 || args.k_pages.shape[1] == 0) return false;
  int32_t at = 0;
  for (int64_t s = 0; s < sequences; ++s) {
    const int32_t keys = IntAt(args.kv_len, 0, s);
    const int32_t start = IntAt(args.q_start, 0, s);
    const int32_t end = IntAt(args.q_start, 0, s + 1);
    if (keys < 0 || keys > most || start < at || end < start) return false;
    if (end > args.q.shape[0]) return false;
    at = end;
    for (int64_t p = 0; p * args.k_pages.shape[2] < keys; ++p) {
      const int32_t page = IntAt(args.block_table, s, p);
      if (page < 0 || page >= args.k_pages.shape[0]) return false;
    }
  }
  return true;
}

template <Fault kFault>
hy_status RunPaged(const void* raw, const hy_kernel_context* context) {
  const hy_attention_args& args = Args(raw);
  if (!IsPlain(args)) return op_mutants::RunGood(raw, context);
  const int64_t heads = args.q.shape[1];
  const auto dim = static_cast<size_t>(args.q.shape[2]);
  std::vector<double> q(dim);
  for (int64_t t = context->index; t < args.q.shape[0]; t += context->count) {
    int64_t s = -1;
    for (int64_t i = 0; i < args.kv_len.shape[0]; ++i) {
      if (t >= IntAt(args.q_start, 0, i) && t < IntAt(args.q_start, 0, i + 1)) s = i;
    }
    for (int64_t h = 0; h < heads; ++h) {
      std::vector<double> y(dim, 0);
      if (s >= 0) {
        reference::LoadRow(args.q, t * heads + h, q.data());
        const int64_t keys = IntAt(args.kv_len, 0, s);
        const int64_t rows = IntAt(args.q_start, 0, s + 1) - IntAt(args.q_start, 0, s);
        const int64_t position = keys - rows + t - IntAt(args.q_start, 0, s);
        y = OneRow(args, kFault, s, h).Run(q, position, keys);
      }
      reference::StoreRow(args.y, t * heads + h, y.data());
    }
  }
  return HY_OK;
}

hy_kernel_desc Paged(hy_status (*run)(const void*, const hy_kernel_context*)) {
  hy_kernel_desc desc = op_mutants::Plain(run);
  desc.scratch_bytes = op_mutants::GoodScratch;
  return desc;
}

}  // namespace

std::vector<OpMutant> AttentionMutants() {
  return {
      {"K14", "attention: sums are not rescaled when the maximum rises in the last page",
       "attention", Trap::kKernel, Paged(RunPaged<Fault::kNoRescale>)},
      {"K15", "attention: KV heads are found by modulo instead of division", "attention",
       Trap::kKernel, Paged(RunPaged<Fault::kModulo>)},
      {"K16", "attention: all slots of the last page are read", "attention", Trap::kKernel,
       Paged(RunPaged<Fault::kStaleSlots>)},
  };
}

std::vector<OpMutant> AttentionControls() {
  return {{"C4", "attention", "attention", Trap::kKernel, Paged(RunPaged<Fault::kNone>)}};
}

}  // namespace halyard::conformance
