// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hal/layers/validate_layer.h"

namespace halyard::hal {
namespace {

constexpr uint64_t kWorkerFlags = HY_WORKER_BOUND | HY_WORKER_MASK_KNOWN | HY_WORKER_PU_KNOWN;

std::string ReportFault(const hy_worker_report& report) {
  if ((report.flags & ~kWorkerFlags) != 0) {
    return "gave a worker flags that ABI 1.0 does not know";
  }
  if ((report.flags & HY_WORKER_BOUND) != 0 && (report.flags & HY_WORKER_MASK_KNOWN) == 0) {
    return "says that a worker is bound, and that its mask is not known";
  }
  if ((report.flags & HY_WORKER_BOUND) != 0 && report.bind_status != HY_OK) {
    return "says that a worker is bound, and that binding it failed";
  }
  return "";
}

}  // namespace

hy_status ValidateLayer::TeamCreate(hy_device* device, const hy_team_desc* desc,
                                    hy_team** out_team) {
  const Verb verb = Verb::kTeamCreate;
  if (!IsLive(verb, HY_KIND_DEVICE, device)) return HY_INVALID_ARGUMENT;
  const hy_team_desc known = Known(desc);
  LiveObject object;
  object.device = device;
  object.watch = std::make_shared<TeamWatch>();
  {
    const std::lock_guard<std::mutex> lock(watch_mutex_);
    teams_.push_back(object.watch);
  }
  const hy_status status =
      Create(verb, HY_KIND_TEAM, out_team, std::move(object),
             [&](hy_team** out) { return inner().api().team_create(device, desc, out); });
  if (out_team != nullptr) CheckNull(verb, device == nullptr || desc == nullptr, status);
  CheckKnown(verb, (known.flags & ~HY_TEAM_ALLOW_OVERSUB) == 0, status, "flags");
  return status;
}

hy_status ValidateLayer::TeamRun(hy_team* team, hy_worker_fn fn, void* context) {
  const Verb verb = Verb::kTeamRun;
  if (!IsLive(verb, HY_KIND_TEAM, team)) return HY_INVALID_ARGUMENT;
  std::shared_ptr<TeamWatch> watch;
  objects_.With(HY_KIND_TEAM, team, [&](LiveObject& object) { watch = object.watch; });
  if (team == nullptr || fn == nullptr || watch == nullptr) {
    const hy_status status = inner().api().team_run(team, fn, context);
    CheckStatus(verb, status);
    CheckNull(verb, team == nullptr || fn == nullptr, status);
    return status;
  }
  if (!watch->Begin(fn, context)) {
    // A run inside a run: the port has to notice by itself.
    const hy_status status = inner().api().team_run(team, fn, context);
    if (status != HY_FAILED_PRECONDITION) {
      Report("HAL-TEAM-06", verb,
             absl::StrCat("returned ", hy_status_name(status), " for a run inside a run"));
    }
    return status;
  }
  const hy_status status = inner().api().team_run(team, &TeamWatch::Run, watch.get());
  CheckFault("HAL-TEAM-01", verb, watch->End(status));
  CheckStatus(verb, status);
  return status;
}

hy_status ValidateLayer::TeamReadback(hy_team* team, hy_array* workers) {
  const Verb verb = Verb::kTeamReadback;
  if (!IsLive(verb, HY_KIND_TEAM, team)) return HY_INVALID_ARGUMENT;
  ShadowArray shadow(workers, sizeof(hy_worker_report));
  const hy_status status = inner().api().team_readback(team, workers);
  CheckFault("HAL-ABI-06", verb, shadow.Finish(status));
  CheckStatus(verb, status);
  CheckNull(verb, team == nullptr || workers == nullptr, status);
  if (status != HY_OK || workers == nullptr || workers->data == nullptr ||
      workers->stride < sizeof(hy_worker_report)) {
    return status;
  }
  for (uint32_t i = 0; i < workers->count && i < workers->capacity; ++i) {
    hy_worker_report report;
    std::memcpy(&report, hy_array_at(workers, i), sizeof report);
    CheckFault("HAL-TEAM-08", verb, ReportFault(report));
  }
  return status;
}

hy_status ValidateLayer::WorkerBind(hy_device* device, uint32_t pu, uint32_t mode,
                                    hy_worker_report* inout_report) {
  const Verb verb = Verb::kWorkerBind;
  if (!IsLive(verb, HY_KIND_DEVICE, device)) return HY_INVALID_ARGUMENT;
  ShadowStruct shadow(inout_report);
  const hy_status status =
      inner().api().worker_bind(device, pu, mode, static_cast<hy_worker_report*>(shadow.data()));
  CheckFault("HAL-ABI-05", verb, shadow.Finish());
  CheckStatus(verb, status);
  CheckNull(verb, device == nullptr || (inout_report == nullptr && mode == HY_BIND_ENTER), status);
  CheckKnown(verb, mode == HY_BIND_ENTER || mode == HY_BIND_LEAVE, status, "a mode");
  if (status == HY_OK && mode == HY_BIND_ENTER) {
    CheckFault("HAL-BND-01", verb, ReportFault(Known(inout_report)));
  }
  return status;
}

}  // namespace halyard::hal
