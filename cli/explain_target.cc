// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_target.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cpu_features.h"
#include "base/status_macros.h"
#include "registry/select.h"

namespace halyard::cli {
namespace {

absl::StatusOr<IsaMask> ParseIsa(const std::vector<std::string>& words) {
  IsaMask isa{};
  std::vector<std::string> known;
  for (uint32_t bit = 0; bit < 128; ++bit) {
    const std::string name(IsaName(bit));
    if (!name.empty() && IsaBit(BuildArch(), name) == static_cast<int>(bit)) known.push_back(name);
  }
  for (const std::string& word : words) {
    if (word == "none") continue;
    const int bit = IsaBit(BuildArch(), word);
    if (bit < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--isa ", word, " is no extension of ", std::string(BuildArch()),
                       "; there are: none, ", absl::StrJoin(known, ", ")));
    }
    hy_isa_set(isa.data(), static_cast<uint32_t>(bit));
  }
  return isa;
}

}  // namespace

void TargetArgs::AddTo(CLI::App& app) {
  app.add_option("--isa", isa,
                 "Extensions of the team (avx2,fma,f16c, or none), not those of this machine")
      ->delimiter(',');
  app.add_option("--workers", workers, "Workers of the team; default as the port picks")
      ->check(Within(1, 65536));
  port.AddTo(app);
}

absl::StatusOr<ExplainTarget> OpenTarget(const TargetArgs& args) {
  ExplainTarget target;
  if (!args.isa.empty()) {
    HY_ASSIGN_OR_RETURN(const IsaMask isa, ParseIsa(args.isa));
    const uint32_t units = std::max(1u, std::thread::hardware_concurrency());
    target.target =
        registry::MakeTarget(isa, args.workers == 0 ? units : args.workers, LiveVectorBytes());
    target.where = "a team";
    return target;
  }
  HY_ASSIGN_OR_RETURN(hal::Device device, OpenDevice(args.port));
  hal::TeamRequest request;
  request.count = args.workers;
  request.allow_oversubscription = true;
  HY_ASSIGN_OR_RETURN(const hal::Team team, device.CreateTeam(request));
  target.target = registry::TargetOf(team);
  target.where = device.port().name();
  target.device.emplace(std::move(device));
  return target;
}

absl::StatusOr<registry::CallPlan> PlaceCall(const registry::Registry& registry,
                                             const ExplainTarget& target, const registry::Op& op,
                                             const void* args) {
  if (!target.device.has_value())
    return absl::InvalidArgumentError("--placement asks a device: leave --isa out");
  // Only what kind of memory it is matters here, so the buffers are small.
  hal::AllocRequest request;
  request.bytes = 64;
  std::vector<hal::Buffer> buffers;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    HY_ASSIGN_OR_RETURN(hal::Buffer buffer, target.device->Allocate(request));
    buffers.push_back(std::move(buffer));
  }
  std::vector<registry::Place> places;
  for (const hal::Buffer& buffer : buffers) places.push_back({&buffer, 0});
  registry::CallPlan plan =
      registry::PlanCall(registry, *target.device, registry::PlacedCall(op, args, places), {});
  for (registry::WindowPlan& window : plan.windows) window.window.buffer = nullptr;
  return plan;
}

}  // namespace halyard::cli
