// SPDX-License-Identifier: Apache-2.0
#include "conformance/ops/team_here.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/status_macros.h"

namespace halyard::conformance {
namespace {

struct Here {
  std::optional<hal::Device> device;
  std::map<uint32_t, std::unique_ptr<hal::Team>> teams;
};

Here& TheHere() {
  static auto* const here = new Here;
  return *here;
}

}  // namespace

absl::StatusOr<const hal::Device*> DeviceHere(const RunRequest& request) {
  std::optional<hal::Device>& device = TheHere().device;
  if (!device.has_value()) {
    HY_ASSIGN_OR_RETURN(std::shared_ptr<hal::Port> port, hal::LoadPort(request.port, request.load));
    HY_ASSIGN_OR_RETURN(hal::Device opened,
                        hal::Device::Open(port, request.device, request.options));
    device.emplace(std::move(opened));
  }
  return &*device;
}

absl::StatusOr<const hal::Team*> TeamHere(const RunRequest& request, uint32_t workers) {
  HY_ASSIGN_OR_RETURN(const hal::Device* device, DeviceHere(request));
  std::unique_ptr<hal::Team>& team = TheHere().teams[workers];
  if (team == nullptr) {
    hal::TeamRequest wanted;
    wanted.count = workers;
    wanted.allow_oversubscription = true;
    wanted.name = "conform";
    HY_ASSIGN_OR_RETURN(hal::Team made, device->CreateTeam(wanted));
    team = std::make_unique<hal::Team>(std::move(made));
  }
  return team.get();
}

}  // namespace halyard::conformance
