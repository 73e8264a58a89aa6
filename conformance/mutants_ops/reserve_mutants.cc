// SPDX-License-Identifier: Apache-2.0
//
// The reserves R1, R3..R8, R10: faults that need more to show than one op and plain numbers.
// R2, a prefix page written in place, comes with the engine that shares pages; R9 is a HAL mutant.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/half.h"
#include "conformance/mutants_ops/op_mutants.h"
#include "halyard/isa.h"
#include "ops/kv_append/contract.h"
#include "ops/matmul/contract.h"
#include "ops/quantize/contract.h"
#include "ops/sample/contract.h"
#include "ops/top_k/contract.h"
#include "reference/reference.h"

namespace halyard::conformance {
namespace {

// R1: the place of a page is kept in 32 bits.
hy_status RunShortOffsets(const void* raw, const hy_kernel_context* context) {
  hy_kv_append_args args = *static_cast<const hy_kv_append_args*>(raw);
  args.k_pages.stride[0] &= 0x7fffffff;
  args.v_pages.stride[0] &= 0x7fffffff;
  return op_mutants::RunGood(&args, context);
}

// R3: of equal elements the last is taken first.
hy_status RunLastOfTies(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_top_k_args*>(raw);
  const hy_status status = op_mutants::RunGood(raw, context);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.x.shape[0], 1, context->index, context->count, &begin, &end);
  const auto n = static_cast<size_t>(hy_tensor_cols(&args.x));
  const int64_t k = hy_tensor_cols(&args.values);
  std::vector<double> x(n);
  for (int64_t r = begin; r < end && status == HY_OK && n > 0; ++r) {
    reference::LoadRow(args.x, r, x.data());
    std::vector<int32_t> order(n);
    std::iota(order.rbegin(), order.rend(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return x[static_cast<size_t>(a)] > x[static_cast<size_t>(b)];
    });
    auto* ids = static_cast<int32_t*>(hy_tensor_row(&args.ids, r));
    auto* values = static_cast<float*>(hy_tensor_row(&args.values, r));
    for (int64_t j = 0; j < std::min<int64_t>(k, static_cast<int64_t>(n)); ++j) {
      ids[j] = order[static_cast<size_t>(j)];
      values[j] = static_cast<float>(x[static_cast<size_t>(ids[j])]);
    }
  }
  return status;
}

/// Draws as the contract says but for one fault.
class Sampler {
 public:
  Sampler(const hy_sample_args& args, int64_t row, bool drops_crossing, bool divides)
      : args_(args), row_(row), drops_crossing_(drops_crossing), divides_(divides) {
    logits_.resize(static_cast<size_t>(hy_tensor_cols(&args.logits)));
    reference::LoadRow(args.logits, row, logits_.data());
    order_.resize(logits_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int32_t a, int32_t b) { return Logit(a) > Logit(b); });
  }

  int32_t Draw() {
    const double temperature = Setting(args_.temperature, 1);
    if (temperature == 0 && !divides_) return order_[0];
    Weigh(static_cast<float>(temperature));
    size_t left = weights_.size();
    const auto top_k = static_cast<int64_t>(Setting(args_.top_k, 0));
    if (top_k > 0) left = std::min(left, static_cast<size_t>(top_k));
    left = CutTopP(left);
    const double min_p = std::min(1.0, Setting(args_.min_p, 0));
    while (left > 1 && weights_[left - 1] < min_p) --left;
    double sum = 0;
    for (size_t i = 0; i < left; ++i) sum += weights_[i];
    // As the contract says, 1 counts as just below.
    const double target = std::min(Setting(args_.u, 0), 1 - 0x1p-24) * sum;
    double reached = 0;
    for (size_t i = 0; i < left; ++i) {
      reached += weights_[i];
      if (reached > target) return order_[i];
    }
    return order_[left == 0 ? 0 : left - 1];
  }

 private:
  double Logit(int32_t column) const { return logits_[static_cast<size_t>(column)]; }

  double Setting(const hy_tensor& tensor, double otherwise) const {
    if (!hy_tensor_present(&tensor)) return otherwise;
    return reference::LoadElement(tensor, tensor.data, row_);
  }

  void Weigh(float temperature) {
    for (const int32_t column : order_) {
      const auto below = static_cast<float>(Logit(column) - Logit(order_[0]));
      weights_.push_back(static_cast<double>(std::exp(below / temperature)));
    }
  }

  size_t CutTopP(size_t left) const {
    const double top_p = Setting(args_.top_p, 1);
    if (top_p >= 1) return left;
    double all = 0;
    for (size_t i = 0; i < left; ++i) all += weights_[i];
    double sum = 0;
    for (size_t i = 0; i < left; ++i) {
      sum += weights_[i];
      if (sum >= top_p * all) return std::max<size_t>(1, drops_crossing_ ? i : i + 1);
    }
    return left;
  }

  const hy_sample_args& args_;
  const int64_t row_;
  const bool drops_crossing_;
  const bool divides_;
  std::vector<double> logits_;
  std::vector<int32_t> order_;
  std::vector<double> weights_;
};

// R4 and R5, for rows that the contract takes.
template <bool kDropsCrossing, bool kDivides>
hy_status RunSample(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_sample_args*>(raw);
  const hy_status status = op_mutants::RunGood(raw, context);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(args.logits.shape[0], 1, context->index, context->count, &begin, &end);
  auto* ids = static_cast<int32_t*>(args.id.data);
  for (int64_t r = begin; r < end; ++r) {
    if (ids[r] < 0 || !std::isfinite(reference::LoadElement(
                          args.logits, hy_tensor_row(&args.logits, r), ids[r]))) {
      continue;
    }
    ids[r] = Sampler(args, r, kDropsCrossing, kDivides).Draw();
  }
  return status;
}

// R6: packed bytes are read as canonical ones.
hy_status RunPackedAsPlain(const void* raw, const hy_kernel_context* context) {
  hy_matmul_args args = *static_cast<const hy_matmul_args*>(raw);
  args.w.layout = HY_LAYOUT_CANONICAL;
  args.w = hy_tensor_dense(args.w.data, args.w.type, args.w.rank, args.w.shape);
  return op_mutants::RunGood(&args, context);
}

// R8: a kernel that never does anything.
hy_status RunNothing(const void*, const hy_kernel_context*) { return HY_UNIMPLEMENTED; }

// R10: the scale of a block of zeros is 0 / 0.
hy_status RunNanScale(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_quantize_args*>(raw);
  const hy_status status = op_mutants::RunGood(raw, context);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(&args.y), 1, context->index, context->count, &begin, &end);
  const int64_t k = hy_tensor_cols(&args.y);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t r = begin; r < end; ++r) {
    auto* row = static_cast<uint8_t*>(hy_tensor_row(&args.y, r));
    for (int64_t b = 0; b < k / 32; ++b) {
      uint8_t* const scale_at = row + hy_a8_scale_offset(HY_TYPE_A8_B32, k) + 4 * b;
      float scale = 0;
      std::memcpy(&scale, scale_at, sizeof scale);
      if (scale == 0) std::memcpy(scale_at, &nan, sizeof nan);
    }
  }
  return status;
}

hy_kernel_desc Wrapping(hy_status (*run)(const void*, const hy_kernel_context*)) {
  hy_kernel_desc desc = op_mutants::Plain(run);
  desc.scratch_bytes = op_mutants::GoodScratch;
  return desc;
}

}  // namespace

std::vector<OpMutant> ReserveMutants() {
  hy_kernel_desc quantised = op_mutants::Typed(RunNanScale, HY_TYPE_NONE, HY_TYPE_A8_B32);
  quantised.scratch_bytes = op_mutants::GoodScratch;
  hy_kernel_desc packed = op_mutants::Typed(RunPackedAsPlain, HY_TYPE_NONE, HY_TYPE_Q8_0);
  packed.scratch_bytes = op_mutants::GoodScratch;
  std::vector<OpMutant> all = {
      {"R1", "kv_append: the offset of a page is kept in 32 bits", "kv_append", Trap::kKernel,
       Wrapping(RunShortOffsets)},
      {"R3", "top_k: of equal elements the last goes first", "top_k", Trap::kKernel,
       Wrapping(RunLastOfTies)},
      {"R4", "sample: the token that crosses top_p is dropped", "sample", Trap::kKernel,
       Wrapping(RunSample<true, false>)},
      {"R5", "sample: a temperature of 0 divides", "sample", Trap::kKernel,
       Wrapping(RunSample<false, true>)},
      {"R6", "matmul: packed weights are read as if they were not", "matmul", Trap::kPacked,
       packed},
      {"R8", "matmul: a kernel declines and is counted as if it had run", "matmul",
       Trap::kPretender, Wrapping(RunNothing)},
      {"R10", "quantize: a block of zeros gets a NaN for its scale", "quantize", Trap::kKernel,
       quantised},
  };
#if defined(__x86_64__)
  // R7: what the name says is not what selection is told.
  all.push_back({"R7", "scale: the predicate leaves out an instruction set", "scale",
                 Trap::kDescriptor, Wrapping(op_mutants::RunGood)});
#endif
  return all;
}

std::vector<OpMutant> ReserveControls() {
  return {{"C5", "sample", "sample", Trap::kKernel, Wrapping(RunSample<false, false>)}};
}

}  // namespace halyard::conformance
