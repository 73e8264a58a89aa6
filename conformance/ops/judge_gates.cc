// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/judge_gates.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace halyard::conformance {
namespace {

constexpr double kMostRms = 0.25;
constexpr double kMostBias = 6;
constexpr uint64_t kLeastElements = 64;
// Errors that hardly vary have a common cause (equal numbers, one scale for all), not a bias.
constexpr double kLeastSpread = 0.1;

// z of a mean against 0, by its own spread; 0 if that cannot be told.
double ZOf(uint64_t count, double sum, double squares) {
  if (count < kLeastElements) return 0;
  const double n = static_cast<double>(count);
  const double mean = sum / n;
  const double variance = squares / n - mean * mean;
  if (variance <= 0 || std::sqrt(variance) < kLeastSpread) return 0;
  return std::abs(mean) / std::sqrt(variance / n);
}

}  // namespace

void GateSums::Add(uint32_t type, double got, double want, double bound) {
  if (!hy_type_is_float(type) || !(bound > 0)) return;
  const double half_ulp = 0.5 * UlpOf(type, want);
  const double error = got - want;
  const double arithmetic = bound - half_ulp;
  if (arithmetic > 0.01 * bound) {
    const double ratio = std::max(0.0, std::abs(error) - half_ulp) / arithmetic;
    ++arithmetic_count_;
    arithmetic_squares_ += ratio * ratio;
  }
  // A want that the type holds is stored without error by any rounding, and says nothing.
  if (half_ulp < 0.5 * bound || error == 0) return;
  const double ulps = error / (2 * half_ulp);
  const double outward = want < 0 ? -ulps : ulps;
  ++stored_count_;
  up_sum_ += ulps;
  up_squares_ += ulps * ulps;
  outward_sum_ += outward;
  outward_squares_ += outward * outward;
}

std::string GateSums::Fault(Gates gates, OutputVerdict* out) const {
  if (arithmetic_count_ > 0) {
    out->rms = std::sqrt(arithmetic_squares_ / static_cast<double>(arithmetic_count_));
  }
  out->bias = std::max(ZOf(stored_count_, up_sum_, up_squares_),
                       ZOf(stored_count_, outward_sum_, outward_squares_));
  if (arithmetic_count_ >= kLeastElements && !(out->rms <= kMostRms)) {
    return absl::StrFormat(
        "rms(err/T) is %.3f, more than %.2f: too many elements are near their "
        "bound for rounding to be the cause",
        out->rms, kMostRms);
  }
  if (gates == Gates::kAll && !(out->bias <= kMostBias)) {
    return absl::StrFormat(
        "rounding errs to one side: |z| is %.1f, more than %.0f; is the store "
        "to nearest even?",
        out->bias, kMostBias);
  }
  return "";
}

}  // namespace halyard::conformance
