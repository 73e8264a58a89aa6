// SPDX-License-Identifier: Apache-2.0
//
// Ports, devices, topologies and placements as JSON and as text.
#ifndef HALYARD_CLI_DESCRIBE_H_
#define HALYARD_CLI_DESCRIBE_H_

#include <string>
#include <vector>

#include "hal/device.h"
#include "hal/topology.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {

nlohmann::json TopologyJson(const hal::Topology& topology);
nlohmann::json DeviceJson(const hal::Device& device);
std::string DeviceText(const hal::Device& device);

/// Names of HY_CAP_* and HY_LIMIT_* bits.
std::vector<std::string> CapNames(uint64_t caps);
std::vector<std::string> LimitNames(uint64_t limits);

/// "up to 2 workers, limited by the cpuset" and such.
std::string BudgetText(const hal::Topology& topology);

}  // namespace halyard::cli

#endif  // HALYARD_CLI_DESCRIBE_H_
