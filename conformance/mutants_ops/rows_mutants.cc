// SPDX-License-Identifier: Apache-2.0
//
// K11 rmsnorm, K12 rope, K13 softmax.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "conformance/mutants_ops/op_mutants.h"
#include "ops/rmsnorm/contract.h"
#include "ops/rope/contract.h"
#include "ops/softmax/contract.h"
#include "reference/reference.h"

namespace halyard::conformance {
namespace {

using Row = std::vector<double>;

Row Load(const hy_tensor& tensor, int64_t row) {
  Row values(static_cast<size_t>(hy_tensor_cols(&tensor)));
  if (!values.empty()) reference::LoadRow(tensor, row, values.data());
  return values;
}

using ScaleFn = double (*)(double squares, double n, double eps);

// K11.
double PaddedLength(double squares, double n, double eps) {
  return 1 / std::sqrt(squares / (std::ceil(n / 16) * 16) + eps);
}
double Right(double squares, double n, double eps) { return 1 / std::sqrt(squares / n + eps); }
double EpsOutside(double squares, double n, double eps) {
  return 1 / (std::sqrt(squares / n) + eps);
}

template <ScaleFn Scale>
hy_status RunNorm(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(&args.x), 1, context->index, context->count, &begin, &end);
  for (int64_t r = begin; r < end && hy_tensor_cols(&args.x) > 0; ++r) {
    Row x = Load(args.x, r);
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale =
        Scale(squares, static_cast<double>(x.size()), static_cast<double>(args.eps));
    for (size_t c = 0; c < x.size(); ++c) {
      const bool has_w = hy_tensor_present(&args.w) != 0;
      const double w =
          has_w ? reference::LoadElement(args.w, args.w.data, static_cast<int64_t>(c)) : 1;
      x[c] *= scale * w;
    }
    reference::StoreRow(args.y, r, x.data());
  }
  return HY_OK;
}

int NormSupports(const void* raw, const hy_kernel_target*, hy_why* why) {
  const auto& args = *static_cast<const hy_rmsnorm_args*>(raw);
  if (hy_tensor_present(&args.add)) return hy_refuse(why, "adds a residual");
  return hy_type_is_float(args.y.type) ? 1 : hy_refuse(why, "y is quantised");
}

// K12, for heads that are turned in part.
hy_status RunOtherPairs(const void* raw, const hy_kernel_context* context) {
  hy_rope_args args = *static_cast<const hy_rope_args*>(raw);
  const int64_t rotary = 2 * args.table.shape[1];
  if (rotary < hy_tensor_cols(&args.x)) {
    args.mode = args.mode == HY_ROPE_SPLIT ? HY_ROPE_INTERLEAVED : HY_ROPE_SPLIT;
  }
  return op_mutants::RunGood(&args, context);
}

// K12, another way. Every worker has a copy of its own of the positions.
hy_status RunShortPositions(const void* raw, const hy_kernel_context* context) {
  hy_rope_args args = *static_cast<const hy_rope_args*>(raw);
  const auto* given = static_cast<const int32_t*>(args.positions.data);
  std::vector<int32_t> positions(given, given + args.positions.shape[0]);
  for (int32_t& position : positions) {
    if (position >= 0) position &= 0xffff;
  }
  if (!positions.empty()) args.positions.data = positions.data();
  return op_mutants::RunGood(&args, context);
}

struct SoftmaxRow {
  Row x;        // scaled, with the mask
  bool masked;  // nothing is left
};

SoftmaxRow LoadSoftmax(const hy_softmax_args& args, int64_t row) {
  SoftmaxRow out{Load(args.x, row), true};
  Row mask;
  if (hy_tensor_present(&args.mask)) mask = Load(args.mask, args.mask.shape[0] == 1 ? 0 : row);
  for (size_t c = 0; c < out.x.size(); ++c) {
    out.x[c] *= static_cast<double>(args.scale);
    if (!mask.empty()) out.x[c] += mask[c];
    out.masked = out.masked && out.x[c] == -std::numeric_limits<double>::infinity();
  }
  return out;
}

// K13: `from` is what the search for the maximum begins with.
template <bool kZeroMaximum, bool kMaskedIsNan>
hy_status RunSoftmax(const void* raw, const hy_kernel_context* context) {
  const auto& args = *static_cast<const hy_softmax_args*>(raw);
  int64_t begin = 0;
  int64_t end = 0;
  hy_split(hy_tensor_rows(&args.x), 1, context->index, context->count, &begin, &end);
  for (int64_t r = begin; r < end && hy_tensor_cols(&args.x) > 0; ++r) {
    SoftmaxRow row = LoadSoftmax(args, r);
    double most = kZeroMaximum ? 0 : -std::numeric_limits<double>::infinity();
    for (const double x : row.x) most = std::max(most, x);
    double sum = 0;
    for (double& x : row.x) {
      // As an f32 kernel has it.
      x = static_cast<double>(std::exp(static_cast<float>(x - most)));
      sum += x;
    }
    const bool zeros = row.masked && !kMaskedIsNan;
    for (double& x : row.x) x = zeros ? 0 : x / sum;
    reference::StoreRow(args.y, r, row.x.data());
  }
  return HY_OK;
}

hy_kernel_desc Wrapping(hy_status (*run)(const void*, const hy_kernel_context*)) {
  hy_kernel_desc desc = op_mutants::Plain(run);
  desc.scratch_bytes = op_mutants::GoodScratch;
  return desc;
}

hy_kernel_desc Norm(hy_status (*run)(const void*, const hy_kernel_context*)) {
  hy_kernel_desc desc = op_mutants::Plain(run);
  desc.supports = NormSupports;
  return desc;
}

}  // namespace

std::vector<OpMutant> RowsMutants() {
  return {
      {"K11", "rmsnorm: the mean is over the length rounded up to 16", "rmsnorm", Trap::kKernel,
       Norm(RunNorm<PaddedLength>)},
      {"K11", "rmsnorm: eps is added outside the root", "rmsnorm", Trap::kKernel,
       Norm(RunNorm<EpsOutside>)},
      {"K12", "rope: the other pairing where a head is turned in part", "rope", Trap::kKernel,
       Wrapping(RunOtherPairs)},
      {"K12", "rope: positions are kept in 16 bits", "rope", Trap::kKernel,
       Wrapping(RunShortPositions)},
      {"K13", "softmax: the search for the maximum begins with 0", "softmax", Trap::kKernel,
       op_mutants::Plain(RunSoftmax<true, false>)},
      {"K13", "softmax: a row that is masked as a whole is NaN", "softmax", Trap::kKernel,
       op_mutants::Plain(RunSoftmax<false, true>)},
  };
}

std::vector<OpMutant> RowsControls() {
  return {{"C2", "rmsnorm", "rmsnorm", Trap::kKernel, Norm(RunNorm<Right>)},
          {"C3", "softmax", "softmax", Trap::kKernel, op_mutants::Plain(RunSoftmax<false, false>)}};
}

}  // namespace halyard::conformance
