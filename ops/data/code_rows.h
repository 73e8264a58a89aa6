// SPDX-License-Identifier: Apache-2.0
//
// Rows of weight formats, put together from chosen codes and scales: never by a quantiser, so that
// every field of every block is known.
#ifndef HALYARD_OPS_DATA_CODE_ROWS_H_
#define HALYARD_OPS_DATA_CODE_ROWS_H_

#include <array>
#include <cstdint>

#include "base/quant/pack.h"
#include "ops/data/distribution.h"
#include "ops/data/random.h"

namespace halyard::ops {

/// True for the distributions that choose codes of weight formats; others are encoded from values.
bool ChoosesCodes(Dist dist);

class CodeRows {
 public:
  /// `tensor` is of a weight format.
  CodeRows(const FillSpec& spec, const hy_tensor& tensor);

  void Row(int64_t row, uint8_t* out) const;

 private:
  using Place = std::array<uint32_t, 3>;
  /// A block's place: of its row, its number in the row and its elements.
  struct Block {
    Place at;
    uint32_t number;
    int64_t size;
  };

  void Lossless(const Block& block, quant::BlockScales* scales, int8_t* codes) const;
  void Walking(const Block& block, quant::BlockScales* scales, int8_t* codes) const;
  void Extreme(const Block& block, quant::BlockScales* scales, int8_t* codes) const;
  void Subnormal(const Block& block, quant::BlockScales* scales, int8_t* codes) const;
  void RandomCodes(const Block& block, int low, int high, int8_t* codes) const;
  RandomWords Draw(const Block& block, uint32_t which) const;

  const FillSpec spec_;
  const hy_tensor tensor_;
  const int64_t cols_;
  const quant::BlockForm& form_;
};

}  // namespace halyard::ops

#endif  // HALYARD_OPS_DATA_CODE_ROWS_H_
