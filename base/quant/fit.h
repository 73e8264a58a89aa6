// SPDX-License-Identifier: Apache-2.0
//
// How packers choose: a few scales are tried, each as it would be stored, and the one with the least
// squared error is taken; of equals the first. All in f64 and in a fixed order, so that every target
// packs the same bytes.
#ifndef HALYARD_BASE_QUANT_FIT_H_
#define HALYARD_BASE_QUANT_FIT_H_

#include <cstdint>

namespace halyard::quant {

/// How scales and minimums are stored.
enum class Storage { kExact, kHalf, kFloat };

/// `value` as stored: rounded once; beyond the largest finite number of that form, that number.
/// +0 for -0.
double Stored(double value, Storage storage);

/// Codes that a fit may use, from `min` to `max`.
struct CodeRange {
  int min;
  int max;
};

/// value = scale * code + offset.
struct Fit {
  double scale = 0;
  double offset = 0;
  double error = 0;  ///< sum of squares
};

/// Nearest code of `x` in the range, ties to even; 0, or what is nearest to it, for scale 0.
int NearestCode(double x, double scale, CodeRange range);

/// Writes the nearest codes of x[0..k) and returns the squared error.
double FillCodes(const float* x, int64_t k, double scale, double offset, CodeRange range,
                 int8_t* codes);

/// Best scale without offset; codes range over both signs. `scale` may be negative.
Fit FitScale(const float* x, int64_t k, CodeRange range, Storage storage);

/// Best scale and offset; codes range from 0. With `offset_not_positive`, offset <= 0.
Fit FitScaleAndOffset(const float* x, int64_t k, CodeRange range, Storage storage,
                      bool offset_not_positive);

}  // namespace halyard::quant

#endif  // HALYARD_BASE_QUANT_FIT_H_
