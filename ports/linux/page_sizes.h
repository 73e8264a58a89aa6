// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_PORTS_LINUX_PAGE_SIZES_H_
#define HALYARD_PORTS_LINUX_PAGE_SIZES_H_

#include <cstdint>
#include <vector>

namespace halyard::linux_port {

/// Page sizes that the kernel lists, in bytes: the base page, then huge ones, ascending.
std::vector<uint64_t> PageSizes();

}  // namespace halyard::linux_port

#endif  // HALYARD_PORTS_LINUX_PAGE_SIZES_H_
