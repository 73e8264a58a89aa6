// SPDX-License-Identifier: Apache-2.0
//
// How large integers may be for sums over a row to be exact in f32, whatever their order.
#ifndef HALYARD_OPS_DATA_EXACT_RANGE_H_
#define HALYARD_OPS_DATA_EXACT_RANGE_H_

#include <algorithm>
#include <cstdint>

namespace halyard::ops {

inline constexpr int kExactGroup = 32;  ///< elements that share one +-127
/// Units of the last place of inputs and of weights. Their products stay far from the ends of f16.
inline constexpr int kInputExponent = -6;
inline constexpr int kWeightExponent = -9;

/// Bound of an input's integers, but for the +-127 of each group.
inline int InputPeak(int64_t cols) {
  if (cols <= 512) return 15;
  return cols <= 4096 ? 7 : 1;
}

/// Bound of a weight's integers, in units of 2^kWeightExponent: all magnitudes of products over a
/// row add up to no more than half of 2^24, so that a scaled part and an offset part fit side by
/// side. At least 1, which holds up to rows of 5 million.
inline int WeightPeak(int64_t cols) {
  const int64_t groups = (cols + kExactGroup - 1) / kExactGroup;
  // 512: the two ends of the range that an asymmetric row has.
  const int64_t input_sum = groups * (127 + (kExactGroup - 1) * InputPeak(cols)) + 512;
  return static_cast<int>(std::max<int64_t>(1, (int64_t{1} << 23) / input_sum));
}

/// The same where each group has one weight that is not zero, and inputs go up to 127.
inline int LoneWeightPeak(int64_t cols) {
  const int64_t groups = (cols + kExactGroup - 1) / kExactGroup;
  return static_cast<int>(std::max<int64_t>(1, (int64_t{1} << 23) / (groups * 127 + 127)));
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_DATA_EXACT_RANGE_H_
