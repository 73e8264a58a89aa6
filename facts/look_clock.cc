// SPDX-License-Identifier: Apache-2.0
//
// Source   Linux Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/cpu_list.h"
#include "facts/findings.h"
#include "hal/topology_parts.h"

namespace halyard::facts {
namespace {

using Ids = std::vector<uint32_t>;

std::string FreqFile(uint32_t pu, absl::string_view name) {
  return absl::StrCat("sys/devices/system/cpu/cpu", pu, "/cpufreq/", name);
}

std::string OnCpus(const Ids& ids) {
  return absl::StrCat(ids.size() == 1 ? "CPU " : "CPUs ", FormatCpuList(ids));
}

void LookAtGovernors(const std::map<std::string, Ids>& governors, std::vector<Finding>* findings) {
  if (governors.empty()) {
    findings->push_back({"clock.governor", Severity::kInfo,
                         "the system does not show how the clock is governed",
                         "Usual in a virtual machine: repeat measurements and look at the spread"});
  }
  for (const auto& [governor, units] : governors) {
    const bool steady = governor == "performance";
    findings->push_back({"clock.governor", steady ? Severity::kInfo : Severity::kWarning,
                         absl::StrCat("clock governor ", governor, " on ", OnCpus(units)),
                         steady ? ""
                                : "The clock follows the load, late: cpupower frequency-set -g "
                                  "performance, as root"});
  }
}

void LookAtBoost(const hal::SystemView& view, std::vector<Finding>* findings) {
  const auto boost = hal::ReadNumber(view, "sys/devices/system/cpu/cpufreq/boost");
  const auto no_turbo = hal::ReadNumber(view, "sys/devices/system/cpu/intel_pstate/no_turbo");
  if (boost != uint64_t{0} && no_turbo != uint64_t{1}) return;
  findings->push_back({"clock.boost", Severity::kInfo, "the boost clock is off",
                       "Steady, and slower on few threads. To allow it: write 1 to cpufreq/boost, "
                       "or 0 to intel_pstate/no_turbo, in /sys/devices/system/cpu"});
}

}  // namespace

std::vector<Finding> LookAtClock(const Machine& machine) {
  std::vector<Finding> findings;
  if (machine.view == nullptr) return findings;
  std::map<std::string, Ids> governors;
  Ids capped;
  for (const hy_pu& pu : machine.topology->pus) {
    if (const auto governor = machine.view->Read(FreqFile(pu.os_id, "scaling_governor"))) {
      governors[*governor].push_back(pu.os_id);
    }
    const auto limit = hal::ReadNumber(*machine.view, FreqFile(pu.os_id, "scaling_max_freq"));
    const auto most = hal::ReadNumber(*machine.view, FreqFile(pu.os_id, "cpuinfo_max_freq"));
    if (limit && most && *limit < *most) capped.push_back(pu.os_id);
  }
  LookAtGovernors(governors, &findings);
  if (!capped.empty()) {
    findings.push_back({"clock.capped", Severity::kWarning,
                        absl::StrCat(OnCpus(capped), " may not reach the highest clock"),
                        "scaling_max_freq is below cpuinfo_max_freq: look at the power profile, "
                        "or cpupower frequency-set -u"});
  }
  LookAtBoost(*machine.view, &findings);
  return findings;
}

}  // namespace halyard::facts
