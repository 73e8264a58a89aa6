/* SPDX-License-Identifier: Apache-2.0
 *
 * The one algorithm: 32 independent sums of 64-bit words. So many lanes let each compiler use the
 * widest registers of the level, with enough loads in flight to fill the memory system. */
#ifndef HALYARD_FACTS_STREAM_READ_BODY_H_
#define HALYARD_FACTS_STREAM_READ_BODY_H_

#include <stdint.h>

enum { kLanes = 32 };

static uint64_t ReadSum(const void* data, uint64_t bytes) {
  const uint64_t* words = (const uint64_t*)data;
  const uint64_t count = bytes / sizeof(uint64_t);
  uint64_t sums[kLanes] = {0};
  uint64_t total = 0;
  for (uint64_t i = 0; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += words[i + (uint64_t)lane];
  }
  for (int lane = 0; lane < kLanes; ++lane) total += sums[lane];
  return total;
}

#endif /* HALYARD_FACTS_STREAM_READ_BODY_H_ */
