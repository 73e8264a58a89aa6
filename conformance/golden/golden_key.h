// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_CONFORMANCE_GOLDEN_GOLDEN_KEY_H_
#define HALYARD_CONFORMANCE_GOLDEN_GOLDEN_KEY_H_

#include <array>
#include <cstdint>

#include "registry/registry.h"

namespace halyard::conformance {

using GoldenKey = std::array<uint8_t, 16>;

/// Of all that a reference reads: the op and its contract's version, the scalars of args, types and
/// shapes of all operands, and every element of those that are read, row by row in little-endian.
/// Not of addresses, strides, gaps or what outputs hold: cases that differ in those alone expect the
/// same. `args` are canonical, pass validate, and are as before a run. The first half of a SHA-256.
GoldenKey KeyOf(const registry::Op& op, const void* args);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_GOLDEN_KEY_H_
