// SPDX-License-Identifier: Apache-2.0
//
// Plain loops over arrays of the first cache, in the form that compilers turn into the target's own
// dot products: what portable kernels can reach.
#include <string.h>

#include "facts/peak/peak.h"

namespace {

constexpr int kBytes = 4096;
constexpr int kBlock = 32;
constexpr int kLanes = 64;

uint64_t Int8(uint64_t rounds) {
  static int8_t a[kBytes];
  static int8_t b[kBytes];
  int64_t total = static_cast<int64_t>(rounds);
  for (uint64_t round = 0; round < rounds; ++round) {
    __asm__ volatile("" : : "r"(a), "r"(b) : "memory");  // the arrays may have changed
    for (int at = 0; at < kBytes; at += kBlock) {
      int32_t sum = 0;
      for (int i = 0; i < kBlock; ++i) sum += a[at + i] * b[at + i];
      total += sum;
    }
  }
  return static_cast<uint64_t>(total);
}

uint64_t F32(uint64_t rounds) {
  float sum[kLanes];
  float a = 0.5f;
  float b = 1.0f;
  for (int lane = 0; lane < kLanes; ++lane) sum[lane] = static_cast<float>(lane);
  for (uint64_t round = 0; round < rounds; ++round) {
    __asm__ volatile("" : "+m"(a), "+m"(b));
    for (int lane = 0; lane < kLanes; ++lane) sum[lane] = sum[lane] * a + b;
  }
  uint32_t bits;
  memcpy(&bits, &sum[0], sizeof bits);
  return bits;
}

}  // namespace

const hy_peak_table hy_peak_generic = {{&Int8, 2 * kBytes}, {&F32, 2 * kLanes}};
