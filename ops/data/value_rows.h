// SPDX-License-Identifier: Apache-2.0
//
// Rows of values of a distribution, before they are stored in a tensor's type.
#ifndef HALYARD_OPS_DATA_VALUE_ROWS_H_
#define HALYARD_OPS_DATA_VALUE_ROWS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "ops/data/distribution.h"
#include "ops/data/random.h"

namespace halyard::ops {

/// Streams of KeyOf.
enum RandomStream : uint32_t {
  kStreamValues = 0,
  kStreamGroups,    // one draw for each group of a row
  kStreamRows,      // one draw for each row
  kStreamChannels,  // one draw for each column, over all rows
  kStreamTensor,    // one draw
  kStreamScales     // draws for scales of blocks
};

/// Coordinates of a row, from the axis next to the last one outwards.
std::array<uint32_t, 3> RowPlace(const hy_tensor& tensor, int64_t row);

class ValueRows {
 public:
  ValueRows(const FillSpec& spec, const hy_tensor& tensor);

  /// Values of a row, as many as the tensor has columns; each is exact in the tensor's type where
  /// that is a float type and the distribution promises exact sums.
  void Row(int64_t row, float* out) const;

 private:
  using Place = std::array<uint32_t, 3>;

  template <typename Fn>
  void EachWord(const Place& at, Fn fn) const;

  void Lossless(const Place& at, float* out) const;
  void LosslessAsym(const Place& at, float* out) const;
  void LosslessWeights(const Place& at, float* out) const;
  void Walking(const Place& at, float* out) const;
  void WalkingWeights(const Place& at, float* out) const;
  void Normal(const Place& at, float* out) const;
  void Cancel(const Place& at, float* out) const;
  void Extreme(const Place& at, float* out) const;
  void Subnormal(const Place& at, float* out) const;
  void Plant(int64_t row, float* out) const;
  RandomWords Draw(RandomStream stream, uint32_t column, const Place& at) const;

  const FillSpec spec_;
  const hy_tensor tensor_;
  const int64_t cols_;
  const RandomKey key_;
  std::vector<float> channel_;  // factor of each column
  int64_t planted_row_ = -1;
  int64_t planted_col_ = -1;
  float planted_ = 0;
};

}  // namespace halyard::ops

#endif  // HALYARD_OPS_DATA_VALUE_ROWS_H_
