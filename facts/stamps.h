// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_FACTS_STAMPS_H_
#define HALYARD_FACTS_STAMPS_H_

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"

namespace halyard::facts {

/// A worker's stamps of one run, on a line of its own.
struct alignas(128) Stamps {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t sum = 0;  ///< what it computed, so that it is computed
};

/// From the first start to the last end. A coordinator's clock would miss workers that began before
/// it looked.
inline uint64_t SpanNs(absl::Span<const Stamps> stamps) {
  uint64_t begin = UINT64_MAX;
  uint64_t end = 0;
  for (const Stamps& stamp : stamps) {
    begin = std::min(begin, stamp.begin_ns);
    end = std::max(end, stamp.end_ns);
  }
  return end > begin ? end - begin : 0;
}

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_STAMPS_H_
