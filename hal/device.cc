// SPDX-License-Identifier: Apache-2.0
#include "hal/device.h"

#include <utility>

#include "base/status_macros.h"
#include "hal/device_state.h"
#include "halyard/hal_port.h"

namespace halyard::hal {

Device::Device(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;
Device::~Device() = default;

absl::StatusOr<Device> Device::Open(
    std::shared_ptr<Port> port, absl::string_view id,
    const std::vector<std::pair<std::string, std::string>>& options) {
  if (port == nullptr) return absl::InvalidArgumentError("no port was given");
  HY_ASSIGN_OR_RETURN(std::shared_ptr<DeviceState> state,
                      DeviceState::Open(std::move(port), id, options));
  return Device(std::move(state));
}

const hy_device_info& Device::info() const { return state_->facts().info; }
const Port& Device::port() const { return state_->port(); }
hy_device* Device::handle() const { return state_->handle(); }
uint64_t Device::caps() const { return state_->facts().caps; }
const std::vector<hy_memory_class>& Device::memory_classes() const {
  return state_->facts().memory_classes;
}
std::vector<uint64_t> Device::page_sizes() const { return state_->facts().page_sizes; }
uint64_t Device::sync_granule_bytes() const { return state_->facts().sync_granule_bytes; }
uint64_t Device::min_alignment() const { return state_->facts().min_alignment; }
uint64_t Device::max_alloc_bytes() const { return state_->facts().max_alloc_bytes; }
uint32_t Device::queue_tier() const { return state_->facts().queue_tier; }
std::string Device::vendor() const { return state_->facts().vendor; }
std::string Device::driver() const { return state_->facts().driver; }

absl::StatusOr<uint64_t> Device::QueryU64(uint32_t key) const {
  HY_RETURN_IF_ERROR(state_->CheckUsable());
  uint64_t value = 0;
  HY_RETURN_IF_ERROR(state_->Check(
      hy_query_u64(&state_->api(), HY_KIND_DEVICE, state_->handle(), key, &value), "query"));
  return value;
}

absl::StatusOr<Topology> Device::ReadTopology(bool all) const {
  HY_RETURN_IF_ERROR(state_->CheckUsable());
  return state_->ReadTopology(all);
}

absl::StatusOr<Timestamp> Device::Now() const {
  HY_RETURN_IF_ERROR(state_->CheckUsable());
  hy_timestamp timestamp{};
  timestamp.struct_size = sizeof timestamp;
  HY_RETURN_IF_ERROR(
      state_->Check(state_->api().timestamp(state_->handle(), &timestamp), "timestamp"));
  return Timestamp{timestamp.ticks, timestamp.host_ns, timestamp.hz, timestamp.uncertainty_ns};
}

std::vector<std::string> Device::defaulted_verbs() const {
  const hy_hal_api& api = state_->api();
  const bool fences = state_->has_port_fences();
  const bool teams = state_->has_port_teams();
  const std::pair<const char*, bool> verbs[] = {
      {"topology", api.topology != nullptr},
      {"import_host", api.import_host != nullptr},
      {"map", api.map != nullptr},
      {"unmap", api.unmap != nullptr},
      {"sync_range", api.sync_range != nullptr},
      {"team_create", teams},
      {"team_run", teams},
      {"team_readback", teams},
      {"worker_bind", api.worker_bind != nullptr},
      {"queue_create", api.queue_create != nullptr && state_->is_async() && state_->can_submit()},
      {"submit", state_->can_submit()},
      {"fence_create", fences},
      {"fence_wait", fences},
      {"fence_signal", fences},
  };
  std::vector<std::string> names;
  for (const auto& [name, by_port] : verbs) {
    if (!by_port) names.emplace_back(name);
  }
  return names;
}

}  // namespace halyard::hal
