// SPDX-License-Identifier: Apache-2.0
#include "ops/data/random.h"

namespace halyard::ops {
namespace {

// Source   SplitMix64's finaliser.
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

}  // namespace

RandomKey KeyOf(uint64_t seed, absl::string_view tensor, uint32_t stream) {
  // FNV-1a of the name.
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char c : tensor) {
    hash = (hash ^ static_cast<unsigned char>(c)) * UINT64_C(0x100000001b3);
  }
  const uint64_t key = Mix(Mix(hash + stream) + seed * UINT64_C(0x9e3779b97f4a7c15));
  return {{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}};
}

RandomWords Philox(const RandomKey& key, const RandomWords& place) {
  RandomWords x = place;
  uint32_t k0 = key.word[0];
  uint32_t k1 = key.word[1];
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = UINT64_C(0xd2511f53) * x[0];
    const uint64_t p1 = UINT64_C(0xcd9e8d57) * x[2];
    x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += UINT32_C(0x9e3779b9);
    k1 += UINT32_C(0xbb67ae85);
  }
  return x;
}

}  // namespace halyard::ops
