// SPDX-License-Identifier: Apache-2.0
//
// Formats with one scale to a block.
#include <algorithm>
#include <cmath>

#include "base/quant/encode.h"
#include "base/quant/fit.h"

namespace halyard::quant {
namespace {

Storage StorageOf(const BlockForm& form) {
  return form.f32_scale ? Storage::kFloat : Storage::kHalf;
}

CodeRange RangeOf(const BlockForm& form) { return {form.code_min, form.code_max}; }

}  // namespace

void ChooseByLargest(uint32_t type, const float* x, int64_t k, BlockScales* scales, int8_t* codes) {
  double largest = 0;
  for (int64_t i = 0; i < k; ++i) largest = std::max(largest, std::abs(double{x[i]}));
  const double scale = Stored(largest / 127, StorageOf(BlockFormOf(type)));
  scales->scale = static_cast<float>(scale);
  FillCodes(x, k, scale, 0, {-127, 127}, codes);
}

void ChooseScale(uint32_t type, const float* x, int64_t k, BlockScales* scales, int8_t* codes) {
  const BlockForm& form = BlockFormOf(type);
  const Fit fit = FitScale(x, k, RangeOf(form), StorageOf(form));
  scales->scale = static_cast<float>(fit.scale);
  FillCodes(x, k, fit.scale, 0, RangeOf(form), codes);
}

void ChooseScaleAndOffset(uint32_t type, const float* x, int64_t k, BlockScales* scales,
                          int8_t* codes) {
  const BlockForm& form = BlockFormOf(type);
  const Fit fit = FitScaleAndOffset(x, k, RangeOf(form), StorageOf(form), false);
  scales->scale = static_cast<float>(fit.scale);
  scales->min = static_cast<float>(fit.offset);
  FillCodes(x, k, fit.scale, fit.offset, RangeOf(form), codes);
}

}  // namespace halyard::quant
