// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_PORTS_SIM_TOPOLOGY_FIXTURES_H_
#define HALYARD_PORTS_SIM_TOPOLOGY_FIXTURES_H_

#include "absl/types/span.h"

namespace halyard::sim_topology {

struct Fixture {
  const char* name;
  const char* image;  ///< in the text format of fixtures/README.md
};

/// The files of fixtures/, in the order of their names. Generated.
absl::Span<const Fixture> Fixtures();

}  // namespace halyard::sim_topology

#endif  // HALYARD_PORTS_SIM_TOPOLOGY_FIXTURES_H_
