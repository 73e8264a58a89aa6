// SPDX-License-Identifier: Apache-2.0
//
// Counts calls of operator new in a test program that links test_allocations.cc.
#ifndef HALYARD_REGISTRY_TEST_ALLOCATIONS_H_
#define HALYARD_REGISTRY_TEST_ALLOCATIONS_H_

#include <cstdint>

namespace halyard::registry {

/// On all threads, since the program began.
uint64_t AllocationsSoFar();

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_TEST_ALLOCATIONS_H_
