// SPDX-License-Identifier: Apache-2.0
#include "engine/model/rope_table.h"

#include <algorithm>
#include <cmath>

namespace halyard::engine {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The pair that turns `turns` times over the original context.
double PairOf(const RopeConfig& rope, int64_t size, double turns) {
  const auto context = static_cast<double>(rope.original_context);
  return static_cast<double>(size) * std::log(context / (turns * 2 * kPi)) /
         (2 * std::log(rope.base));
}

// YaRN (Peng et al. 2023): pairs that turn often keep their angles, those that turn seldom are
// stretched, with a ramp between. 1 keeps, 0 stretches.
double KeptShare(const RopeConfig& rope, int64_t size, int64_t pair) {
  const double low = std::max(0.0, std::floor(PairOf(rope, size, rope.beta_fast)));
  const double high =
      std::min(static_cast<double>(size - 1), std::ceil(PairOf(rope, size, rope.beta_slow)));
  const double along = (static_cast<double>(pair) - low) / std::max(0.001, high - low);
  return 1 - std::clamp(along, 0.0, 1.0);
}

}  // namespace

std::vector<float> MakeRopeTable(const RopeConfig& rope, int64_t size, int64_t positions,
                                 absl::Span<const float> frequency_factors) {
  const int64_t pairs = size / 2;
  std::vector<double> frequencies(static_cast<size_t>(pairs));
  double magnitude = 1;
  if (rope.yarn) magnitude = rope.attention_factor * (0.1 * std::log(rope.factor) + 1);
  for (int64_t i = 0; i < pairs; ++i) {
    double frequency = std::pow(rope.base, -2 * static_cast<double>(i) / static_cast<double>(size));
    if (!frequency_factors.empty())
      frequency /= static_cast<double>(frequency_factors[static_cast<size_t>(i)]);
    const double kept = rope.yarn ? KeptShare(rope, size, i) : 0;
    frequencies[static_cast<size_t>(i)] = frequency * (kept + (1 - kept) / rope.factor);
  }
  std::vector<float> table;
  table.reserve(static_cast<size_t>(positions * pairs * 2));
  for (int64_t position = 0; position < positions; ++position) {
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(position) * frequency;
      table.push_back(static_cast<float>(std::cos(angle) * magnitude));
      table.push_back(static_cast<float>(std::sin(angle) * magnitude));
    }
  }
  return table;
}

}  // namespace halyard::engine
