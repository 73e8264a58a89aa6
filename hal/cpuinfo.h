// SPDX-License-Identifier: Apache-2.0
//
// /proc/cpuinfo, whose form differs by architecture: the last resort for what units there are, and
// what a machine that is not this one executes.
#ifndef HALYARD_HAL_CPUINFO_H_
#define HALYARD_HAL_CPUINFO_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/cpu_features.h"

namespace halyard::hal {

struct CpuinfoUnit {
  uint32_t os_id = 0;
  IsaMask isa{};
};

/// Units in the order of the text. Words of a part common to all units count for each of them.
std::vector<CpuinfoUnit> ParseCpuinfo(absl::string_view arch, absl::string_view text);

/// ISA of a unit; a unit that the text does not list has that of the first.
IsaMask CpuinfoIsa(const std::vector<CpuinfoUnit>& units, uint32_t pu);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_CPUINFO_H_
