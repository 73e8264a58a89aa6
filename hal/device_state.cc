// SPDX-License-Identifier: Apache-2.0
#include "hal/device_state.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/c_status.h"
#include "base/status_macros.h"
#include "hal/host_services.h"
#include "hal/pages.h"
#include "hal/system_view.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

absl::StatusOr<hy_device_info> FindDevice(const Port& port, absl::string_view id) {
  HY_ASSIGN_OR_RETURN(const std::vector<hy_device_info> devices, ListDevices(port));
  if (devices.empty()) {
    return absl::NotFoundError(absl::StrCat("port ", port.name(), " finds no device here"));
  }
  if (id.empty()) return devices.front();
  for (const hy_device_info& device : devices) {
    if (id == device.id) return device;
  }
  const auto append_id = [](std::string* out, const hy_device_info& device) {
    absl::StrAppend(out, device.id);
  };
  return absl::NotFoundError(absl::StrCat("port ", port.name(), " has no device ", id, "; it has ",
                                          absl::StrJoin(devices, ", ", append_id)));
}

absl::StatusOr<hy_device*> OpenOnPort(
    const Port& port, const hy_device_info& info,
    const std::vector<std::pair<std::string, std::string>>& options) {
  std::vector<hy_option> records;
  for (const auto& [key, value] : options) {
    records.push_back({sizeof(hy_option), 0, key.c_str(), value.c_str()});
  }
  hy_open_desc desc{};
  desc.struct_size = sizeof desc;
  desc.id = info.id;
  desc.options.data = records.data();
  desc.options.count = static_cast<uint32_t>(records.size());
  desc.options.stride = sizeof(hy_option);
  hy_device* handle = nullptr;
  TakeReport();
  const hy_status status = port.api().open(port.self(), &desc, &handle);
  if (status != HY_OK) {
    return ToStatus(status, absl::StrCat("open of device ", info.id, " of port ", port.name(),
                                         " failed: ", TakeReport(), Advice(status)));
  }
  if (handle == nullptr) return absl::InternalError("open of the port said OK and gave no device");
  return handle;
}

/// Asks a device for an answer of any length; `record_bytes` is 0 unless it is an array of structs.
absl::StatusOr<std::vector<unsigned char>> Ask(DeviceState& device, uint32_t key,
                                               uint32_t record_bytes) {
  hy_query_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kind = HY_KIND_DEVICE;
  desc.handle = device.handle();
  desc.key = key;
  desc.stride = record_bytes;
  uint64_t bytes = 0;
  const hy_hal_api& api = device.api();
  HY_RETURN_IF_ERROR(device.Check(api.query(&desc, nullptr, &bytes), "query"));
  std::vector<unsigned char> answer(static_cast<size_t>(bytes));
  if (bytes == 0) return answer;
  HY_RETURN_IF_ERROR(device.Check(api.query(&desc, answer.data(), &bytes), "query"));
  answer.resize(static_cast<size_t>(std::min<uint64_t>(bytes, answer.size())));
  return answer;
}

template <typename Record>
absl::StatusOr<std::vector<Record>> AskArray(DeviceState& device, uint32_t key, uint32_t stride) {
  HY_ASSIGN_OR_RETURN(const std::vector<unsigned char> answer, Ask(device, key, stride));
  std::vector<Record> records(answer.size() / sizeof(Record));
  if (!records.empty()) {
    std::memcpy(records.data(), answer.data(), records.size() * sizeof(Record));
  }
  return records;
}

absl::StatusOr<std::string> AskString(DeviceState& device, uint32_t key) {
  HY_ASSIGN_OR_RETURN(const std::vector<unsigned char> answer, Ask(device, key, 0));
  return std::string(answer.begin(), std::find(answer.begin(), answer.end(), '\0'));
}

absl::StatusOr<uint64_t> AskU64(DeviceState& device, uint32_t key) {
  HY_ASSIGN_OR_RETURN(const std::vector<uint64_t> answer, AskArray<uint64_t>(device, key, 0));
  if (answer.empty()) {
    return absl::InternalError(absl::StrCat("query of the port gives no number for key ", key));
  }
  return answer.front();
}

/// An answer that a port may leave out.
template <typename T>
absl::Status Optional(absl::StatusOr<T> answer, T* out_value) {
  if (answer.ok()) {
    *out_value = *std::move(answer);
  } else if (!absl::IsUnimplemented(answer.status())) {
    return answer.status();
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view Advice(hy_status status) {
  switch (status) {
    case HY_RESOURCE_EXHAUSTED:
      return "; free something or ask for less, then try again";
    case HY_UNAVAILABLE:
      return "; the device is absent: choose another";
    case HY_PERMISSION_DENIED:
      return "; ask the administrator for access, or do without";
    case HY_ALREADY_EXISTS:
      return "; close the other user of the device first";
    case HY_DATA_LOSS:
      return "; the device is lost: close it and open it again";
    case HY_INTERNAL:
      return "; this is a fault of the port: report it to its vendor";
    default:
      return "";
  }
}

absl::StatusOr<std::shared_ptr<DeviceState>> DeviceState::Open(
    std::shared_ptr<Port> port, absl::string_view id,
    const std::vector<std::pair<std::string, std::string>>& options) {
  HY_ASSIGN_OR_RETURN(const hy_device_info info, FindDevice(*port, id));
  HY_ASSIGN_OR_RETURN(hy_device * handle, OpenOnPort(*port, info, options));
  std::shared_ptr<DeviceState> state(new DeviceState(std::move(port), info, handle));
  HY_RETURN_IF_ERROR(state->ReadFacts());
  HY_RETURN_IF_ERROR(state->CheckFacts());
  return state;
}

DeviceState::DeviceState(std::shared_ptr<Port> port, const hy_device_info& info, hy_device* handle)
    : port_(std::move(port)), handle_(handle), submitter_(this, 0) {
  facts_.info = info;
}

DeviceState::~DeviceState() {
  submitter_.Close();
  api().release(HY_KIND_DEVICE, handle_);
}

absl::Status DeviceState::ReadFacts() {
  HY_ASSIGN_OR_RETURN(facts_.caps, AskU64(*this, HY_QUERY_CAPS));
  HY_ASSIGN_OR_RETURN(
      facts_.memory_classes,
      AskArray<hy_memory_class>(*this, HY_QUERY_MEMORY_CLASSES, sizeof(hy_memory_class)));
  HY_ASSIGN_OR_RETURN(facts_.min_alignment, AskU64(*this, HY_QUERY_MIN_ALIGNMENT));
  HY_ASSIGN_OR_RETURN(facts_.max_alloc_bytes, AskU64(*this, HY_QUERY_MAX_ALLOC));
  HY_ASSIGN_OR_RETURN(facts_.vendor, AskString(*this, HY_QUERY_VENDOR));
  HY_RETURN_IF_ERROR(Optional(AskString(*this, HY_QUERY_DRIVER), &facts_.driver));
  HY_RETURN_IF_ERROR(
      Optional(AskArray<uint64_t>(*this, HY_QUERY_PAGE_SIZES, 0), &facts_.page_sizes));
  // A port that takes wishes about pages and lists none has its pages from the core's ladder.
  if (facts_.page_sizes.empty() && (facts_.caps & HY_CAP_PAGE_POLICY) != 0) {
    facts_.page_sizes = ListPageSizes();
  }
  const bool coherent = (facts_.caps & HY_CAP_COHERENT) != 0;
  facts_.sync_granule_bytes = coherent ? 1 : facts_.min_alignment;
  HY_RETURN_IF_ERROR(Optional(AskU64(*this, HY_QUERY_SYNC_GRANULE), &facts_.sync_granule_bytes));
  uint64_t tier = HY_QUEUE_TIER_INLINE;
  HY_RETURN_IF_ERROR(Optional(AskU64(*this, HY_QUERY_QUEUE_TIER), &tier));
  if (tier > HY_QUEUE_TIER_ASYNC) {
    return absl::InternalError(absl::StrCat("the port has an unknown queue tier ", tier));
  }
  facts_.queue_tier = static_cast<uint32_t>(tier);
  return absl::OkStatus();
}

absl::Status DeviceState::CheckFacts() const {
  if (facts_.memory_classes.empty()) {
    return absl::InternalError(
        absl::StrCat("port ", port_->name(), " lists no class of memory for ", facts_.info.id));
  }
  if (api().map == nullptr && !can_submit()) {
    return absl::InternalError(absl::StrCat(
        "port ", port_->name(),
        " cannot move bytes: it has no map, and its submit is missing or asynchronous without the "
        "three fence verbs; add one of them"));
  }
  return absl::OkStatus();
}

bool DeviceState::has_port_fences() const {
  const hy_hal_api& table = api();
  return table.fence_create != nullptr && table.fence_wait != nullptr &&
         table.fence_signal != nullptr;
}

bool DeviceState::has_port_teams() const {
  const hy_hal_api& table = api();
  return table.team_create != nullptr && table.team_run != nullptr &&
         table.team_readback != nullptr;
}

bool DeviceState::can_submit() const {
  return api().submit != nullptr && (!is_async() || has_port_fences());
}

absl::Status DeviceState::Check(hy_status status, absl::string_view verb) {
  if (status == HY_DATA_LOSS) lost_ = true;
  return Describe(status, verb);
}

absl::Status DeviceState::Describe(hy_status status, absl::string_view verb) const {
  if (status == HY_OK) return absl::OkStatus();
  std::string reason = TakeReport();
  if (reason.empty()) reason = "the port gives no reason";
  return ToStatus(status, absl::StrCat(verb, " on ", facts_.info.id, ": ", reason, Advice(status)));
}

absl::Status DeviceState::CheckUsable() const {
  if (!lost_) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("device ", facts_.info.id, " is lost: close it and open it again"));
}

absl::StatusOr<Topology> DeviceState::ReadTopology(bool all) {
  const hy_hal_api& table = api();
  if (table.topology != nullptr) {
    absl::StatusOr<Topology> topology =
        ImportTopology(all, [&](hy_topology* out) { return table.topology(handle_, out); });
    if (topology.ok() || !absl::IsUnimplemented(topology.status())) return topology;
  }
  return hal::ReadTopology(*HostSystem(), all);
}

}  // namespace halyard::hal
