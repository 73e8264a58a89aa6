// SPDX-License-Identifier: Apache-2.0
#include "conformance/plan.h"

#include <deque>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "conformance/filter.h"
#include "conformance/hal/context.h"
#include "conformance/report/report.h"
#include "conformance/shard.h"

namespace halyard::conformance {
namespace {

constexpr double kAskDeadlineSeconds = 20;
constexpr double kFaultDeadlineSeconds = 30;

absl::StatusOr<std::string> AnswerInChild(const RunRequest& request) {
  HY_ASSIGN_OR_RETURN(std::shared_ptr<hal::Port> port, hal::LoadPort(request.port, request.load));
  HY_ASSIGN_OR_RETURN(const std::vector<hy_device_info> devices, hal::ListDevices(*port));
  if (devices.empty()) {
    return absl::UnavailableError(absl::StrCat("port ", request.port, " finds no device here"));
  }
  std::optional<size_t> chosen;
  std::vector<std::string> ids;
  for (size_t i = 0; i < devices.size(); ++i) {
    ids.emplace_back(devices[i].id);
    if (!chosen.has_value() && (request.device.empty() || request.device == devices[i].id)) {
      chosen = i;
    }
  }
  if (!chosen.has_value()) {
    return absl::UnavailableError(absl::StrCat("port ", request.port, " has no device '",
                                               request.device,
                                               "'; it has: ", absl::StrJoin(ids, ", ")));
  }
  const absl::StatusOr<hal::Device> device =
      hal::Device::Open(port, devices[*chosen].id, request.options);
  if (absl::IsUnavailable(device.status())) return device.status();
  const hy_hal_api& api = port->api();
  const nlohmann::json facts = {{"origin", port->origin()},
                                {"version", api.version == nullptr ? "" : api.version},
                                {"device", devices[*chosen].id},
                                {"device_name", devices[*chosen].name},
                                {"is_first", *chosen == 0}};
  return facts.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string CaseId(const std::string& duty, const std::string& test, const std::string& mode,
                   const RunRequest& request, const PortFacts& port) {
  std::string id =
      absl::StrCat("L0/", duty, "/", test, "/mode=", mode, "/port=", PortLabel(request.port));
  if (!port.is_first_device) absl::StrAppend(&id, "/device=", port.device);
  return id;
}

// The tests of the level, made once: planned cases point into them.
const std::vector<DutyTest>& Tests() {
  static const auto* const tests = new std::vector<DutyTest>(AllDutyTests());
  return *tests;
}
const std::vector<FaultScenario>& Scenarios() {
  static const auto* const scenarios = new std::vector<FaultScenario>(AllFaultScenarios());
  return *scenarios;
}

PlannedCase MakeCase(const HalCase& body, const RunRequest& request, const PortFacts& port) {
  PlannedCase planned;
  planned.body = body;
  const double scale = TimeScaleOf(request);
  if (body.test != nullptr) {
    const DutyTraits& traits = body.test->traits;
    planned.test = body.test->name;
    planned.shell.duty = body.test->duty;
    planned.limits = {traits.deadline_s * scale, traits.alone, traits.exits};
  } else {
    planned.test = body.scenario->name;
    planned.shell.duty = body.scenario->duty;
    planned.limits = {kFaultDeadlineSeconds * scale, true, false};
  }
  planned.shell.id = CaseId(planned.shell.duty, planned.test, body.mode, request, port);
  planned.shell.level = "L0";
  planned.shell.title = std::string(DutyTitle(planned.shell.duty));
  planned.shell.mode = body.mode;
  return planned;
}

std::vector<PlannedCase> CasesOfMode(const std::string& mode, const RunRequest& request,
                                     const PortFacts& port) {
  std::vector<PlannedCase> cases;
  if (mode == "fault") {
    for (const FaultScenario& scenario : Scenarios()) {
      cases.push_back(MakeCase({nullptr, &scenario, mode}, request, port));
    }
    return cases;
  }
  for (const DutyTest& test : Tests()) {
    if (mode == "validate" && !test.traits.in_validate) continue;
    cases.push_back(MakeCase({&test, nullptr, mode}, request, port));
  }
  return cases;
}

absl::Status CheckRequest(const RunRequest& request) {
  if (request.level != "hal") {
    return absl::InvalidArgumentError(
        absl::StrCat("no level '", request.level, "'; there is: hal"));
  }
  if (request.shards == 0 || request.shard == 0 || request.shard > request.shards) {
    return absl::InvalidArgumentError(
        absl::StrCat("no shard ", request.shard, " of ", request.shards, "; they count from 1"));
  }
  for (const std::string& mode : request.modes) {
    if (mode != "bare" && mode != "validate" && mode != "fault") {
      return absl::InvalidArgumentError(
          absl::StrCat("no mode '", mode, "'; there are: bare, validate, fault"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string PortLabel(const std::string& port) {
  const size_t slash = port.find_last_of('/');
  return slash == std::string::npos ? port : port.substr(slash + 1);
}

absl::StatusOr<PortFacts> AskPort(const RunRequest& request) {
  PortFacts facts;
  const absl::StatusOr<std::string> text = AskInChild([&] { return AnswerInChild(request); },
                                                      kAskDeadlineSeconds * TimeScaleOf(request));
  if (absl::IsInternal(text.status())) {
    facts.device = request.device;
    facts.trouble = std::string(text.status().message());
    return facts;
  }
  if (!text.ok()) return text.status();
  const nlohmann::json answer = nlohmann::json::parse(*text, nullptr, false);
  if (answer.is_discarded()) return absl::InternalError("the port's facts are cut");
  facts.origin = answer.value("origin", "");
  facts.version = answer.value("version", "");
  facts.device = answer.value("device", "");
  facts.device_name = answer.value("device_name", "");
  facts.is_first_device = answer.value("is_first", true);
  return facts;
}

absl::StatusOr<Plan> MakePlan(const RunRequest& request, const PortFacts& port) {
  HY_RETURN_IF_ERROR(CheckRequest(request));
  const Filter filter(request.filter);
  Plan plan;
  std::vector<std::string> ids;
  for (const std::string& mode : request.modes) {
    for (PlannedCase& planned : CasesOfMode(mode, request, port)) {
      const CaseResult& shell = planned.shell;
      if (!filter.Chooses(shell.duty, planned.test, shell.id)) continue;
      ids.push_back(shell.id);
      if (ShardOf(shell.id, request.shards) == request.shard) {
        plan.cases.push_back(std::move(planned));
      }
    }
  }
  if (ids.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no case fits the filter '", request.filter,
                     "'; it is globs on duty, test or id with ':' between, such as 'HAL-MEM-*'"));
  }
  plan.list_count = ids.size();
  plan.list_digest = ListDigest(ids);
  return plan;
}

absl::StatusOr<CaseIdParts> ParseCaseId(const std::string& id) {
  const std::vector<std::string> parts = absl::StrSplit(id, '/');
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", id, "' is no case id: ", what,
                     "; one looks like L0/HAL-MEM-03/TestName/mode=bare/port=linux"));
  };
  if (parts.size() < 5) return wrong("it has too few parts");
  if (parts[0] != "L0") return wrong("it does not begin with L0");
  CaseIdParts result{parts[1], parts[2], "", "", ""};
  for (size_t i = 3; i < parts.size(); ++i) {
    const std::pair<std::string, std::string> field =
        absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    if (field.first == "mode") {
      result.mode = field.second;
    } else if (field.first == "port") {
      result.port = field.second;
    } else if (field.first == "device") {
      result.device = field.second;
    } else {
      return wrong(absl::StrCat("unknown part '", parts[i], "'"));
    }
  }
  if (result.mode.empty() || result.port.empty()) return wrong("it lacks mode or port");
  return result;
}

}  // namespace halyard::conformance
