// SPDX-License-Identifier: Apache-2.0
#include "base/quant/fit.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"

namespace halyard::quant {
namespace {

// Codes that the largest element is tried at, as shares of the end of the range: below 1 leaves room
// on purpose, above 1 clips it for the sake of the others.
constexpr double kShares[] = {1.0, 0.97, 1.03, 0.94, 1.06, 0.9, 1.1, 0.86, 1.15, 0.8};

struct Sums {
  double n = 0, x = 0, c = 0, xc = 0, cc = 0;
};

Sums SumsOf(const float* x, int64_t k, double scale, double offset, CodeRange range) {
  Sums s;
  s.n = static_cast<double>(k);
  for (int64_t i = 0; i < k; ++i) {
    const double value = double{x[i]};
    const double code = NearestCode(value - offset, scale, range);
    s.x += value;
    s.c += code;
    s.xc += value * code;
    s.cc += code * code;
  }
  return s;
}

double ErrorOf(const float* x, int64_t k, double scale, double offset, CodeRange range) {
  double error = 0;
  for (int64_t i = 0; i < k; ++i) {
    const double value = double{x[i]} - offset;
    const double miss = value - scale * NearestCode(value, scale, range);
    error += miss * miss;
  }
  return error;
}

struct Search {
  const float* x;
  int64_t k;
  CodeRange range;
  Storage storage;
  bool found = false;
  Fit best = {};

  void Try(double scale, double offset) {
    Fit fit;
    fit.scale = Stored(scale, storage);
    fit.offset = Stored(offset, storage);
    fit.error = ErrorOf(x, k, fit.scale, fit.offset, range);
    if (!found || fit.error < best.error) best = fit;
    found = true;
  }
};

// The best scale for the codes that `scale` gives.
void TryRefined(Search* search, double scale) {
  const Sums s = SumsOf(search->x, search->k, scale, 0, search->range);
  if (s.cc > 0) search->Try(s.xc / s.cc, 0);
}

// The best scale and offset for the codes that these give.
void TryRefined(Search* search, double scale, double offset, bool not_positive) {
  const Sums s = SumsOf(search->x, search->k, scale, offset, search->range);
  const double spread = s.n * s.cc - s.c * s.c;
  if (!(spread > 0)) return;
  const double better = (s.n * s.xc - s.x * s.c) / spread;
  const double shift = (s.x - better * s.c) / s.n;
  if (!(better > 0)) return;
  if (not_positive && shift > 0) return TryRefined(search, scale);
  search->Try(better, shift);
}

}  // namespace

double Stored(double value, Storage storage) {
  double stored = value;
  if (storage == Storage::kHalf)
    stored = double{HalfToFloat(DoubleToHalf(std::clamp(value, -65504.0, 65504.0)))};
  if (storage == Storage::kFloat) stored = double{static_cast<float>(value)};
  return stored == 0 ? 0.0 : stored;
}

int NearestCode(double x, double scale, CodeRange range) {
  if (scale == 0) return std::clamp(0, range.min, range.max);
  const double code = std::nearbyint(x / scale);
  return static_cast<int>(
      std::clamp(code, static_cast<double>(range.min), static_cast<double>(range.max)));
}

double FillCodes(const float* x, int64_t k, double scale, double offset, CodeRange range,
                 int8_t* codes) {
  for (int64_t i = 0; i < k; ++i)
    codes[i] = static_cast<int8_t>(NearestCode(double{x[i]} - offset, scale, range));
  return ErrorOf(x, k, scale, offset, range);
}

Fit FitScale(const float* x, int64_t k, CodeRange range, Storage storage) {
  double extreme = 0;
  for (int64_t i = 0; i < k; ++i)
    if (std::abs(double{x[i]}) > std::abs(extreme)) extreme = double{x[i]};
  if (extreme == 0) return {};
  Search search = {x, k, range, storage};
  for (const double share : kShares) {
    for (const int end : {range.min, range.max}) {
      const double scale = extreme / (end * share);
      search.Try(scale, 0);
      TryRefined(&search, scale);
    }
  }
  return search.best;
}

Fit FitScaleAndOffset(const float* x, int64_t k, CodeRange range, Storage storage,
                      bool offset_not_positive) {
  double low = double{x[0]};
  double high = low;
  for (int64_t i = 1; i < k; ++i) {
    low = std::min(low, double{x[i]});
    high = std::max(high, double{x[i]});
  }
  if (offset_not_positive) low = std::min(low, 0.0);
  Search search = {x, k, range, storage};
  for (const double share : kShares) {
    const double scale = (high - low) / (range.max * share);
    // Clipping is shared between both ends.
    const double offset = low + (high - low - scale * range.max) / 2;
    for (const double at : {low, offset_not_positive ? std::min(offset, 0.0) : offset}) {
      search.Try(scale, at);
      TryRefined(&search, scale, at, offset_not_positive);
    }
  }
  return search.best;
}

}  // namespace halyard::quant
