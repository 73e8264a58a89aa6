// SPDX-License-Identifier: Apache-2.0
//
// Elements in the order of bytes that golden packs and their keys have on every host.
#ifndef HALYARD_CONFORMANCE_GOLDEN_BYTE_ORDER_H_
#define HALYARD_CONFORMANCE_GOLDEN_BYTE_ORDER_H_

#include <cstdint>

#include "halyard/tensor.h"
#include "reference/reference.h"
#include "registry/registry.h"

namespace halyard::conformance {

/// Turns the bytes of each field of a row round: elements, or scales and sums of a record. Weight
/// formats are little-endian everywhere and stay as they are.
void SwapFields(uint32_t type, int64_t cols, uint8_t* row);

/// A row of this host to little-endian and back: SwapFields on big-endian hosts, else nothing.
void ToLittleEndian(uint32_t type, int64_t cols, uint8_t* row);

/// The same for outputs that are expected as bytes; `args` are those of the op.
void ToLittleEndian(const registry::Op& op, const void* args, reference::Expected* inout);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_BYTE_ORDER_H_
