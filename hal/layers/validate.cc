// SPDX-License-Identifier: Apache-2.0
//
// What the verbs share: reporting, handles, statuses, and release.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "hal/host_services.h"
#include "hal/layers/validate_layer.h"

namespace halyard::hal {

void ValidateLayer::Report(absl::string_view duty, Verb verb, std::string message) {
  const std::lock_guard<std::mutex> lock(report_mutex_);
  on_violation_({std::string(duty), VerbName(verb), std::move(message)});
}

hy_status ValidateLayer::Refuse(Verb verb, std::string message) {
  HostServices()->report(HY_INVALID_ARGUMENT, message.c_str());
  Report("core", verb, std::move(message));
  return HY_INVALID_ARGUMENT;
}

bool ValidateLayer::IsLive(Verb verb, uint32_t kind, const void* handle) {
  if (handle == nullptr) return true;
  std::string complaint = objects_.Complaint(kind, handle);
  if (complaint.empty()) return true;
  Refuse(verb, std::move(complaint));
  return false;
}

void ValidateLayer::CheckStatus(Verb verb, hy_status status) {
  if (MayReturn(verb, status)) return;
  Report("HAL-ERR-02", verb,
         absl::StrCat("returned ", hy_status_name(status), " (", status,
                      "), which is not documented for it"));
}

void ValidateLayer::CheckNull(Verb verb, bool had_null, hy_status status) {
  if (!had_null || status == HY_INVALID_ARGUMENT) return;
  Report(
      "HAL-ERR-01", verb,
      absl::StrCat("returned ", hy_status_name(status), " for a NULL where a pointer is needed"));
}

void ValidateLayer::CheckKnown(Verb verb, bool is_known, hy_status status, absl::string_view what) {
  if (is_known || status != HY_OK) return;
  Report("HAL-ERR-08", verb, absl::StrCat("accepted ", what, " that ABI 1.0 does not know"));
}

void ValidateLayer::CheckFault(absl::string_view duty, Verb verb, const std::string& fault) {
  if (!fault.empty()) Report(duty, verb, fault);
}

void ValidateLayer::CheckCreated(Verb verb, uint32_t kind, hy_status status, const void* handle,
                                 LiveObject object) {
  if (status != HY_OK) {
    if (handle == nullptr) return;
    Report("HAL-ERR-03", verb,
           absl::StrCat("returned ", hy_status_name(status), " and a handle beside it"));
    return;
  }
  if (handle == nullptr) {
    Report("HAL-ERR-03", verb, "returned OK without a handle");
    return;
  }
  if (!objects_.Add(kind, handle, std::move(object))) {
    Report(kind == HY_KIND_BUFFER ? "HAL-MEM-11" : "HAL-REL-02", verb,
           absl::StrCat("gave the handle of a ", KindName(kind), " that is live already"));
  }
}

hy_status ValidateLayer::Release(uint32_t kind, void* handle) {
  const Verb verb = Verb::kRelease;
  const bool is_kind = kind >= HY_KIND_DEVICE && kind < HY_KIND_COUNT;
  if (!is_kind || handle == nullptr) {
    // The port must not look at a handle of no kind, so it gets none.
    const hy_status status = inner().api().release(kind, nullptr);
    const hy_status wanted = is_kind ? HY_OK : HY_INVALID_ARGUMENT;
    if (status != wanted) {
      Report("HAL-REL-01", verb,
             absl::StrCat("returned ", hy_status_name(status),
                          is_kind ? " for NULL" : " for a kind that does not exist"));
    }
    return status;
  }
  if (!IsLive(verb, kind, handle)) return HY_INVALID_ARGUMENT;
  // Before the call: once released, another thread may be given the same handle anew.
  LiveObject object;
  std::string complaint = objects_.Remove(kind, handle, &object);
  if (!complaint.empty()) return Refuse(verb, std::move(complaint));
  const hy_status status = inner().api().release(kind, handle);
  if (status != HY_OK) {
    Report("HAL-REL-02", verb,
           absl::StrCat("returned ", hy_status_name(status), " for a live ", KindName(kind)));
  }
  if (object.watch != nullptr) CheckFault("HAL-TEAM-01", verb, object.watch->TakeFault());
  return status;
}

absl::StatusOr<std::shared_ptr<Port>> WithValidate(
    std::shared_ptr<Port> port, std::function<void(const Violation&)> on_violation) {
  if (port == nullptr || !on_violation) {
    return absl::InvalidArgumentError("validation needs a port and somebody to tell");
  }
  auto layer = std::make_shared<ValidateLayer>(std::move(port), std::move(on_violation));
  HY_RETURN_IF_ERROR(layer->Attach());
  return layer;
}

}  // namespace halyard::hal
