// SPDX-License-Identifier: Apache-2.0
//
// Formats with sub-blocks: each sub-block is fitted alone, the block's scales are taken from the
// largest of them, and then the fields of each sub-block are chosen anew among the neighbours of the
// nearest, by the error that they give with the scales as stored.
#include <algorithm>
#include <cmath>

#include "base/quant/encode.h"
#include "base/quant/fit.h"
#include "halyard/tensor.h"

namespace halyard::quant {
namespace {

struct Level {
  int scale;
  int min;
};

// A sub-block under choice, with what the block's scales already are.
struct SubBlock {
  const float* x;
  int64_t k;
  CodeRange codes;
  CodeRange scales;
  int min_max;
  double scale;  // of the block
  double min;
};

double ErrorOf(const SubBlock& sub, Level level) {
  int8_t codes[kMaxBlock];
  return FillCodes(sub.x, sub.k, sub.scale * level.scale, -sub.min * level.min, sub.codes, codes);
}

// The best fields at most one off those of the fit.
Level BestLevel(const SubBlock& sub, const Fit& fit) {
  const Level near = {NearestCode(fit.scale, sub.scale, sub.scales),
                      NearestCode(-fit.offset, sub.min, {0, sub.min_max})};
  Level best = near;
  double least = ErrorOf(sub, near);
  for (const int ds : {0, -1, 1}) {
    for (const int dm : {0, -1, 1}) {
      const Level level = {std::clamp(near.scale + ds, sub.scales.min, sub.scales.max),
                           std::clamp(near.min + dm, 0, sub.min_max)};
      const double error = ErrorOf(sub, level);
      if (error < least) {
        least = error;
        best = level;
      }
    }
  }
  return best;
}

void Assign(SubBlock sub, int index, const Fit& fit, BlockScales* scales, int8_t* codes) {
  const Level level = BestLevel(sub, fit);
  scales->sub_scale[index] = static_cast<int8_t>(level.scale);
  scales->sub_min[index] = static_cast<int8_t>(level.min);
  FillCodes(sub.x, sub.k, sub.scale * level.scale, -sub.min * level.min, sub.codes, codes);
}

SubBlock Whole(const BlockForm& form) {
  return {nullptr,
          kMaxBlock / form.sub_blocks,
          {form.code_min, form.code_max},
          {form.sub_scale_min, form.sub_scale_max},
          form.sub_min_max,
          0,
          0};
}

void AssignAll(SubBlock sub, const BlockForm& form, const float* x, const Fit* fits,
               BlockScales* scales, int8_t* codes) {
  scales->scale = static_cast<float>(sub.scale);
  scales->min = static_cast<float>(sub.min);
  for (int s = 0; s < form.sub_blocks; ++s) {
    sub.x = x + s * sub.k;
    Assign(sub, s, fits[s], scales, codes + s * sub.k);
  }
}

}  // namespace

void ChooseWithMinimums(uint32_t type, const float* x, BlockScales* scales, int8_t* codes) {
  const BlockForm& form = BlockFormOf(type);
  SubBlock sub = Whole(form);
  Fit fits[kMaxSubBlocks];
  double largest_scale = 0;
  double largest_min = 0;
  for (int s = 0; s < form.sub_blocks; ++s) {
    fits[s] = FitScaleAndOffset(x + s * sub.k, sub.k, sub.codes, Storage::kExact, true);
    largest_scale = std::max(largest_scale, fits[s].scale);
    largest_min = std::max(largest_min, -fits[s].offset);
  }
  sub.scale = Stored(largest_scale / form.sub_scale_max, Storage::kHalf);
  sub.min = Stored(largest_min / form.sub_min_max, Storage::kHalf);
  AssignAll(sub, form, x, fits, scales, codes);
}

void ChooseSigned(uint32_t type, const float* x, BlockScales* scales, int8_t* codes) {
  const BlockForm& form = BlockFormOf(type);
  SubBlock sub = Whole(form);
  Fit fits[kMaxSubBlocks];
  double extreme = 0;
  for (int s = 0; s < form.sub_blocks; ++s) {
    fits[s] = FitScale(x + s * sub.k, sub.k, sub.codes, Storage::kExact);
    if (std::abs(fits[s].scale) > std::abs(extreme)) extreme = fits[s].scale;
  }
  sub.scale = Stored(extreme / form.sub_scale_min, Storage::kHalf);
  AssignAll(sub, form, x, fits, scales, codes);
}

}  // namespace halyard::quant
