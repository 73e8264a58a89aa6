// SPDX-License-Identifier: Apache-2.0
#include "conformance/hal/context.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "conformance/crumbs.h"
#include "conformance/machine.h"

namespace halyard::conformance {
namespace {

std::mutex g_violations_mutex;
std::vector<hal::Violation>& Violations() {
  static auto* const violations = new std::vector<hal::Violation>;
  return *violations;
}

// The entry of a port that is loaded already.
hy_hal_get_fn FindEntry(const hal::Port& port, const RunRequest& request) {
  for (const hal::BuiltinPort& builtin : request.load.builtins) {
    if (request.port == builtin.name) return builtin.get;
  }
  void* const library = dlopen(port.origin().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<hy_hal_get_fn>(dlsym(library, HY_HAL_GET_NAME));
}

}  // namespace

absl::StatusOr<ChildPorts> ChildPorts::Load(const RunRequest& request) {
  ChildPorts ports;
  HY_ASSIGN_OR_RETURN(std::shared_ptr<hal::Port> port, hal::LoadPort(request.port, request.load));
  ports.entry = FindEntry(*port, request);
  ports.bare = WithCrumbs(std::move(port));
  return ports;
}

absl::StatusOr<std::shared_ptr<hal::Port>> ChildPorts::ForMode(const std::string& mode) {
  if (mode == "bare") return bare;
  if (mode == "validate") {
    if (validate == nullptr) {
      HY_ASSIGN_OR_RETURN(validate, hal::WithValidate(bare, [](const hal::Violation& violation) {
                            const std::lock_guard<std::mutex> lock(g_violations_mutex);
                            Violations().push_back(violation);
                          }));
    }
    return validate;
  }
  if (mode == "fault") {
    if (fault == nullptr) {
      plan = std::make_shared<hal::FaultPlan>();
      HY_ASSIGN_OR_RETURN(fault, hal::WithFault(bare, plan));
    }
    return fault;
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown mode '", mode, "'"));
}

std::vector<hal::Violation> ChildPorts::TakeViolations() {
  const std::lock_guard<std::mutex> lock(g_violations_mutex);
  return std::exchange(Violations(), {});
}

double TimeScaleOf(const RunRequest& request) {
  return request.deadline_scale * NaturalTimeScale();
}

ChildContext::ChildContext(const ChildPorts& ports, std::shared_ptr<hal::Port> port,
                           const RunRequest& request, std::string mode, uint64_t seed)
    : bare_(ports.bare),
      port_(std::move(port)),
      entry_(ports.entry),
      device_id_(request.device),
      options_(request.options),
      mode_(std::move(mode)),
      time_scale_(TimeScaleOf(request)),
      seed_(seed) {
  for (const auto& [key, value] : options_) {
    raw_options_.push_back({sizeof(hy_option), 0, key.c_str(), value.c_str()});
  }
}

absl::Status ChildContext::OpenDevice() {
  HY_ASSIGN_OR_RETURN(device_, OpenAgain());
  return absl::OkStatus();
}

absl::StatusOr<hal::Device> ChildContext::OpenAgain() {
  return hal::Device::Open(port_, device_id_, options_);
}

hy_open_desc ChildContext::open_desc() {
  hy_open_desc desc{};
  desc.struct_size = sizeof desc;
  desc.id = device_id_.empty() ? nullptr : device_id_.c_str();
  desc.options.data = raw_options_.empty() ? nullptr : raw_options_.data();
  desc.options.count = static_cast<uint32_t>(raw_options_.size());
  desc.options.capacity = desc.options.count;
  desc.options.stride = sizeof(hy_option);
  return desc;
}

bool ChildContext::can_reopen() { return (device().caps() & HY_CAP_REOPEN) != 0; }

bool ChildContext::emulated() const { return IsEmulated(); }

std::optional<std::string> ChildContext::plugin_path() const {
  const std::string origin = bare_->origin();
  if (origin.find('/') == std::string::npos) return std::nullopt;
  return origin;
}

void ChildContext::Fact(const std::string& name, const std::string& value) {
  const std::lock_guard<std::mutex> lock(facts_mutex_);
  facts_.emplace_back(name, value);
}

std::vector<std::pair<std::string, std::string>> ChildContext::TakeFacts() {
  const std::lock_guard<std::mutex> lock(facts_mutex_);
  return std::exchange(facts_, {});
}

}  // namespace halyard::conformance
