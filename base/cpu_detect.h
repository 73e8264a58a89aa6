// SPDX-License-Identifier: Apache-2.0
//
// What one architecture must answer for cpu_features.h. Internal to base: exactly one of the
// cpu_detect_<arch>.cc files defines these for the architecture that is built.
#ifndef HALYARD_BASE_CPU_DETECT_H_
#define HALYARD_BASE_CPU_DETECT_H_

#include <cstdint>

#include "base/cpu_features.h"

namespace halyard::internal {

/// Asks the processor and the system, without a cache.
IsaMask DetectIsa();

/// As LiveVectorBytes.
uint32_t DetectVectorBytes();

inline void SetIsa(IsaMask* isa, uint32_t bit) { hy_isa_set(isa->data(), bit); }
inline bool HasIsa(const IsaMask& isa, uint32_t bit) { return hy_isa_has(isa.data(), bit) != 0; }

}  // namespace halyard::internal

#endif  // HALYARD_BASE_CPU_DETECT_H_
