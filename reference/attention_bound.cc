// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/attention.h"

namespace halyard::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Lower than this under the largest score, a weight is 0 in f32.
constexpr double kNoWeight = -120;

double RoundoffOf(uint32_t accumulator) {
  switch (accumulator) {
    case HY_ACC_F64:
      return 0x1p-53;
    case HY_ACC_F16:
      return 0x1p-11;
    case HY_ACC_BF16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

// One row of one head, with all that says how far off a kernel may be.
class Judge {
 public:
  Judge(const hy_attention_args& args, double roundoff)
      : args_(args),
        u_(roundoff),
        dim_(static_cast<size_t>(args.q.shape[2])),
        q_(dim_),
        k_(dim_),
        y_(dim_) {}

  void Look(const AttentionView& view, int64_t row, int64_t head);
  /// Values and bounds of the arithmetic alone.
  void Append(ExpectedOutput* out) const;
  /// Whether only one key has a weight in f32, so that y is its value, exactly; or there is none.
  bool IsExact() const;
  /// Terms of the sums, against the bounds of this row.
  void CountTerms(const ExpectedOutput& out, Expected* all) const;

 private:
  const double* Value(size_t key) const { return &v_[key * dim_]; }
  void Load(const AttentionView& view, int64_t row, int64_t head);
  void Weigh();
  double Bound(size_t d) const;

  const hy_attention_args& args_;
  const double u_;
  const size_t dim_;
  std::vector<double> q_, k_, y_;
  std::vector<double> score_, slack_, lean_, v_;  // of each key; in v_ a row each
  std::vector<double>
      weight_;  // p; slack_ and lean_ then say how far off it may be, relative to it
  double largest_ = -kInfinity;
  double rises_ = 1;  // 1 + how often the largest score so far rises
};

void Judge::Load(const AttentionView& view, int64_t row, int64_t head) {
  const int64_t kv_head = head / (args_.q.shape[1] / args_.k_pages.shape[1]);
  const auto keys = static_cast<size_t>(view.end - view.first);
  score_.assign(keys, 0);
  slack_.assign(keys, 0);
  lean_.assign(keys, 0);
  v_.assign(keys * dim_, 0);
  largest_ = -kInfinity;
  rises_ = 1;
  LoadRow(args_.q, row * args_.q.shape[1] + head, q_.data());
  for (size_t i = 0; i < keys; ++i) {
    const int64_t key = view.first + static_cast<int64_t>(i);
    LoadSlot(args_, args_.k_pages, view.sequence, key, kv_head, k_.data());
    LoadSlot(args_, args_.v_pages, view.sequence, key, kv_head, &v_[i * dim_]);
    const AttentionScore score = AttentionScoreOf(args_, q_.data(), k_.data());
    score_[i] = score.value;
    slack_[i] = score.slack;
    lean_[i] = score.lean;
    if (score.value > largest_) ++rises_;
    largest_ = LargestScore(largest_, score.value);
  }
}

void Judge::Weigh() {
  const size_t keys = score_.size();
  weight_.assign(keys, 0);
  if (largest_ == -kInfinity) return;
  double sum = 0;
  for (size_t i = 0; i < keys; ++i) {
    const double below = std::abs(score_[i] - largest_);
    const double lean = u_ * (lean_[i] + 2 * below + 8 + 4 * std::sqrt(rises_));
    weight_[i] = std::exp(score_[i] - largest_);
    sum += weight_[i];
    slack_[i] = std::expm1(std::min(u_ * slack_[i], 30.0));
    lean_[i] = weight_[i] < 0x1p-100 ? 1 : std::expm1(std::min(lean, 30.0));
  }
  for (double& weight : weight_) weight /= sum;
}

void Judge::Look(const AttentionView& view, int64_t row, int64_t head) {
  Load(view, row, head);
  Weigh();
  std::fill(y_.begin(), y_.end(), 0.0);
  if (largest_ == -kInfinity) return;
  for (size_t i = 0; i < weight_.size(); ++i) {
    for (size_t d = 0; d < dim_; ++d) y_[d] += weight_[i] * Value(i)[d];
  }
}

double Judge::Bound(size_t d) const {
  if (!std::isfinite(y_[d])) return 0;
  double leant = 0;
  double moved = 0;
  double moved_squares = 0;
  double squares = 0;
  for (size_t i = 0; i < weight_.size(); ++i) {
    const double v = Value(i)[d];
    const double term = weight_[i] * std::abs(v - y_[d]);
    leant += term * lean_[i];
    moved += term * slack_[i];
    moved_squares += term * slack_[i] * (term * slack_[i]);
    squares += weight_[i] * v * (weight_[i] * v);
  }
  const double keys = static_cast<double>(weight_.size());
  return leant + std::min(moved, 4 * std::sqrt(moved_squares)) +
         4 * u_ * std::sqrt(keys) * (2 * std::abs(y_[d]) + 3 * std::sqrt(squares));
}

void Judge::Append(ExpectedOutput* out) const {
  for (size_t d = 0; d < dim_; ++d) {
    out->value.push_back(y_[d]);
    out->bound.push_back(Bound(d));
  }
}

bool Judge::IsExact() const {
  size_t with_weight = 0;
  for (size_t i = 0; i < score_.size(); ++i) {
    if (!(score_[i] - largest_ < kNoWeight)) ++with_weight;
  }
  if (score_.empty()) return true;
  // The sign of a zero, and what is not finite, depends on the keys without weight as well.
  const auto plain = [](double y) { return std::isfinite(y) && y != 0; };
  return with_weight == 1 && std::all_of(y_.begin(), y_.end(), plain);
}

void Judge::CountTerms(const ExpectedOutput& out, Expected* all) const {
  constexpr size_t kSampled = 256;
  const size_t step = 1 + weight_.size() / kSampled;
  for (size_t i = 0; i < weight_.size(); i += step) {
    for (size_t d = 0; d < dim_; ++d) {
      if (!std::isfinite(y_[d])) continue;
      // What leaving out the key would do; of a single key it would leave nothing.
      const double term = weight_[i] * std::abs(Value(i)[d] - y_[d]) / (1 - weight_[i]);
      ++all->terms_sampled;
      if (!(term <= 2 * out.bound[d])) ++all->terms_visible;
    }
  }
}

}  // namespace

absl::Status ExpectAttention(const void* raw, const Numerics& numerics, Expected* out) {
  const auto& args = *static_cast<const hy_attention_args*>(raw);
  Judge judge(args, RoundoffOf(numerics.accumulator));
  ExpectedOutput y(6);
  y.exact = true;
  const bool empty = args.q.shape[1] == 0 || args.q.shape[2] == 0;
  for (int64_t row = 0; row < args.q.shape[0]; ++row) {
    const AttentionView view = AttentionViewOf(args, row);
    if (view.fault && !empty) out->status = HY_OUT_OF_RANGE;
    for (int64_t head = 0; head < args.q.shape[1] && !empty; ++head) {
      judge.Look(view, row, head);
      ExpectedOutput part(6);
      judge.Append(&part);
      judge.Append(&y);
      y.exact = y.exact && judge.IsExact();
      AddStorageBound(args.y, &part);
      judge.CountTerms(part, out);
    }
  }
  AddStorageBound(args.y, &y);
  if (numerics.flags & HY_KERNEL_FTZ) AllowFlush(args.y, &y);
  out->outputs.push_back(std::move(y));
  return absl::OkStatus();
}

}  // namespace halyard::reference
