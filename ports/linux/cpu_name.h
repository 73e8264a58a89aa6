// SPDX-License-Identifier: Apache-2.0
#ifndef HALYARD_PORTS_LINUX_CPU_NAME_H_
#define HALYARD_PORTS_LINUX_CPU_NAME_H_

#include <string>

namespace halyard::linux_port {

/// What people call the processor: its model name, else the board's, else the architecture.
std::string CpuName();

}  // namespace halyard::linux_port

#endif  // HALYARD_PORTS_LINUX_CPU_NAME_H_
