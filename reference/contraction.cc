// SPDX-License-Identifier: Apache-2.0
#include "reference/contraction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quant/format.h"
#include "base/quant/pack.h"

namespace halyard::reference {
namespace {

constexpr int kNoPlace = 1 << 20;  // of zero

// Exponent of the lowest bit set in a finite number.
int LowestPlace(double value) {
  if (value == 0 || !std::isfinite(value)) return kNoPlace;
  int exponent = 0;
  const auto integer =
      static_cast<uint64_t>(std::ldexp(std::abs(std::frexp(value, &exponent)), 53));
  int zeros = 0;
  while ((integer >> zeros & 1) == 0) ++zeros;
  return exponent - 53 + zeros;
}

void FindPlaces(const std::vector<double>& value, std::vector<int>* place) {
  const size_t count = value.size();
  place->assign((count + kPlaceBlock - 1) / kPlaceBlock, kNoPlace);
  for (size_t i = 0; i < count; ++i) {
    int& lowest = (*place)[i / kPlaceBlock];
    lowest = std::min(lowest, LowestPlace(value[i]));
  }
}

bool HasOffset(uint32_t type) {
  if (!hy_type_is_weights(type)) return false;
  const quant::BlockForm& form = quant::BlockFormOf(type);
  return form.has_offset || form.sub_min_max > 0;
}

// The part of each value that does not depend on its code.
void LoadOffsets(const hy_tensor& w, const uint8_t* row, std::vector<double>* offset) {
  const quant::BlockForm& form = quant::BlockFormOf(w.type);
  const int64_t block = hy_type_facts(w.type)->block;
  const int64_t block_bytes = hy_type_facts(w.type)->block_bytes;
  const int64_t sub = block / form.sub_blocks;
  offset->resize(static_cast<size_t>(hy_tensor_cols(&w)));
  quant::BlockScales scales;
  int8_t codes[quant::kMaxBlock];
  for (size_t i = 0; i < offset->size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (at % block == 0)
      quant::UnpackBlock(w.type, row + at / block * block_bytes, block, &scales, codes);
    const double min = static_cast<double>(scales.min);
    (*offset)[i] = form.has_offset ? min : -min * scales.sub_min[at % block / sub];
  }
}

int SignificantBits(uint32_t accumulator) {
  if (accumulator == HY_ACC_F64) return 53;
  if (accumulator == HY_ACC_F16) return 11;
  return accumulator == HY_ACC_BF16 ? 8 : 24;
}

// Places of a smallest normal number: products below it may be rounded.
int SmallestPlace(uint32_t accumulator) { return accumulator == HY_ACC_F16 ? -14 : -126; }

int ScaleLevels(uint32_t activation, const hy_tensor& x, uint32_t w_type) {
  int levels = activation != HY_QA_NONE || hy_type_is_a8(x.type) ? 1 : 0;
  if (hy_type_is_weights(w_type)) levels += quant::BlockFormOf(w_type).sub_blocks > 1 ? 2 : 1;
  return levels;
}

}  // namespace

uint32_t ActivationClass(uint32_t allowed, uint32_t declared, uint32_t x_type) {
  if (hy_type_is_a8(x_type)) return HY_QA_NONE;
  if (declared != HY_QA_ANY) return declared;
  return allowed != HY_QA_ANY ? allowed : static_cast<uint32_t>(HY_QA_NONE);
}

int64_t ActivationTemporaries(int64_t cols) {
  // A row in f32, then its record: at most 2 bytes an element and 80 more.
  return cols / 2 + cols / 4 + 16;
}

void LoadActivations(const hy_tensor& x, int64_t row, uint32_t activation, double* temporaries,
                     double* out) {
  LoadRow(x, row, out);
  if (activation == HY_QA_NONE) return;
  const int64_t cols = hy_tensor_cols(&x);
  const uint32_t type = activation == HY_QA_BLOCK32    ? HY_TYPE_A8_B32
                        : activation == HY_QA_BLOCK256 ? HY_TYPE_A8_B256
                                                       : HY_TYPE_A8_TOKEN;
  auto* values = reinterpret_cast<float*>(temporaries);
  double* record = temporaries + (cols + 1) / 2;
  for (int64_t i = 0; i < cols; ++i) values[i] = static_cast<float>(out[i]);
  quant::QuantizeActivations(type, activation == HY_QA_TOKEN_ASYM, values, cols, record);
  quant::DecodeRow(type, record, cols, out);
}

void Terms::LoadInput(const hy_tensor& x, int64_t row, uint32_t activation) {
  const int64_t cols = hy_tensor_cols(&x);
  std::vector<double> temporaries(static_cast<size_t>(ActivationTemporaries(cols)));
  value.resize(static_cast<size_t>(cols));
  if (cols > 0) LoadActivations(x, row, activation, temporaries.data(), value.data());
  FindPlaces(value, &place);
}

void Terms::LoadWeights(const hy_tensor& w, int64_t row) {
  const int64_t cols = hy_tensor_cols(&w);
  value.resize(static_cast<size_t>(cols));
  if (cols > 0) LoadRow(w, row, value.data());
  FindPlaces(value, &place);
  if (!HasOffset(w.type)) return;
  LoadOffsets(w, static_cast<const uint8_t*>(hy_tensor_row(&w, row)), &offset);
  std::vector<int> offset_place;
  FindPlaces(offset, &offset_place);
  for (size_t i = 0; i < place.size(); ++i) place[i] = std::min(place[i], offset_place[i]);
}

ContractionJudge::ContractionJudge(const Numerics& numerics, uint32_t activation,
                                   const hy_tensor& x, uint32_t w_type, const hy_tensor& y)
    : numerics_(numerics),
      y_(y),
      whole_row_sums_(w_type == HY_TYPE_W8A8 &&
                      (x.type == HY_TYPE_A8_TOKEN || activation == HY_QA_TOKEN_SYM ||
                       activation == HY_QA_TOKEN_ASYM)),
      scale_levels_(ScaleLevels(activation, x, w_type)),
      sample_step_(static_cast<size_t>(hy_tensor_rows(&y) * hy_tensor_cols(&y) / 1024 + 1)) {
  const auto outputs = static_cast<size_t>(hy_tensor_rows(&y) * hy_tensor_cols(&y));
  out_.value.assign(outputs, 0);
  out_.bound.assign(outputs, 0);
  exact_.assign(outputs, 1);
}

ContractionJudge::Sums ContractionJudge::SumOf(const Terms& x, const Terms& w, double bias) const {
  Sums s;
  double offsets = 0;
  s.place = LowestPlace(bias);
  const size_t count = x.value.size();
  for (size_t i = 0; i < count; ++i) {
    const double product = x.value[i] * w.value[i];
    s.total += product;
    if (w.offset.empty()) {
      s.squares += product * product;
      s.magnitudes += std::abs(product);
      continue;
    }
    const double offset = x.value[i] * w.offset[i];
    const double scaled = product - offset;
    offsets += offset;
    s.squares += scaled * scaled + offset * offset;
    s.magnitudes += std::abs(scaled) + std::abs(offset);
  }
  for (size_t b = 0; b < x.place.size(); ++b)
    s.place = std::min(s.place, std::min(kNoPlace, x.place[b] + w.place[b]));
  s.parts = std::abs(s.total - offsets) + std::abs(offsets) + std::abs(bias);
  s.total += bias;
  s.squares += bias * bias;
  s.magnitudes += std::abs(bias);
  return s;
}

// All partial sums, in whatever order, are multiples of the lowest place and fit the accumulator.
bool ContractionJudge::IsExact(const Sums& s) const {
  if (!std::isfinite(s.magnitudes)) return false;
  if (s.magnitudes == 0) return true;
  return s.place >= SmallestPlace(numerics_.accumulator) && s.place < kNoPlace &&
         s.magnitudes <= std::ldexp(1.0, s.place + SignificantBits(numerics_.accumulator));
}

// conformance.md 3.3: rounding of a sum of n terms in any order, and of each level of scales.
double ContractionJudge::BoundOf(const Sums& s, int64_t cols) const {
  const double u = std::ldexp(1.0, -SignificantBits(numerics_.accumulator));
  double n = static_cast<double>(cols);
  if (numerics_.accumulator == HY_ACC_I32_F32) {
    n = whole_row_sums_ ? 1 : std::ceil(n / kPlaceBlock);
  }
  n += 1;  // the bias
  const double likely = 4 * u * std::sqrt(n) * (s.parts + 3 * std::sqrt(s.squares));
  const double certain = n * u / (1 - n * u) * s.magnitudes;
  const double underflow = n * std::ldexp(1.0, -150);
  return std::min(likely, certain) + 2 * u * scale_levels_ * s.parts + underflow;
}

// A product of 0 cannot be missed, and one that is lost beside a NaN or infinity cannot be seen.
void ContractionJudge::TakeSamples(const Terms& x, const Terms& w, size_t output) {
  const size_t count = x.value.size();
  if (count == 0 || output % sample_step_ != 0 || !std::isfinite(out_.value[output])) return;
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t mixed = (output * 4 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    const size_t k = (mixed >> 32) % count;
    const double product = x.value[k] * w.value[k];
    if (product != 0) samples_.push_back({output, product});
  }
}

void ContractionJudge::Set(size_t output, const Terms& x, const Terms& w, double bias) {
  const Sums sums = SumOf(x, w, bias);
  out_.value[output] = sums.total;
  exact_[output] = IsExact(sums);
  if (!exact_[output]) out_.bound[output] = BoundOf(sums, static_cast<int64_t>(x.value.size()));
  TakeSamples(x, w, output);
}

bool ContractionJudge::Visible(const Sample& sample) const {
  const double value = out_.value[sample.output];
  if (exact_[sample.output])
    return RoundTo(y_.type, value - sample.product) != RoundTo(y_.type, value);
  return std::abs(sample.product) > 2 * out_.bound[sample.output];
}

void ContractionJudge::Finish(uint32_t operand, Expected* out) {
  const bool flushes = (numerics_.flags & HY_KERNEL_FTZ) != 0;
  out_.operand = operand;
  AddStorageBound(y_, &out_);
  if (flushes) AllowFlush(y_, &out_);
  out->terms_sampled += samples_.size();
  for (const Sample& sample : samples_) out->terms_visible += Visible(sample) ? 1 : 0;
  out_.exact = !flushes;
  for (size_t i = 0; i < exact_.size(); ++i) {
    if (exact_[i] == 0 || flushes) {
      out_.exact = false;
      continue;
    }
    out_.value[i] = RoundTo(y_.type, out_.value[i]);
    out_.bound[i] = 0;
  }
  out->outputs.push_back(std::move(out_));
}

}  // namespace halyard::reference
