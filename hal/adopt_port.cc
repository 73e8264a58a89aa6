// SPDX-License-Identifier: Apache-2.0
//
// Negotiates with a port's entry and checks its table: the part of loading that needs no file.
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "hal/host_services.h"
#include "hal/loader.h"
#include "hal/manifest.h"

namespace halyard::hal {
namespace {

class TablePort : public Port {
 public:
  TablePort(const hy_hal_api& api, const hy_hal_api* self, std::string origin)
      : api_(api), self_(self), name_(api.name), origin_(std::move(origin)) {}
  const hy_hal_api& api() const override { return api_; }
  const hy_hal_api* self() const override { return self_; }
  std::string name() const override { return name_; }
  std::string origin() const override { return origin_; }

 private:
  const hy_hal_api api_;
  const hy_hal_api* const self_;
  const std::string name_;
  const std::string origin_;
};

std::string OwnAbi() { return absl::StrCat(HY_HAL_ABI_MAJOR, ".", HY_HAL_ABI_MINOR); }

absl::Status RefusalStatus(uint32_t reason) {
  std::string said = TakeReport();
  if (!said.empty()) said = absl::StrCat(" (it says: ", said, ")");
  switch (reason) {
    case HY_REFUSED_MAJOR:
      return absl::FailedPreconditionError(
          absl::StrCat("refuses this host: it is of another major version of the HAL ABI than ",
                       OwnAbi(), "; build it with the headers of this Halyard", said));
    case HY_REFUSED_MINOR:
      return absl::FailedPreconditionError(absl::StrCat(
          "refuses this host: it needs a later HAL ABI than ", OwnAbi(), "; update Halyard", said));
    case HY_REFUSED_SERVICES:
      return absl::FailedPreconditionError(absl::StrCat(
          "refuses this host: it needs host services that this Halyard does not give; update "
          "Halyard",
          said));
    case HY_REFUSED_PLATFORM:
      return absl::UnavailableError(
          absl::StrCat("refuses this machine: it does not serve this platform", said));
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("gave no table, and as reason ", reason,
                       ", which says nothing: report it to its author", said));
  }
}

// The table by the size rule. A later minor version appends slots that this core never calls; a
// shorter table has NULL slots at its end.
absl::StatusOr<hy_hal_api> CopyTable(const hy_hal_api* table) {
  if (table->abi_major != HY_HAL_ABI_MAJOR) {
    return absl::FailedPreconditionError(absl::StrCat(
        "has a table of HAL ABI ", table->abi_major, ".", table->abi_minor,
        ", and this Halyard has ", OwnAbi(),
        table->abi_major > HY_HAL_ABI_MAJOR ? ": update Halyard" : ": build the port anew"));
  }
  constexpr size_t kHeadBytes = offsetof(hy_hal_api, enumerate);
  const size_t given_bytes = table->struct_size;
  if (given_bytes < kHeadBytes) {
    return absl::InvalidArgumentError(absl::StrCat("has a table whose struct_size is ", given_bytes,
                                                   ", shorter than its own head of ", kHeadBytes,
                                                   " bytes"));
  }
  // Whole slots only: half a pointer is none.
  const size_t slot_bytes = (given_bytes - kHeadBytes) / sizeof(void*) * sizeof(void*);
  hy_hal_api copy{};
  std::memcpy(&copy, table, std::min(kHeadBytes + slot_bytes, sizeof copy));
  copy.struct_size = sizeof copy;
  return copy;
}

struct NamedSlot {
  const char* verb;
  bool present;
};

template <typename Slots>
std::string Names(const Slots& slots, bool present) {
  std::vector<std::string> names;
  for (const NamedSlot& slot : slots) {
    if (slot.present == present) names.emplace_back(slot.verb);
  }
  return absl::StrJoin(names, ", ");
}

absl::Status CheckNeeded(const hy_hal_api& api) {
  const NamedSlot needed[] = {
      {"enumerate", api.enumerate != nullptr},
      {"open", api.open != nullptr},
      {"query", api.query != nullptr},
      {"alloc", api.alloc != nullptr},
      {"timestamp", api.timestamp != nullptr},
      {"release", api.release != nullptr},
      {"map or submit", api.map != nullptr || api.submit != nullptr},
  };
  const std::string missing = Names(needed, false);
  if (missing.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("lacks verbs that every port has: ", missing));
}

template <typename Slots>
absl::Status CheckTrio(const Slots& slots) {
  const std::string present = Names(slots, true);
  const std::string missing = Names(slots, false);
  if (present.empty() || missing.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("has ", present, " but not ", missing,
                                                 ": these verbs come together or not at all"));
}

absl::Status CheckFamilies(const hy_hal_api& api) {
  const NamedSlot team[] = {{"team_create", api.team_create != nullptr},
                            {"team_run", api.team_run != nullptr},
                            {"team_readback", api.team_readback != nullptr}};
  const NamedSlot fence[] = {{"fence_create", api.fence_create != nullptr},
                             {"fence_wait", api.fence_wait != nullptr},
                             {"fence_signal", api.fence_signal != nullptr}};
  HY_RETURN_IF_ERROR(CheckTrio(team));
  HY_RETURN_IF_ERROR(CheckTrio(fence));
  if (api.queue_create != nullptr && api.submit == nullptr) {
    return absl::InvalidArgumentError("has queue_create but not submit: its queues are of no use");
  }
  return absl::OkStatus();
}

absl::Status CheckName(const hy_hal_api& api, absl::string_view wanted) {
  constexpr size_t kShown = 65;
  const std::string name(api.name == nullptr ? "" : api.name,
                         api.name == nullptr ? 0 : strnlen(api.name, kShown));
  if (!IsPortName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("calls itself '", name,
                     "', which is not 1 to 64 lower-case letters, digits and underscores"));
  }
  if (!wanted.empty() && name != wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("calls itself '", name, "', and not '", wanted, "' as it is listed"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Port>> Negotiate(hy_hal_get_fn get, absl::string_view name,
                                                absl::string_view origin) {
  uint32_t reason = HY_REFUSED_NONE;
  TakeReport();
  const hy_hal_api* table = get(HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, HostServices(), &reason);
  if (table == nullptr) return RefusalStatus(reason);
  HY_ASSIGN_OR_RETURN(hy_hal_api api, CopyTable(table));
  HY_RETURN_IF_ERROR(CheckName(api, name));
  HY_RETURN_IF_ERROR(CheckNeeded(api));
  HY_RETURN_IF_ERROR(CheckFamilies(api));
  if (api.version == nullptr) api.version = "";
  if (api.vendor == nullptr) api.vendor = "";
  return std::make_shared<TablePort>(api, table, std::string(origin));
}

}  // namespace

absl::StatusOr<std::shared_ptr<Port>> AdoptPort(hy_hal_get_fn get, absl::string_view name,
                                                absl::string_view origin) {
  absl::StatusOr<std::shared_ptr<Port>> port = Negotiate(get, name, origin);
  if (port.ok()) return port;
  const absl::string_view subject = name.empty() ? origin : name;
  return absl::Status(port.status().code(),
                      absl::StrCat("port ", subject, " ", port.status().message()));
}

}  // namespace halyard::hal
