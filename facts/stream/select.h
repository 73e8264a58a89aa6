// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_FACTS_STREAM_SELECT_H_
#define HALYARD_FACTS_STREAM_SELECT_H_

#include "base/cpu_features.h"
#include "facts/stream/stream.h"

namespace halyard::facts {

struct StreamKernel {
  const char* name;  ///< ISA level, as in cmake/isa.cmake, or "generic"
  hy_stream_read_fn read;
};

/// The widest read kernel of this build that `isa` executes.
StreamKernel SelectStreamKernel(const IsaMask& isa);

}  // namespace halyard::facts

#endif  // HALYARD_FACTS_STREAM_SELECT_H_
