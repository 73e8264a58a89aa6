// SPDX-License-Identifier: Apache-2.0
//
// The binary layout of the kernel interface as this compiler sees it.
#ifndef HALYARD_REGISTRY_ABI_LAYOUT_H_
#define HALYARD_REGISTRY_ABI_LAYOUT_H_

#include <vector>

#include "hal/abi/layout.h"

namespace halyard::registry {

/// All structs and numbers of tensor.h and kernel.h, in their order.
std::vector<hal::StructLayout> KernelStructs();
std::vector<hal::Constant> KernelConstants();

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_ABI_LAYOUT_H_
