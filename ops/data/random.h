// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are a function of their place: of a case's seed, a tensor's name and the
// coordinates of an element. A part of a tensor, or a smaller one, so holds the same numbers, on
// every target.
#ifndef HALYARD_OPS_DATA_RANDOM_H_
#define HALYARD_OPS_DATA_RANDOM_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace halyard::ops {

struct RandomKey {
  uint32_t word[2];
};

/// Key of a tensor of a case. `stream` tells apart draws for different purposes.
RandomKey KeyOf(uint64_t seed, absl::string_view tensor, uint32_t stream = 0);

using RandomWords = std::array<uint32_t, 4>;

/// Four random words of a place.
/// Source   Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
RandomWords Philox(const RandomKey& key, const RandomWords& place);

/// One word as a number of [-1, 1) with 24 bits, so exact in f32.
inline float SignedUnit(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word) >> 8) * 0x1p-23f;
}

/// One word as an integer of [low, high]. Not free of bias, which nothing here depends on.
inline int IntOf(uint32_t word, int low, int high) {
  const uint64_t count = static_cast<uint64_t>(high - low) + 1;
  return low + static_cast<int>((word * count) >> 32);
}

}  // namespace halyard::ops

#endif  // HALYARD_OPS_DATA_RANDOM_H_
