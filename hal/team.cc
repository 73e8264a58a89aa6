// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "hal/device.h"
#include "hal/device_state.h"
#include "hal/worker_team.h"

namespace halyard::hal {
namespace {

using RunFunction = absl::FunctionRef<void(uint32_t, uint32_t)>;

void CallRunFunction(void* context, uint32_t index, uint32_t count) {
  (*static_cast<const RunFunction*>(context))(index, count);
}

hy_team_desc TeamDesc(const TeamRequest& request) {
  hy_team_desc desc{};
  desc.struct_size = sizeof desc;
  desc.count = request.count;
  desc.pus.data = const_cast<uint32_t*>(request.pus.data());  // the callee only reads it
  desc.pus.count = static_cast<uint32_t>(request.pus.size());
  desc.pus.stride = sizeof(uint32_t);
  desc.perf_class = request.perf_class;
  desc.spin_ns = request.spin_ns;
  desc.flags = request.allow_oversubscription ? HY_TEAM_ALLOW_OVERSUB : 0;
  desc.name = request.name.c_str();
  return desc;
}

/// hy_worker_report[] with room for the masks.
struct RawReports {
  RawReports(size_t count, uint32_t words) : reports(count), masks(count * words) {
    for (size_t i = 0; i < count; ++i) {
      reports[i].struct_size = sizeof(hy_worker_report);
      reports[i].mask = masks.data() + i * words;
      reports[i].mask_capacity = words;
    }
  }
  uint32_t widest() const {
    uint32_t words = 0;
    for (const hy_worker_report& report : reports) words = std::max(words, report.mask_words);
    return words;
  }

  std::vector<hy_worker_report> reports;
  std::vector<uint64_t> masks;
};

WorkerReport ImportReport(const hy_worker_report& raw) {
  WorkerReport report;
  report.index = raw.index;
  report.requested_pu = raw.requested_pu;
  report.last_pu = raw.last_pu;
  report.node_id = raw.node_id;
  report.bind_status = raw.bind_status;
  report.flags = raw.flags;
  const uint32_t words = std::min(raw.mask_words, raw.mask_capacity);
  for (uint32_t bit = 0; bit < words * 64; ++bit) {
    if ((raw.mask[bit / 64] >> (bit % 64) & 1) != 0) report.mask.push_back(bit);
  }
  report.isa = {raw.isa[0], raw.isa[1]};
  report.scratch = raw.scratch;
  report.scratch_bytes = raw.scratch_bytes;
  return report;
}

absl::StatusOr<std::vector<WorkerReport>> ReadPortReports(DeviceState& device, hy_team* team) {
  constexpr uint32_t kMaskWords = 16;  // 1,024 units, which is more than most machines have
  const hy_hal_api& api = device.api();
  hy_array array{};
  array.stride = sizeof(hy_worker_report);
  HY_RETURN_IF_ERROR(device.Check(api.team_readback(team, &array), "team_readback"));
  const size_t count = array.count;
  uint32_t words = kMaskWords;
  for (;;) {
    RawReports raw(count, words);
    array.data = raw.reports.data();
    array.capacity = static_cast<uint32_t>(count);
    HY_RETURN_IF_ERROR(device.Check(api.team_readback(team, &array), "team_readback"));
    if (raw.widest() > words) {
      words = raw.widest();
      continue;
    }
    std::vector<WorkerReport> reports;
    for (const hy_worker_report& report : raw.reports) reports.push_back(ImportReport(report));
    return reports;
  }
}

IsaMask Intersect(const std::vector<WorkerReport>& reports) {
  if (reports.empty()) return IsaMask{};
  IsaMask isa = reports.front().isa;
  for (const WorkerReport& report : reports) {
    isa[0] &= report.isa[0];
    isa[1] &= report.isa[1];
  }
  return isa;
}

}  // namespace

/// The port's team, or the core's where `core` is set.
class TeamState {
 public:
  TeamState(std::shared_ptr<DeviceState> device, hy_team* handle, std::unique_ptr<WorkerTeam> core)
      : device_(std::move(device)), handle_(handle), core_(std::move(core)) {}
  ~TeamState() {
    if (handle_ != nullptr) device_->api().release(HY_KIND_TEAM, handle_);
  }
  TeamState(const TeamState&) = delete;
  TeamState& operator=(const TeamState&) = delete;

  absl::Status Run(RunFunction fn) {
    HY_RETURN_IF_ERROR(device_->CheckUsable());
    if (core_ != nullptr) return core_->Run(fn);
    return device_->Check(device_->api().team_run(handle_, &CallRunFunction, &fn), "team_run");
  }

  absl::StatusOr<std::vector<WorkerReport>> Readback() {
    HY_RETURN_IF_ERROR(device_->CheckUsable());
    if (core_ != nullptr) return core_->reports();
    return ReadPortReports(*device_, handle_);
  }

  /// Remembers size and ISA.
  absl::Status Learn() {
    HY_ASSIGN_OR_RETURN(const std::vector<WorkerReport> reports, Readback());
    size_ = static_cast<uint32_t>(reports.size());
    isa_ = Intersect(reports);
    return absl::OkStatus();
  }
  uint32_t size() const { return size_; }
  const IsaMask& isa() const { return isa_; }

 private:
  const std::shared_ptr<DeviceState> device_;
  hy_team* const handle_;
  const std::unique_ptr<WorkerTeam> core_;
  uint32_t size_ = 0;
  IsaMask isa_{};
};

namespace {

/// Errors   UNIMPLEMENTED: the core is to make the team.
absl::StatusOr<std::shared_ptr<TeamState>> CreatePortTeam(
    const std::shared_ptr<DeviceState>& device, const TeamRequest& request) {
  if (!device->has_port_teams()) return absl::UnimplementedError("the port has no teams");
  const hy_team_desc desc = TeamDesc(request);
  hy_team* handle = nullptr;
  HY_RETURN_IF_ERROR(
      device->Check(device->api().team_create(device->handle(), &desc, &handle), "team_create"));
  if (handle == nullptr) {
    return absl::InternalError("team_create of the port said OK and gave no team");
  }
  auto team = std::make_shared<TeamState>(device, handle, nullptr);
  HY_RETURN_IF_ERROR(team->Learn());
  return team;
}

absl::StatusOr<std::shared_ptr<TeamState>> CreateCoreTeam(
    const std::shared_ptr<DeviceState>& device, const TeamRequest& request) {
  TeamHost host;
  HY_ASSIGN_OR_RETURN(host.topology, device->ReadTopology(false));
  host.bind = [device](uint32_t pu, uint32_t mode, hy_worker_report* report) {
    const auto bind = device->api().worker_bind;
    const hy_status status =
        bind == nullptr ? HY_UNIMPLEMENTED : bind(device->handle(), pu, mode, report);
    return status == HY_UNIMPLEMENTED ? BindThisThread(pu, mode, report) : status;
  };
  HY_ASSIGN_OR_RETURN(std::unique_ptr<WorkerTeam> core,
                      WorkerTeam::Create(std::move(host), request));
  auto team = std::make_shared<TeamState>(device, nullptr, std::move(core));
  HY_RETURN_IF_ERROR(team->Learn());
  return team;
}

}  // namespace

Team::Team(std::shared_ptr<TeamState> state) : state_(std::move(state)) {}
Team::Team(Team&&) noexcept = default;
Team& Team::operator=(Team&&) noexcept = default;
Team::~Team() = default;

absl::Status Team::Run(absl::FunctionRef<void(uint32_t, uint32_t)> fn) const {
  return state_->Run(fn);
}
absl::StatusOr<std::vector<WorkerReport>> Team::Readback() const { return state_->Readback(); }
uint32_t Team::size() const { return state_->size(); }
IsaMask Team::isa() const { return state_->isa(); }

absl::StatusOr<Team> Device::CreateTeam(const TeamRequest& request) const {
  HY_RETURN_IF_ERROR(state_->CheckUsable());
  absl::StatusOr<std::shared_ptr<TeamState>> team = CreatePortTeam(state_, request);
  if (absl::IsUnimplemented(team.status())) team = CreateCoreTeam(state_, request);
  if (!team.ok()) return team.status();
  return Team(*std::move(team));
}

}  // namespace halyard::hal
